"""Keyless judge by facts: each number, date, time and name of the gold must be there, and none against it.

Wrong when a fact is missing, stands under a negation that the gold has not, or when another number or date
of the same kind stands next to it ("5 or 6 days"); when too few of the gold's other words are there; when yes
and no differ. Words of the question prove nothing. Numbers, dates and times are compared by value.
What it cannot do: free paraphrase, preferences. kind: mechanical.
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

_VALUES = ("number", "date", "time")


@dataclass(frozen=True)
class Facts:
    """`word_share`: share in [0, 1] of the gold's plain words that must be there.

    `tolerant`: categories in which an older value may stand beside the right one (updated knowledge).
    The other fields: see `Screen` and `read_languages`; `yes_no`: {"yes": words, "no": words}.
    """

    languages: Mapping[str, Mapping[str, Any]]
    yes_no: Mapping[str, Sequence[str]]
    abstentions: Sequence[str]
    abstention_sentences: int
    max_words: int
    max_ratio: float
    word_share: float
    tolerant: Sequence[str]
    kind: ClassVar[Kind] = "mechanical"

    def __post_init__(self) -> None:
        read_languages(self.languages)
        if not 0 <= self.word_share <= 1:
            raise ValueError(f"judge.facts.word_share: {self.word_share} is not in [0, 1]")

    @cached_property
    def _known(self) -> tuple[Language, ...]:
        return read_languages(self.languages)

    def grade(self, sample: Sample, answer: Answer) -> Verdict:
        screen = Screen(self.abstentions, self.abstention_sentences, self.max_words, self.max_ratio)
        settled = screen.settle(sample, answer)
        if settled:
            return settled
        plain = alternatives(sample.gold.answers)
        golds = [wording for gold in plain for wording in wordings(gold)]
        resolved = wordings(answer.text)[1:]
        language = choose(" ".join([sample.question.text, *golds, answer.text]), self._known)
        asked = read_tokens(sample.question.text, language)
        # A phrase meets a date or the same phrase; two phrases are not one because they meet on a day.
        pairs = [(gold, answer.text) for gold in golds] + [
            (gold, text) for gold in plain for text in resolved
        ]
        reasons = [self._against(gold, text, asked, language, sample.category) for gold, text in pairs]
        return Verdict("correct") if "" in reasons else Verdict("wrong", reasons[0])

    def _against(self, gold: str, text: str, asked: list[Token], language: Language, category: str) -> str:
        """Why the text does not say what the gold says, or ""."""
        wanted, said = read_tokens(gold, language), read_tokens(text, language)
        yes_no = first_word(gold, self.yes_no)
        if yes_no and stance(text, self.yes_no, language) != yes_no:
            return "opposite"
        new = [token for token in wanted if not any(same(token, other) for other in asked)] or wanted
        facts = [token for token in new if token.kind != "word"]
        pairs = [(token, [other for other in said if same(token, other)]) for token in facts]
        missing = [token.kind for token, found in pairs if not found]
        if missing:
            return f"missing {missing[0]}"
        if not yes_no:
            words = [token for token in new if token.kind == "word"]
            pairs += [(token, found) for token in words if (found := [o for o in said if same(token, o)])]
            if len(pairs) - len(facts) < self.word_share * len(words):
                return "missing words"
            if not pairs:  # a gold of stop words alone ("That") must be there as it is
                return "" if f" {squeeze(gold)} " in f" {squeeze(text)} " else "nothing to compare"
        if not yes_no and opposed(pairs):
            return "negated"
        if wrong_name(wanted, said, asked):
            return "another name"
        return "" if category in self.tolerant else _contradiction(pairs, said, [*wanted, *asked])


def _contradiction(
    pairs: Sequence[tuple[Token, Sequence[Token]]], said: Sequence[Token], known: Sequence[Token]
) -> str:
    """A rival value near a stated one: of its unit in its clause or the next, or right beside it."""
    for gold, found in pairs:
        for stated in found if gold.kind in _VALUES else ():
            place = said.index(stated)
            for position, other in enumerate(said):
                near = abs(other.clause - stated.clause) <= 1 and not other.negated
                beside = abs(position - place) == 1 and other.clause == stated.clause
                if near and _rival(stated, other, beside) and not any(same(token, other) for token in known):
                    return f"another {other.kind}"
    return ""


def _rival(stated: Token, other: Token, beside: bool) -> bool:
    if other.kind == "number" and other.key == "1" and not other.unit:
        return False  # "one" that counts nothing
    return other.kind == stated.kind and (
        other.unit == stated.unit or (beside and "" in (other.unit, stated.unit))
    )
