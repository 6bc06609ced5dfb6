"""TREC run and qrels, per system and level: the same questions and the same numbers as report.json.

    ours.turn.run      conv-26:12 Q0 session_1#D1:3 1 50 ours
    ours.turn.qrels    conv-26:12 0 session_1#D1:3 1

The score is the number of documents from here to the end: trec_eval orders by score and breaks ties by name,
so that a system's own scores (records.jsonl has them) would not always give back its order. The qrels name
the questions that the report scores for this system. One without gold that counts 0 has a line of grade 0;
gold that names nothing, where it counts, is a document `?NAME` that nothing finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from components.types import Ref
from runner.formats.tokens import document, questions, token
from runner.measures import LEVELS, gold_at, ranking_at, score
from runner.records import Record
from runner.settings import Settings

NOTHING = "?"  # no document's name: `?` is always encoded in one


def write(records: Iterable[Record], settings: Settings, folder: Path) -> list[Path]:
    """<system>.<level>.run and .qrels under `folder`; a level at which no question is scored has none."""
    every = list(records)
    names, systems = questions(every), dict[str, list[Record]]()
    for record in every:
        systems.setdefault(record.system, []).append(record)
    by_turn = any(row.ref.turn is not None for record in every for row in record.ranked or ())
    out: list[Path] = []
    for system, its in systems.items():
        for level in LEVELS if by_turn else LEVELS[:1]:
            scored = [record for record in its if not score(record, level, settings)[0]]
            if scored:
                out += _pair(scored, level, settings, names, folder / f"{token(system)}.{level}")
    return out


def _pair(
    records: Iterable[Record], level: str, settings: Settings, names: Mapping[str, str], stem: Path
) -> list[Path]:
    run, qrels = stem.with_name(f"{stem.name}.run"), stem.with_name(f"{stem.name}.qrels")
    with run.open("w", encoding="ascii") as ranked, qrels.open("w", encoding="ascii") as judged:
        for record in records:
            name = names[record.question_id]
            ranked.writelines(_run(record, level, name))
            judged.writelines(f"{name} 0 {gold} {grade}\n" for gold, grade in _gold(record, level, settings))
    return [run, qrels]


def _run(record: Record, level: str, name: str) -> Iterator[str]:
    rows = record.ranked or ()
    items = ranking_at((row.ref for row in rows), level, len(rows))
    for rank, item in enumerate(items, start=1):
        yield f"{name} Q0 {_named(item)} {rank} {len(items) - rank + 1} {token(record.system)}\n"


def _gold(record: Record, level: str, settings: Settings) -> Iterator[tuple[str, int]]:
    gold = sorted(map(_named, gold_at(record.gold.refs, level)))
    yield from ((name, 1) for name in gold)
    if not gold:
        yield NOTHING, 0
    elif level == "turn" and settings.unresolved == "count":
        yield from ((f"{NOTHING}{token(name)}", 1) for name in sorted(set(record.gold.unresolved)))


def _named(item: object) -> str:
    return document(item) if isinstance(item, Ref) else token(str(item))
