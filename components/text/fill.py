"""Prompt templates: `{name}` becomes a value, in one pass, so that braces in data stay data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def fill(template: str, values: Mapping[str, str]) -> str:
    """`{name}` of a known name is replaced; any other brace, and all in the values, is left as it is."""
    if not values:
        return template
    names = "|".join(re.escape(name) for name in values)
    return re.sub(rf"\{{({names})\}}", lambda found: values[found[1]], template)


def fields(template: str) -> set[str]:
    """Names in single braces: `{"a", "b"}` of "x {a} {b}"."""
    return set(re.findall(r"\{([a-z_]+)\}", template))


def written_day(moment: datetime | None, unknown: str) -> str:
    """ "2023-05-08 (Monday)"; `unknown` only when there is no date."""
    if moment is None:
        return unknown
    return f"{moment:%Y-%m-%d} ({_WEEKDAYS[moment.weekday()]})"
