"""Yes and no: what the first word of an answer says, and whether matched tokens stand under a negation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from components.text.languages import Language
from components.text.tokens import Token

_SHORT = 2  # "si", "ja" mean other things inside a sentence


def first_word(text: str, yes_no: Mapping[str, Sequence[str]]) -> str:
    """ "yes", "no" or "" by the first word. "No one came" and "No dogs" say nothing: a stop must follow."""
    found = re.match(r"[\s\"'*_`(\[]*([^\W\d_]+)(?P<after>.?)", text, re.DOTALL)
    if not found or found["after"] not in (
        "",
        ".",
        ",",
        ";",
        ":",
        "!",
        "\n",
        "*",
        '"',
        "'",
        "。",
        "、",
        "，",
        "-",
    ):
        return ""
    word = found[1].casefold()
    return next((name for name, words in yes_no.items() if word in words), "")


def stance(text: str, yes_no: Mapping[str, Sequence[str]], language: Language) -> str:
    """ "yes" or "no" by the first word; else "no" where it denies, "yes" where it says yes, or ""."""
    words = re.findall(r"[^\W\d_]+(?:'t)?", text.casefold().replace("’", "'"))
    denies = any(word in language.negations or word.endswith("n't") for word in words)
    affirms = any(len(word) > _SHORT and word in words for word in yes_no["yes"])
    return first_word(text, yes_no) or ("no" if denies else "yes" if affirms else "")


def opposed(pairs: Sequence[tuple[Token, Sequence[Token]]]) -> bool:
    """True when most matched gold tokens stand only under the other polarity in the answer."""
    if not pairs:
        return False
    against = sum(all(token.negated != gold.negated for token in tokens) for gold, tokens in pairs)
    return against * 2 > len(pairs)
