"""What a message adds to a wrong name: the nearest right one, or all that there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

_ALIKE = 0.6  # share of the letters that must stay; under it a suggestion misleads


def nearest(word: str, known: Collection[str]) -> str | None:
    """The known name that the fewest slips of the hand make of `word` (two letters swapped are one slip).

    Of equally near ones that with the same letters: `modle` is `model`, not `mode`. None: nothing is near.
    """
    from rapidfuzz.distance import DamerauLevenshtein  # here: a right set-up needs no suggestion

    mine = word.lower()

    def slips(name: str) -> tuple[int, int, str]:
        its = name.lower()
        letters = Counter(mine), Counter(its)
        other = (letters[0] - letters[1]).total() + (letters[1] - letters[0]).total()
        return DamerauLevenshtein.distance(mine, its), other, name

    alike = [n for n in known if DamerauLevenshtein.normalized_similarity(mine, n.lower()) >= _ALIKE]
    return min(alike, key=slips, default=None)


def near(word: str, known: Collection[str]) -> str:
    """'; did you mean ...?' or the list of what there is."""
    match = nearest(word, known)
    return f"; did you mean {match!r}?" if match else f"; there is {', '.join(sorted(known)) or 'none'}"
