"""Names of documents and questions for formats that part their fields by blanks.

    Ref("session 1", None) -> session%201        Ref("session_1", "D1:3") -> session_1#D1:3

Percent-encoded (RFC 3986), so that no two places share a name and every name can be read back; `#` parts the
session from the turn and stands nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from urllib.parse import quote

from components.types import Ref
from runner.records import Record

_SAFE = ":/,()@+"


def token(text: str) -> str:
    """One word of ASCII letters, digits and a few signs; "" becomes "%"."""
    return quote(text, safe=_SAFE, errors="surrogatepass") or "%"


def document(ref: Ref) -> str:
    return token(ref.session) if ref.turn is None else f"{token(ref.session)}#{token(ref.turn)}"


def questions(records: Iterable[Record]) -> dict[str, str]:
    """Question id -> token of the dataset's own id; where two questions share that, ours stands behind it."""
    sources = {record.question_id: token(record.source_id) for record in records}
    counts = Counter(sources.values())
    return {
        question: source if counts[source] == 1 else f"{source}#{token(question)}"
        for question, source in sources.items()
    }
