"""LoCoMo: long dated conversations of two people, with many questions each; one sample of the file is

    {"sample_id": "conv-1",
     "conversation": {"speaker_a": "Ana", "speaker_b": "Ben", "session_1_date_time": "1:56 pm on 8 May, 2023",
       "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a red canoe"}]},
     "qa": [{"question": "...", "answer": 2022, "evidence": ["D1:1"], "category": 2},
            {"question": "...", "adversarial_answer": "Yes", "evidence": ["D1:1"], "category": 5}]}

`blip_caption` is what the picture shows. `img_url` and `query` are the annotators', the summaries and
observations beside the conversation are models' work: none of them is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from components.files import evidence, looks
from components.files.conversation import Session, Unit, Writing, qrels
from components.files.dialogue import QaRow, SampleRow, sessions
from components.files.items import Item, answer_text, check_choice, check_choices, decode, places
from components.files.source import confine
from components.types import Gold, Haystack, Place, Question, Ref, Sample

# The official evaluator's numbers; they do not follow the order of the paper, and many tools have them wrong.
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_KEYS = {"speaker": "speaker", "text": "text", "dia_id": "name"}


@dataclass(frozen=True)
class Locomo:
    """Documents are in numeric order of sessions. Question ids count in file order, left-out ones too.

    A question of category adversarial is not answerable; the adversarial answer is never gold.
    `categories`: which are asked. `captions`: whether a picture's caption joins its turn's text, in the
    words of `caption_text`. `evidence`: see components.files.evidence.
    """

    data_dir: str
    path: str
    official: str  # what the file is called, for the message when it is missing
    known: Mapping[str, str]  # sha256 -> official name
    unit: Unit
    text: str
    captions: bool
    caption_text: str
    evidence: evidence.Mode
    categories: Sequence[str]
    empty_gold: Literal["exclude", "zero"]
    overlay: None

    def __post_init__(self) -> None:
        self._writing()
        check_choice("evidence", self.evidence, ("tolerant", "verbatim"))
        check_choice("empty_gold", self.empty_gold, ("exclude", "zero"))
        check_choices("categories", self.categories, tuple(CATEGORIES.values()))
        if self.overlay is not None:
            raise ValueError("overlay: gold overlays cannot be applied yet; set it to null")

    def problems(self) -> list[str]:
        return looks.problems(self.data_dir, self.path, self.official, self.known)

    def files(self) -> tuple[Path, ...]:
        return (confine(self.data_dir, self.path),)

    def items(self) -> Iterator[Place]:
        return places(self.data_dir, self.path, self.official, self.known)

    def load(self, place: Place) -> Haystack:
        """DataError for a sample that cannot be what it should be; what was read around is in the notes."""
        sample, where = decode(self.data_dir, place, SampleRow)
        notes: Counter[str] = Counter()
        found = sessions(sample, self.captions, where, notes)
        documents, refs = self._writing().documents(found)
        samples = self._samples(sample, where, found, refs, notes)
        return Haystack(place.haystack, documents, samples, refs, sample.sample_id, dict(+notes))

    def _writing(self) -> Writing:
        return Writing(self.unit, self.text, _KEYS, self.caption_text)

    def _samples(
        self,
        sample: SampleRow,
        where: Item,
        told: Sequence[Session],
        refs: Mapping[str, Ref],
        notes: Counter[str],
    ) -> tuple[Sample, ...]:
        # A question has no date of its own. All were written about the whole conversation, so they are asked
        # at its last dated session: later than all that they ask about, and never the clock.
        asked = next((s.created for s in reversed(told) if s.created), None)
        turns = {turn.name: session.name for session in told for turn in session.turns}
        out: list[Sample] = []
        for index, qa in enumerate(sample.qa):
            category = _category(qa, index, where)
            answers = _answers(qa, index, category, where)
            if category not in self.categories:
                notes["questions_left_out"] += 1
                continue
            named = evidence.read(_strings(qa.evidence), turns, self.evidence, notes)
            gold = _gold(named, answers, category != CATEGORIES[5], turns, refs)
            question = Question(f"{where.place.haystack}-q{index:04d}", qa.question, asked)
            out.append(Sample(question, gold, category, f"{sample.sample_id}:{index}"))
        notes["repeated_questions"] += len(out) - len({s.question.text for s in out})
        return tuple(out)


def _strings(found: list[str] | str | None) -> list[str]:
    return [found] if isinstance(found, str) else list(found or ())


def _category(qa: QaRow, index: int, where: Item) -> str:
    """The name of category 1-5, which may be written "2". Anything else is an error: nothing is guessed."""
    value = qa.category
    if isinstance(value, str) and value.strip() in map(str, CATEGORIES):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value not in CATEGORIES:
        raise where.fault(f"qa {index}: category {qa.category!r} is none of 1-5")
    return CATEGORIES[value]


def _answers(qa: QaRow, index: int, category: str, where: Item) -> tuple[str, ...]:
    if not qa.question.strip():
        raise where.fault(f"qa {index}: a blank question")
    if qa.answer is msgspec.UNSET and category == CATEGORIES[5]:
        return ()
    try:
        return (answer_text(None if qa.answer is msgspec.UNSET else qa.answer),)
    except ValueError as error:
        raise where.fault(f"qa {index}: {error}") from error


def _gold(
    named: evidence.Evidence,
    answers: tuple[str, ...],
    answerable: bool,
    turns: Mapping[str, str],
    refs: Mapping[str, Ref],
) -> Gold:
    """Gold sessions first, then gold turns; a named turn that is blank, hence not stored, is unresolved."""
    stored = set(refs.values())
    by_turn = any(ref.turn is not None for ref in stored)
    places = [Ref(turns[name], name) for name in named.turns]
    lost = [r for r in places if (r if by_turn else Ref(r.session, None)) not in stored]
    kept = [r for r in places if r not in lost]
    found = [*dict.fromkeys(Ref(r.session, None) for r in kept), *kept]
    unresolved = (*named.unresolved, *(str(r.turn) for r in lost))
    return Gold(answers, qrels(refs, found), answerable, tuple(found), unresolved)
