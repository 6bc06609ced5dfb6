"""What comes over the wire of a chat-completions endpoint: completions read, errors named, keys masked.

    {"model": "served-name", "choices": [{"message": {"content": "Oslo"}, "finish_reason": "stop"}],
     "usage": {"prompt_tokens": 300, "completion_tokens": 7}}

Reasons for an unusable reply: bad response, tool call, length, refusal, reasoning only, unclosed reasoning,
empty, timeout, connection, rate limit, server error, bad request, prompt too long, http <status>.
Reasons to stop the run: key refused, no quota, unknown model.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from components.text.reply import final_text

_CHARS_PER_TOKEN = (
    8  # English prose has 4 to 5: a server that counts fewer tokens than this has cut the prompt
)


@dataclass(frozen=True, slots=True)
class Said:
    """One completion. `problem` is "" or why `text` cannot be used; tokens None = not told."""

    text: str
    problem: str
    tokens_in: int | None
    tokens_out: int | None
    model: str | None


def read_completion(body: str) -> Said:
    """Total: a body of any shape gives a Said. Reasoning fields are never taken for the answer."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    data = data if isinstance(data, dict) else {}
    usage = data.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    counts = [_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens")]
    model = data.get("model")
    text, problem = _content(data.get("choices"))
    return Said(text, problem, counts[0], counts[1], model if isinstance(model, str) else None)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _content(choices: Any) -> tuple[str, str]:
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return "", "bad response"
    text = _joined(message.get("content"))
    finish = choice.get("finish_reason")
    if finish == "length":
        return "", "length"
    if message.get("refusal") or finish == "content_filter":
        return "", "refusal"
    text, problem = final_text(text)
    if problem or text:
        return text, problem
    if message.get("tool_calls") or message.get("function_call"):
        return "", "tool call"
    reasoning = any(message.get(name) for name in ("reasoning_content", "reasoning", "thinking"))
    return "", "reasoning only" if reasoning else "empty"


def _joined(content: Any) -> str:
    """Text of a message: a string, or a list of parts of which the texts are taken."""
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def prompt_was_cut(messages: list[Any], tokens_in: int | None) -> bool:
    """The server counted fewer tokens than a prompt of this many letters can have."""
    letters = sum(len(re.sub(r"\s+", " ", str(message.get("content") or ""))) for message in messages)
    return tokens_in is not None and tokens_in < letters / _CHARS_PER_TOKEN
