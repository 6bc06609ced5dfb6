"""What a model finally said: its text without reasoning blocks and without code fences."""

from __future__ import annotations

import re

_TAG = r"(?:think|thinking|thought|reasoning)"
_BLOCK = re.compile(rf"<{_TAG}>.*?</{_TAG}>", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(rf"<{_TAG}>", re.IGNORECASE)
_CLOSE = re.compile(rf"</{_TAG}>", re.IGNORECASE)
_FENCED = re.compile(r"```[^\n`]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_FENCED_LINES = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)\n[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
_FENCE_LINE = re.compile(r"^[ \t]*```[^\n`{]*$", re.MULTILINE)


def final_text(text: str) -> tuple[str, str]:
    """(text after the reasoning, problem); problem is "" or "unclosed reasoning" (then the text is "").

    Chat templates that open the block themselves leave only a closing tag: what stands before it is
    reasoning too. A text that starts with JSON or a fence is left alone: tags in it are quotations.
    """
    if text.lstrip().startswith(("{", "[", "```")):
        return text.strip(), ""
    closings = list(_CLOSE.finditer(text))
    if closings:  # every block before the last closing tag ends: linear work on any input
        head, tail = text[: closings[-1].end()], text[closings[-1].end() :]
        text = _CLOSE.split(_BLOCK.sub("", head))[-1] + tail
    if _OPEN.search(text):
        return "", "unclosed reasoning"
    return text.strip(), ""


def unfence(text: str) -> str:
    """The text without code fences of any tag; a single fenced block stands for the whole text."""
    # Fences on lines of their own first: a text inside may quote one.
    blocks: list[str] = _FENCED_LINES.findall(text) or _FENCED.findall(text)
    if len(blocks) == 1:
        return blocks[0].strip()
    text = _FENCE_LINE.sub("", text).strip()
    if text.startswith("```") and text.endswith("```") and len(text) > 6:  # all on one line
        text = re.sub(r"^[A-Za-z0-9_+-]*(?=\s|[{\[])", "", text[3:-3].strip())
    return text.strip()
