"""What every keyless judge asks first of an answer: is there one, does it abstain, is it a flood of text.

An answer abstains when one of its first sentences holds an abstention phrase. Against an unanswerable gold
that is right and all else is wrong; against an answerable one it is wrong, whatever guess comes after it.
An answer far longer than its gold is wrong ("buried"): naming everything is not knowing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from components.text.languages import CJK
from components.text.sentences import split_sentences
from components.types import Answer, Sample, Verdict

_ALSO = re.compile(
    r"(?P<first>.+?)[.;,]?\s+(?:or\s+)?(?P<second>[^.;]+?)\s*(?:\((?P<note>[^)]*)\)\s*)?"
    r"(?:is|are|would be)\s+(?:also\s+)?(?:acceptable|accepted|fine)\b",
    re.IGNORECASE | re.DOTALL,
)
_OR = re.compile(r"(?P<first>[^()]+?)\s*\(\s*or\s+(?P<second>[^(),;]+)[^()]*\)", re.IGNORECASE)


@dataclass(frozen=True)
class Screen:
    """`abstentions`: phrases, any language. `sentences`: how many first sentences are looked at for one.

    `max_words`, `max_ratio`: an answer over both (the ratio is to the gold's words) is buried.
    """

    abstentions: Sequence[str]
    sentences: int
    max_words: int
    max_ratio: float

    def settle(self, sample: Sample, answer: Answer) -> Verdict | None:
        """A verdict that needs no comparison, or None when the answer is to be compared with the gold."""
        problem = unusable(answer)
        if problem:
            return Verdict("invalid", problem)
        abstains = self.abstains(answer.text)
        if not sample.gold.answerable:
            # "No, she never had one" is right for a gold of "No" (LoCoMo has two of them).
            said = [squeeze(answer.text).split(" ")[0], squeeze(answer.text)]
            if abstains or any(squeeze(gold) in said for gold in sample.gold.answers):
                return Verdict("correct", "abstained" if abstains else "")
            return Verdict("wrong", "asserts an answer")
        golds = alternatives(sample.gold.answers)
        if not golds:
            return Verdict("invalid", "no gold answer")
        if abstains and not any(self.abstains(gold) for gold in golds):
            return Verdict("wrong", "abstained")
        if _bare(answer.text) in map(_bare, sample.gold.answers):
            return Verdict("correct")
        length = count_words(answer.text)
        if length > self.max_words and length > self.max_ratio * max(map(count_words, golds)):
            return Verdict("wrong", "buried", f"{length} words")
        return None

    def abstains(self, text: str) -> bool:
        start = " ".join(split_sentences(text)[: self.sentences])
        return bool(_phrases(tuple(self.abstentions)).search(plain(start)))


def unusable(answer: Answer) -> str:
    """Why an answer is not to be judged at all ("answer: empty"), or ""."""
    if answer.status != "ok":
        return f"answer: {answer.reason or 'error'}"
    return "" if answer.text.strip() else "answer: empty"


def alternatives(answers: Sequence[str]) -> list[str]:
    """Every wording that the gold accepts: "5 days. 6 days (with the last) is also acceptable." are two."""
    found: list[str] = []
    for answer in answers:
        split = _ALSO.match(answer) or _OR.match(answer)
        found += [split["first"], split["second"]] if split else [answer]
    return [stripped for text in found if (stripped := text.strip())]


def plain(text: str) -> str:
    """Case-folded, straight apostrophes, single blanks."""
    return " ".join(text.casefold().replace("’", "'").replace("`", "'").split())


def _bare(text: str) -> str:
    return plain(text).strip(" .!")


def squeeze(text: str) -> str:
    """Only the words of the plain text, with single blanks."""
    return " ".join(re.findall(r"\w+", plain(text)))


def count_words(text: str) -> int:
    """Words; two letters of a script without blanks count as one word."""
    cjk = len(re.findall(f"[{CJK}]", text))
    return len(re.findall(rf"(?:(?![{CJK}])[^\W_])+(?:['’-]\w+)*", text)) + (cjk + 1) // 2


@lru_cache(maxsize=8)
def _phrases(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """One pattern of all phrases: whole words in Latin script, anywhere in scripts without blanks."""
    parts = [
        re.escape(plain(phrase))
        if re.search(f"[{CJK}]", phrase)
        else rf"(?<!\w){re.escape(plain(phrase))}(?!\w)"
        for phrase in sorted(phrases, key=len, reverse=True)
    ]
    return re.compile("|".join(parts) or r"(?!)")
