"""Only documents of the allowed levels of trust are recalled, however well they rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from components.types import Hit, Query
from components.types import Trust as Level


@dataclass(frozen=True)
class Trust:
    allow: Sequence[str]

    def __post_init__(self) -> None:
        unknown = sorted(set(self.allow) - set(get_args(Level)))
        if unknown:
            raise ValueError(
                f"allow: no level of trust {unknown[0]!r}; there is {', '.join(get_args(Level))}"
            )

    def keep(self, query: Query, hits: Sequence[Hit]) -> list[Hit]:
        return [hit for hit in hits if hit.document.trust in self.allow]

    def reason(self, hit: Hit) -> str:
        return hit.document.trust
