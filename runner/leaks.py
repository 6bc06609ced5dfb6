"""Looks for the gold in what a system or a model was handed.

Free text is searched for source ids and annotators' fields; structured fields (ids, categories, scope) for
question categories as well, which in free text are ordinary words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from components.types import Haystack

# Names of fields that only an evaluator may know, as JSON keys inside a stored or shown text.
FIELDS = re.compile(
    r'\\?"(has_answer|answer_session_ids|question_type|adversarial_answer|evidence|haystack_session_ids'
    r'|img_url|blip_caption|query|question_id|sample_id|dia_id)\\?"\s*:'
)
MIN_LENGTH = 4  # a shorter source id occurs by chance; the others are looked for with word edges
_FREE = ("text",)


class Leak(NamedTuple):
    who: str  # the system, answerer or prompt that received it
    what: str  # kind of marker
    sample: str  # the marker itself


def leaks(heard: Iterable[tuple[str, str]], haystack: Haystack, private: Sequence[str]) -> Iterator[Leak]:
    """Every marker found once per receiver. `private`: annotators' values of this haystack's raw item."""
    ids = _source_ids(haystack)
    categories = {sample.category for sample in haystack.samples}
    found: set[Leak] = set()
    for who, text in heard:
        found |= {Leak(who, "field name", match.group(1)) for match in FIELDS.finditer(text)}
        found |= {Leak(who, "source id", i) for i in ids if i in text and _stands_alone(i, text)}
        found |= {
            Leak(who, "annotation", p[:60])
            for p in private
            if json.dumps(p, ensure_ascii=False)[1:-1] in text
        }
        structured = set(_structured(json.loads(text)))
        found |= {Leak(who, "category", c) for c in categories & structured}
    yield from sorted(found)


def _source_ids(haystack: Haystack) -> set[str]:
    ids = {haystack.source_id} | {s.source_id for s in haystack.samples}
    gold = (
        ref for sample in haystack.samples for ref in sample.gold.refs
    )  # turns, where sessions are stored
    for ref in (*haystack.refs.values(), *gold):
        ids |= {ref.session} | ({ref.turn} if ref.turn and not ref.turn.isdigit() else set())
    return {i for i in ids if len(i) >= MIN_LENGTH}


def _stands_alone(marker: str, text: str) -> bool:
    """Not as a part of a longer word or number; "answer_1_7" has the id "answer_1" in it."""
    return re.search(rf"(?<![0-9A-Za-z]){re.escape(marker)}(?![0-9A-Za-z])", text) is not None


def _structured(value: Any, key: str = "") -> Iterator[str]:
    """Every string that is not free text."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _structured(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _structured(inner, key)
    elif isinstance(value, str) and key not in _FREE and len(value) < 80:
        yield value


PRIVATE_KEYS = ("query", "img_url", "adversarial_answer")


def private_values(raw: Any, stored: str) -> list[str]:
    """Annotators' values of a raw item that neither its conversation nor its questions say themselves."""
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                if key in PRIVATE_KEYS:
                    found.extend(str(v) for v in (inner if isinstance(inner, list) else [inner]))
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(raw)
    return [v for v in dict.fromkeys(found) if len(v) >= 12 and v not in stored]
