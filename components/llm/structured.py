"""Replies in the shape of a JSON schema, through instructor: the request's form and the asking again."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from components.types import FatalError
from components.wire.errors import Refused, Unusable

_TYPES: dict[str, type] = {"boolean": bool, "string": str, "integer": int, "number": float}


def ask_structured(
    create: Callable[..., Any], mode: str, again: int, request: dict[str, Any], schema: Mapping[str, Any]
) -> bool:
    """True when a reply fits the schema, at the latest after `again` more calls; `create` keeps the text.

    What `create` raised is raised again as it was: instructor would wrap it.
    """
    import instructor
    from instructor.core.exceptions import InstructorRetryException

    logging.getLogger("instructor").setLevel(logging.CRITICAL)  # failures are values here, counted by reason
    raised: list[Exception] = []

    def kept(**arguments: Any) -> Any:
        try:
            return create(**arguments)
        except (Unusable, Refused, FatalError) as error:
            raised.append(error)
            raise

    patched: Any = instructor.patch(create=kept, mode=instructor.Mode(_MODES[mode]))
    try:
        patched(response_model=reply_model(json.dumps(schema)), max_retries=again, strict=False, **request)
    except InstructorRetryException:
        if raised:
            raise raised[-1] from None
        return False
    return True


_MODES = {"json_schema": "json_schema_mode", "md_json": "markdown_json_mode"}


@lru_cache(maxsize=32)
def reply_model(schema: str) -> Any:
    """A pydantic model of a flat JSON schema (boolean, string, integer, number), fields in its order."""
    from pydantic import create_model

    parsed = json.loads(schema)
    required = set(parsed.get("required", ()))
    fields: dict[str, Any] = {}
    for name, of in parsed["properties"].items():
        kind: Any = _TYPES[of["type"]]
        fields[name] = (kind, ...) if name in required else (kind | None, None)
    return create_model(parsed.get("title", "Reply"), **fields)


def completion(text: str, model: str) -> Any:
    """A completion as the SDK would give it, with our reading of its text."""
    from openai.types.chat import ChatCompletion

    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return ChatCompletion.model_validate(
        {"id": "", "object": "chat.completion", "created": 0, "model": model, "choices": [choice]}
    )
