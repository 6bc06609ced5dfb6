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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.text.reply import final_text
from components.types import FatalError

ADAPTABLE = ("max_tokens", "max_completion_tokens", "temperature", "seed", "response_format")
_REFUSED = re.compile(
    r"unsupported|not support|n't support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed"
    r"|deprecated|extra inputs|incompatible|not available",
    re.IGNORECASE,
)
_CHARS_PER_TOKEN = (
    8  # English prose has 4 to 5: a server that counts fewer tokens than this has cut the prompt
)
_PART = 8  # letters of a key that may not be seen in a row


class Unusable(Exception):
    """A call that gave nothing to read: `reason` is counted, `detail` explains (masked, short)."""

    def __init__(self, reason: str, detail: str = "", status: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.detail, self.status = reason, detail, status


class Refused(Exception):
    """The endpoint refuses a parameter by name."""

    def __init__(self, parameter: str) -> None:
        super().__init__(parameter)
        self.parameter = parameter


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


def status_error(status: int, body: Any, where: str, key: str | None) -> Exception:
    """What an HTTP error means: Refused (a parameter), FatalError (stop the run) or Unusable (this call)."""
    fields: Mapping[str, Any] = body if isinstance(body, dict) else {"message": body}
    message = " ".join(str(fields.get("message") or body or "").split())
    code = f"{fields.get('code')} {fields.get('type')}"
    detail = f"{where}: HTTP {status}, {mask(message, key)[:200]}"
    quota = "insufficient_quota" in code or (status == 429 and "exceeded your current quota" in message)
    if status == 402 or quota:
        return FatalError("llm", "no quota", detail)
    if status in (401, 403):
        return FatalError("llm", "key refused", detail)
    if status == 404 or "model_not_found" in code:
        return FatalError("llm", "unknown model", detail)
    if status in (400, 422):
        name = _refused(fields, message, code)
        if name:
            return Refused(name)
        too_long = "context_length" in code or re.search(
            r"context (length|window|size)|too long", message, re.I
        )
        return Unusable("prompt too long" if too_long else "bad request", detail, status)
    reason = "rate limit" if status == 429 else "server error" if status >= 500 else f"http {status}"
    return Unusable(reason, detail, status)


def _refused(fields: Mapping[str, Any], message: str, code: str) -> str | None:
    """The parameter that a 400 names as not wanted at all; a mere bad value ("too large") is not that."""
    wanted = re.search(r"unsupported|unknown_parameter", code) or _REFUSED.search(message)
    named = [name for name in ADAPTABLE if fields.get("param") == name]
    spots = {name: re.search(rf"(?<![a-z_]){name}(?![a-z_])", message) for name in ADAPTABLE}
    named += sorted((name for name, spot in spots.items() if spot), key=lambda n: spots[n].start())  # type: ignore[union-attr]
    if not named and "json_schema" in message:
        named = ["response_format"]
    return named[0] if named and wanted else None


def mask(text: str, key: str | None) -> str:
    """The text with every run of letters that is part of the key (8 or more) starred out."""
    if not key or len(key) < _PART:
        return text
    parts = {key[start : start + _PART] for start in range(len(key) - _PART + 1)}
    hidden = [False] * len(text)
    for start in range(len(text) - _PART + 1):
        if text[start : start + _PART] in parts:
            hidden[start : start + _PART] = [True] * _PART
    return "".join("*" if hide else letter for letter, hide in zip(text, hidden, strict=True))
