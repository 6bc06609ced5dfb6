"""Keyless judge by overlap: the weighted share of the gold's tokens that the answer has, against a floor.

recall = weight of the gold's tokens that the answer has / weight of all of them; precision the same of the
answer's; tokens are stems, and numbers, dates, times by value (SQuAD's token overlap, used by LoCoMo too,
with weights instead of equal words). A misspelt word still counts (edit similarity). Not fooled by a swap: a
number, date or name of the gold that is missing while the answer has another of its kind is wrong anyway.
What it cannot do: tell a list of everything from an answer, but for its length. kind: mechanical.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from components.text.compare import same, wrong_name
from components.text.dates import wordings
from components.text.languages import Language, choose, read_languages
from components.text.polarity import first_word, opposed, stance
from components.text.screen import Screen, alternatives, squeeze
from components.text.tokens import Token, read_tokens
from components.types import Answer, Kind, Sample, Verdict

_LETTERS = 5  # shorter words must be equal: "cat" and "car" are no misspelling


@dataclass(frozen=True)
class Overlap:
    """`recall`: floor per category, "default" for the rest; `precision`: floor for all; both in [0, 1].

    `value_weight`: of a number, date, time or name against 1 of a word; `asked_weight`: factor for what the
    question already says; `similarity`: edit similarity in [0, 100] from which words are the same.
    The other fields: see `Screen` and `read_languages`; `yes_no`: {"yes": words, "no": words}.
    """

    languages: Mapping[str, Mapping[str, Any]]
    yes_no: Mapping[str, Sequence[str]]
    abstentions: Sequence[str]
    abstention_sentences: int
    max_words: int
    max_ratio: float
    recall: Mapping[str, float]
    precision: float
    value_weight: float
    asked_weight: float
    similarity: float
    kind: ClassVar[Kind] = "mechanical"

    def __post_init__(self) -> None:
        read_languages(self.languages)
        floors = [*self.recall.values(), self.precision]
        if "default" not in self.recall or not all(0 <= floor <= 1 for floor in floors):
            raise ValueError(
                f"judge.overlap: recall {dict(self.recall)} needs a default, floors are in [0, 1]"
            )

    @cached_property
    def _known(self) -> tuple[Language, ...]:
        return read_languages(self.languages)

    def grade(self, sample: Sample, answer: Answer) -> Verdict:
        screen = Screen(self.abstentions, self.abstention_sentences, self.max_words, self.max_ratio)
        settled = screen.settle(sample, answer)
        if settled:
            return settled
        golds = [wording for gold in alternatives(sample.gold.answers) for wording in wordings(gold)]
        language = choose(" ".join([sample.question.text, *golds, answer.text]), self._known)
        asked, said = (read_tokens(text, language) for text in (sample.question.text, answer.text))
        verdicts = []
        for gold in golds:
            yes_no = first_word(gold, self.yes_no)
            if yes_no and (said_so := stance(answer.text, self.yes_no, language)):
                verdicts.append(Verdict("correct") if said_so == yes_no else Verdict("wrong", "opposite"))
            else:
                floor = self.recall.get(sample.category, self.recall["default"])
                wanted = read_tokens(gold, language)
                verdicts.append(
                    self._compare(wanted, said, asked, floor) if wanted else _literal(gold, answer.text)
                )
        return next((verdict for verdict in verdicts if verdict.label == "correct"), verdicts[0])

    def _compare(self, gold: list[Token], said: list[Token], asked: list[Token], floor: float) -> Verdict:
        if not said:
            return Verdict("wrong", "nothing to compare")
        pairs = [(token, [other for other in said if self._alike(token, other)]) for token in gold]
        swapped = next(
            (token.kind for token, found in pairs if not found and _swapped(token, gold, said, asked)), ""
        )
        swapped = swapped or ("name" if wrong_name(gold, said, asked) else "")
        if swapped:
            return Verdict("wrong", f"another {swapped}")
        matched = [(token, found) for token, found in pairs if found]
        recall = self._weight([token for token, _ in matched], asked) / self._weight(gold, asked)
        hits = [other for other in said if any(self._alike(token, other) for token in gold)]
        precision = self._weight(hits, asked) / self._weight(said, asked)
        figures = f"recall {recall:.2f}, precision {precision:.2f}"
        if recall < floor or precision < self.precision:
            return Verdict("wrong", "too little overlap", figures)
        return Verdict("wrong", "negated", figures) if opposed(matched) else Verdict("correct", "", figures)

    def _weight(self, tokens: Sequence[Token], asked: Sequence[Token]) -> float:
        total = 0.0
        for token in tokens:
            weight = 1.0 if token.kind == "word" else self.value_weight
            total += weight * (self.asked_weight if any(same(token, other) for other in asked) else 1.0)
        return total

    def _alike(self, gold: Token, other: Token) -> bool:
        if same(gold, other):
            return True
        if not {gold.kind, other.kind} <= {"word", "name"} or min(len(gold.key), len(other.key)) < _LETTERS:
            return False
        from rapidfuzz.fuzz import ratio

        return ratio(gold.key, other.key) >= self.similarity


def _literal(gold: str, text: str) -> Verdict:
    """For a gold of stop words alone ("That"): it must be the whole answer."""
    same_text = squeeze(gold) == squeeze(text)
    return Verdict("correct") if same_text else Verdict("wrong", "nothing to compare")


def _swapped(token: Token, gold: Sequence[Token], said: Sequence[Token], asked: Sequence[Token]) -> bool:
    """The answer has a value of this kind that neither the gold nor the question knows."""
    return token.kind in ("number", "date", "time") and any(
        other.kind == token.kind and not any(same(known, other) for known in [*gold, *asked])
        for other in said
    )
