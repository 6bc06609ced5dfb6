"""What an HTTP error of an OpenAI-compatible endpoint means, and keys masked in what it says.

    {"error": {"message": "...", "type": "invalid_request_error", "param": "seed", "code": "unsupported"}}

Reasons for an unusable call: rate limit, server error, bad request, prompt too long, http <status>.
Reasons to stop the run: key refused, no quota, unknown model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from components.types import FatalError

ADAPTABLE = ("max_tokens", "max_completion_tokens", "temperature", "seed", "response_format")
_REFUSED = re.compile(
    r"unsupported|not support|n't support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed"
    r"|deprecated|extra inputs|incompatible|not available",
    re.IGNORECASE,
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


def status_error(status: int, body: Any, where: str, key: str | None, stage: str) -> Exception:
    """What an HTTP error means: Refused (a parameter), FatalError (stop the run) or Unusable (this call)."""
    fields: Mapping[str, Any] = body if isinstance(body, dict) else {"message": body}
    message = " ".join(str(fields.get("message") or body or "").split())
    code = f"{fields.get('code')} {fields.get('type')}"
    detail = f"{where}: HTTP {status}, {mask(message, key)[:200]}"
    quota = "insufficient_quota" in code or (status == 429 and "exceeded your current quota" in message)
    if status == 402 or quota:
        return FatalError(stage, "no quota", detail)
    if status in (401, 403):
        return FatalError(stage, "key refused", detail)
    if status == 404 or "model_not_found" in code:
        return FatalError(stage, "unknown model", detail)
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
