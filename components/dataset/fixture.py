"""Our own small dataset: both official shapes, read by the same readers, shipped with the package.

Every LongMemEval type with two abstentions, every LoCoMo category, dates, captions, odd evidence, four
languages. Written for this project: nobody's data, no benchmark; a number on it proves the machinery.
One record: see components.dataset.longmemeval and components.dataset.locomo.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from components.dataset import locomo, longmemeval
from components.files import evidence
from components.files.conversation import Unit
from components.files.items import check_choices
from components.types import Haystack, Place

_PACKAGE = "components.files.fixture"
_OFFICIAL = "the file of the installed package (install it again)"


@dataclass(frozen=True)
class Fixture:
    """Parameters as those of the two readers; `categories` of both. Haystacks are numbered through."""

    known: Mapping[str, str]  # sha256 -> name
    unit: Unit
    text: str
    roles: Sequence[str]
    captions: bool
    caption_text: str
    evidence: evidence.Mode
    categories: Sequence[str]
    empty_gold: Literal["exclude", "zero"]
    overlay: None

    def __post_init__(self) -> None:
        check_choices("categories", self.categories, (*longmemeval.CATEGORIES, *locomo.CATEGORIES.values()))
        self._readers()

    def problems(self) -> list[str]:
        return [problem for reader in self._readers().values() for problem in reader.problems()]

    def files(self) -> tuple[Path, ...]:
        return tuple(file for reader in self._readers().values() for file in reader.files())

    def items(self) -> Iterator[Place]:
        every = (place for reader in self._readers().values() for place in reader.items())
        for position, place in enumerate(every):
            yield place._replace(haystack=f"h{position:04d}", position=position)

    def load(self, place: Place) -> Haystack:
        return self._readers()[Path(place.path).name].load(place)

    def _readers(self) -> dict[str, longmemeval.Longmemeval | locomo.Locomo]:
        """By file name, in the order of the dataset; without a reader none of whose categories is asked."""
        folder = str(resources.files(_PACKAGE))
        chats = [c for c in self.categories if c in longmemeval.CATEGORIES]
        talks = [c for c in self.categories if c in locomo.CATEGORIES.values()]
        out: dict[str, longmemeval.Longmemeval | locomo.Locomo] = {}
        if chats:
            out["longmemeval.json"] = longmemeval.Longmemeval(
                data_dir=folder,
                path="longmemeval.json",
                official=_OFFICIAL,
                known=self.known,
                unit=self.unit,
                text=self.text,
                roles=self.roles,
                categories=chats,
                empty_gold=self.empty_gold,
                overlay=self.overlay,
            )
        if talks:
            out["locomo.json"] = locomo.Locomo(
                data_dir=folder,
                path="locomo.json",
                official=_OFFICIAL,
                known=self.known,
                unit=self.unit,
                text=self.text,
                captions=self.captions,
                caption_text=self.caption_text,
                evidence=self.evidence,
                categories=talks,
                empty_gold=self.empty_gold,
                overlay=self.overlay,
            )
        return out
