"""Keyless answerer: the sentences of the recalled documents that share most with the question.

score(sentence) = sum of idf of the question's tokens in it / sum of idf of all the question's tokens,
idf = ln(1 + (n - df + 0.5) / (df + 0.5)) over the n sentences of this context (BM25's); then factors for what
kind of thing is asked. Below `threshold` it abstains. Ties: the better hit, then the earlier sentence.
kind: mechanical.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple

from components.text.dates import find_dates
from components.text.languages import CJK, Language, choose, read_languages
from components.text.screen import count_words
from components.text.sentences import split_sentences
from components.text.tokens import Token, read_tokens
from components.types import Answer, Hit, Kind, Question

# "[10:15 am on 6 March, 2023] Mira: Look": the document has its date as a value.
_STAMP = re.compile(r"^\[[^\]\n]*\d[^\]\n]*\]\s*", re.MULTILINE)


class _Sentence(NamedTuple):
    text: str
    when: datetime | None  # the document's date
    tokens: tuple[Token, ...]
    keys: frozenset[str]


@dataclass(frozen=True)
class Extractive:
    """`sentences`, `max_words`: at most so much is said (one sentence where a date is asked).
    `threshold` in [0, 1]: below it, `abstention`.

    `second`: share of the best score that a further sentence needs. `question_factor`: for questions,
    `kind_factor`: for sentences that have a number or date where one is asked for (`when`, `count`: phrases).
    `days`: word -> days from the document's date ("yesterday": -1), for dated answers.
    """

    languages: Mapping[str, Mapping[str, Any]]
    sentences: int
    max_words: int
    threshold: float
    second: float
    question_factor: float
    kind_factor: float
    when: Sequence[str]
    count: Sequence[str]
    days: Mapping[str, int]
    abstention: str
    kind: ClassVar[Kind] = "mechanical"

    def __post_init__(self) -> None:
        read_languages(self.languages)
        if self.sentences < 1 or self.max_words < 1 or not 0 <= self.threshold <= 1:
            raise ValueError("answerer.extractive: sentences and max_words from 1, threshold in [0, 1]")

    @cached_property
    def _known(self) -> tuple[Language, ...]:
        return read_languages(self.languages)

    def answer(self, question: Question, hits: Sequence[Hit]) -> Answer:
        language = choose(question.text, self._known)
        wanted = {token.key for token in _tokens(question.text, language)}
        pool = [sentence for hit in hits for sentence in _read(hit, language)]
        idf = _idf(wanted, pool)
        dated = _has(question.text, self.when)
        counted = _has(question.text, self.count)
        scores = [self._score(sentence, idf, dated, counted) for sentence in pool]
        best = sorted(range(len(pool)), key=lambda i: (-scores[i], i))  # the pool is in the order of hits
        if not best or scores[best[0]] < self.threshold:
            return Answer(self.abstention)
        floor = self.second * scores[best[0]]
        chosen = [pool[i] for i in best[: 1 if dated else self.sentences] if scores[i] >= floor]
        return Answer(self._joined([self._dated(s) if dated else s.text for s in chosen]))

    def _score(self, sentence: _Sentence, idf: Mapping[str, float], dated: bool, counted: bool) -> float:
        total = sum(idf.values())
        score = sum(weight for key, weight in idf.items() if key in sentence.keys) / total if total else 0.0
        if sentence.text.rstrip("\"') ").endswith(("?", "？")):
            score *= self.question_factor
        has_date = dated and bool(find_dates(sentence.text) or self._day(sentence.text))
        has_number = counted and any(token.kind == "number" for token in sentence.tokens)
        return score * (self.kind_factor if has_date or has_number else 1.0)

    def _day(self, text: str) -> str:
        return next((word for word in self.days if _has(text, [word])), "")

    def _dated(self, sentence: _Sentence) -> str:
        """The sentence with the day that it speaks of, or was written on, unless it names a date itself."""
        if sentence.when is None or find_dates(sentence.text):
            return sentence.text
        day = sentence.when + timedelta(days=self.days.get(self._day(sentence.text), 0))
        return f"{day.date().isoformat()}: {sentence.text}"

    def _joined(self, texts: list[str]) -> str:
        kept = texts[:1]
        for text in texts[1:]:
            if text not in kept and count_words(" ".join([*kept, text])) <= self.max_words:
                kept.append(text)
        words = kept[0].split(" ")
        return " ".join(words[: self.max_words]) if len(words) > self.max_words else " ".join(kept)


@lru_cache(maxsize=1 << 16)
def _tokens(text: str, language: Language) -> tuple[Token, ...]:
    """Kept, because one document is recalled for many questions."""
    return tuple(read_tokens(text, language))


def _has(text: str, phrases: Sequence[str]) -> bool:
    """Whole words in scripts with blanks; anywhere where a phrase has letters of another script."""
    text = text.casefold()
    return any(
        re.search(rf"(?<!\w){re.escape(p)}(?!\w)", text) or (re.search(f"[{CJK}]", p) and p in text)
        for p in phrases
    )


def _read(hit: Hit, language: Language) -> list[_Sentence]:
    document = hit.document
    when = document.occurred or document.created
    return [
        _Sentence(text, when, tokens, frozenset(token.key for token in tokens))
        for text in split_sentences(_STAMP.sub("", document.text))
        for tokens in [_tokens(text, language)]
    ]


def _idf(wanted: set[str], pool: Sequence[_Sentence]) -> dict[str, float]:
    counts = Counter(key for sentence in pool for key in wanted & sentence.keys)
    return {
        key: math.log(1 + (len(pool) - counts[key] + 0.5) / (counts[key] + 0.5)) for key in sorted(wanted)
    }
