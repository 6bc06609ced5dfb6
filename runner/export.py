"""Writes a run in formats of others, under <run folder>/export/<format>/: what `export: [...]` names.

Reads the run's records and, where documents are needed, the dataset again; nothing is measured anew.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from components.files.source import span
from components.types import Dataset, Haystack, Place
from runner.build import build
from runner.formats import beir, longmemeval, trec
from runner.formats.items import TEXT, Item, own, rewritten
from runner.records import Record, read
from runner.settings import Settings


@dataclass(frozen=True)
class Export:
    """`only`: source ids of the chosen questions, None = all."""

    raw: Mapping[str, Any]
    records: Sequence[Record]
    settings: Settings
    only: frozenset[str] | None

    @classmethod
    def of(
        cls, folder: Path, raw: Mapping[str, Any], settings: Settings, only: frozenset[str] | None
    ) -> Export:
        """Of the run in `folder`, its records without the texts that were shown."""
        path = folder / "records.jsonl"
        records = [msgspec.structs.replace(record, context=()) for record in read(path)]
        return cls(raw, records, settings, only)

    def write(self, names: Sequence[str], folder: Path) -> list[Path]:
        """The files written, in order. `names`: of FORMATS."""
        out: list[Path] = []
        for name in dict.fromkeys(names):
            (folder / name).mkdir(parents=True, exist_ok=True)
            out += FORMATS[name](self, folder / name)
        return out

    def trec(self, folder: Path) -> list[Path]:
        return trec.write(self.records, self.settings, folder)

    def beir(self, folder: Path) -> list[Path]:
        return beir.write((haystack for _, haystack in self._haystacks()), folder)

    def longmemeval_data(self, folder: Path) -> list[Path]:
        items = (
            item for place, haystack in self._haystacks() for item in self._items(place, haystack).values()
        )
        return longmemeval.write_data(items, folder / "longmemeval.json")

    def longmemeval_ranked(self, folder: Path) -> list[Path]:
        return longmemeval.write_ranked(self._told(), folder)

    def longmemeval_log(self, folder: Path) -> list[Path]:
        return longmemeval.write_log(self._told(), folder, self.raw["depth"])

    def _told(self) -> longmemeval.Told:
        records = longmemeval.grouped(self.records)
        for place, haystack in self._haystacks():
            if its := records.get(haystack.id):
                yield haystack, self._items(place, haystack), its

    def _haystacks(self) -> Iterator[tuple[Place, Haystack]]:
        dataset: Dataset = build(self.raw["dataset"])
        for place in dataset.items():
            haystack = dataset.load(place)
            kept = tuple(s for s in haystack.samples if self.only is None or s.source_id in self.only)
            if kept:
                yield place, dataclasses.replace(haystack, samples=kept)

    def _items(self, place: Place, haystack: Haystack) -> dict[str, Item]:
        """Question id -> item; LongMemEval's own as it stands in the file, of which there is one."""
        raw = msgspec.json.decode(span(Path(place.path), place.start, place.stop))
        if "haystack_sessions" in raw:
            return {sample.question.id: own(raw) for sample in haystack.samples}
        dataset: Dataset = build({**self.raw["dataset"], "unit": "turn", "text": TEXT})
        turns = dataset.load(place)
        return {sample.question.id: rewritten(turns, sample) for sample in haystack.samples}


FORMATS: dict[str, Callable[[Export, Path], list[Path]]] = {
    "trec": Export.trec,
    "beir": Export.beir,
    "longmemeval_data": Export.longmemeval_data,
    "longmemeval_ranked": Export.longmemeval_ranked,
    "longmemeval_log": Export.longmemeval_log,
}
