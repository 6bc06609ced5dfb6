"""Finds the items of a JSON file without reading it as JSON: the byte span of each element of the array.

    [{"question_id": ...}, {"question_id": ...}]   ->   (1, 23), (25, 47)
    {"question_id": ...}                           ->   (0, 22)

Only brackets outside strings matter. numpy finds them in a chunk at once; Python sees two marks per item.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from components.files.source import fault
from components.types import DataError

_BOM = b"\xef\xbb\xbf"
_QUOTE, _BACKSLASH = 0x22, 0x5C
_GAP_LIMIT = 1 << 16  # bytes between two items, blanks taken out


def spans(parts: Iterable[bytes], path: Path) -> Iterator[tuple[int, int]]:
    """(start, stop) of each item, in file order, while `parts` are read. DataError where the frame breaks.

    The frame is one array of objects (or one object), nothing before, between or after but commas and
    blanks. What stands inside an item is not looked at.
    """
    scanner = _Scanner(path)
    held = b""
    for part in parts:
        raw = held + part
        # A run of backslashes is judged as a whole: one that touches the end waits for the next part.
        keep = len(raw.rstrip(b"\\"))
        raw, held = raw[:keep], raw[keep:]
        yield from scanner.feed(raw)
    yield from scanner.feed(held)
    scanner.finish()


class _Scanner:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.position = 0  # bytes fed
        self.found = 0  # items closed
        self.base: int | None = None  # depth around an item: 1 in an array, 0 for a single object
        self.depth = 0
        self.in_string = False
        self.start: int | None = None  # of the open item
        self.gap = b""  # what stood since the last item, blanks taken out
        self.over = False  # the frame is closed

    def feed(self, raw: bytes) -> Iterator[tuple[int, int]]:
        if self.base is None:
            self._frame(raw)
        if self.base is None:
            self.position += len(raw)
            return
        here = 0  # first byte of `raw` that is not accounted for
        for place, depth, opens in self._marks(raw):
            if opens and depth == self.base + 1:
                self._between(raw[here:place], self.position + place)
                self.start, here = self.position + place, place
            elif not opens and depth == self.base:
                assert self.start is not None
                yield self.start, self.position + place + 1
                self.start, here = None, place + 1
                self.found += 1
            elif not opens and depth == self.base - 1:
                self._close(raw[here:place], self.position + place)
                here = place + 1
        if self.start is None:
            self._gather(raw[here:])
        self.position += len(raw)

    def finish(self) -> None:
        if self.base is None:
            raise fault(self.path, "byte 0", "nothing but blanks", "put the real file there")
        if self.start is not None:
            raise self._error(self.start, "this item is never closed: the file is cut or damaged")
        if self.base == 0:
            if self.gap:
                raise self._error(self.position, f"more than one JSON value ({_short(self.gap)})")
        elif not self.over:
            raise self._error(self.position, "the array is never closed: the file is cut")
        elif self.gap:
            raise self._error(self.position, f"text after the end of the array ({_short(self.gap)})")

    def _frame(self, raw: bytes) -> None:
        """What the first byte that is no blank says: an array of items, or one item."""
        text = (self.gap + raw).strip()
        if _BOM.startswith(text):  # nothing yet, or not yet the whole mark
            self.gap = text
            return
        text = text.removeprefix(_BOM).lstrip()
        if text and text[:1] not in (b"[", b"{"):
            what = f"no JSON array or object: begins with {_short(text)}"
            raise fault(self.path, "byte 0", what, "put the real file there")
        self.base = 1 if text[:1] == b"[" else 0

    def _marks(self, raw: bytes) -> Iterator[tuple[int, int, bool]]:
        """(offset, depth after it, opens?) of the brackets that begin or end an item or the frame."""
        assert self.base is not None
        places, opens = self._brackets(raw)
        if not len(places):
            return
        depths = self.depth + np.cumsum(np.where(opens, 1, -1))
        self.depth = int(depths[-1])
        at = np.flatnonzero(np.where(opens, depths == self.base + 1, depths <= self.base))
        for i in at:
            depth = int(depths[i])
            if depth < 0 or (self.over and depth >= 0):
                raise self._error(self.position + int(places[i]), "a bracket after the end of the JSON value")
            yield int(places[i]), depth, bool(opens[i])

    def _brackets(self, raw: bytes) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Offsets of the brackets outside strings, and which of them open."""
        text = np.frombuffer(raw, np.uint8)
        folded = text | 0x20  # [ and { fold to {, ] and } to }
        found = np.flatnonzero((text == _QUOTE) | (folded == 0x7B) | (folded == 0x7D))
        kinds = text[found]
        quotes = (kinds == _QUOTE) & ~_escaped(raw, text, found)
        inside = (np.cumsum(quotes) + self.in_string) % 2 == 1
        if len(found):
            self.in_string = bool(inside[-1])
        outside = ~(inside | (kinds == _QUOTE))
        return found[outside], (kinds[outside] | 0x20) == 0x7B

    def _gather(self, raw: bytes) -> None:
        self.gap += b"".join(raw.split())
        if len(self.gap) > _GAP_LIMIT:
            raise self._error(self.position, f"no item where one should be: {_short(self.gap)}")

    def _between(self, raw: bytes, place: int) -> None:
        self._gather(raw)
        before = b"" if self.base == 0 else b"," if self.found else b"["
        gap, self.gap = self.gap.removeprefix(_BOM), b""
        if gap != before or (self.base == 0 and self.found):
            what = f"expected {before.decode() or 'the end of the file'!r}, found {_short(gap)}"
            raise self._error(place, f"{what}: every item must be an object")

    def _close(self, raw: bytes, place: int) -> None:
        self._gather(raw)
        gap, self.gap = self.gap.removeprefix(_BOM), b""
        if gap != (b"" if self.found else b"["):
            raise self._error(
                place, f"before the end of the array: {_short(gap)}; every item must be an object"
            )
        self.over = True

    def _error(self, position: int, what: str) -> DataError:
        return fault(
            self.path,
            f"byte {position:,}, item {self.found}",
            what,
            "fetch the file again (JSON Lines must become one array)",
        )


def _escaped(raw: bytes, text: NDArray[np.uint8], found: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the bytes at `found` follow an odd run of backslashes (none at offset 0: see spans)."""
    odd: NDArray[np.bool_] = (text[np.maximum(found - 1, 0)] == _BACKSLASH) & (found > 0)
    for i in np.flatnonzero(odd & (text[np.maximum(found - 2, 0)] == _BACKSLASH) & (found > 1)):
        run = place = int(found[i])
        while run > 0 and raw[run - 1] == _BACKSLASH:
            run -= 1
        odd[i] = (place - run) % 2 == 1
    return odd


def _short(raw: bytes) -> str:
    return repr(raw[:30].decode("utf-8", "replace")) + ("..." if len(raw) > 30 else "")
