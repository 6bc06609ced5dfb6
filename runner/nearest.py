"""What a message adds to a wrong name: the nearest right one, or all that there are."""

from __future__ import annotations

import difflib
from collections.abc import Collection


def near(word: str, known: Collection[str]) -> str:
    """'; did you mean ...?' or the list of what there is."""
    match = difflib.get_close_matches(word, known, 1)
    return f"; did you mean {match[0]!r}?" if match else f"; there is {', '.join(sorted(known)) or 'none'}"
