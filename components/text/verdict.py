"""The total verdict reader: any text becomes correct, wrong or invalid; it never raises and never guesses.

The order (the first step that finds a verdict decides; two different verdicts in one step are invalid):
1. reasoning blocks and code fences are taken away; 2. the whole text as JSON; 3. balanced {...} in it;
4. `correct: true` as a pair; 5. a labelled word (`verdict: yes`, `label: CORRECT`); 6. a leading word
("No. He only ..."); 7. a last line that is one word. All else is invalid, "no verdict": a word somewhere
in prose, an echo of the prompt (`yes/no`), half a JSON value.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from components.text.reply import final_text, unfence
from components.types import Verdict

_VALUES = {
    **dict.fromkeys(("correct", "right", "yes", "true", "pass", "passed"), True),
    **dict.fromkeys(
        ("incorrect", "wrong", "no", "false", "fail", "failed", "not correct", "not right"), False
    ),
}
_KEYS = (
    ("correct", "is_correct"),
    ("verdict", "label", "grade", "judgment", "judgement", "decision", "result"),
)
_REASONS = ("reasoning", "reason", "explanation", "rationale")
_WORD = r"(not\s+correct|not\s+right|incorrect|wrong|correct|right|yes|no|true|false|pass(?:ed)?|fail(?:ed)?)"
_MARK = r"[\s\"'*_`()\[\]#]*"
# "yes/no", "CORRECT or WRONG", "[CORRECT, WRONG]": the prompt's choice, not a choice made.
_ECHO = rf"(?!{_MARK}(?:/|\||or\b|,{_MARK}(?:or\b|incorrect\b|wrong\b|false\b|fail\b|no\b(?=[\"'\]`*]))))"
_STOP = r"(?=\s*(?:$|[.,;!:)\]}\"'*_`\n(<–—-]|because\b|since\b|as\b))"
_PAIR = re.compile(
    rf"(?<![\w\\-])(?<!not )(?:is_)?correct[\"']?\s*[:=]\s*([\"']?)(true|false)\1(?!\w){_ECHO}", re.I
)
# "Correct: No" beside other lines quotes the gold; "correct: no" is the key that was asked for.
_BARE = r"^[ \t\"'*_`]*correct[\"'*_`]*[ \t]*[:=][ \t\"'*_`]*((?i:yes|no))[ \t.\"'*_`},]*$"
_PAIR_LINE, _PAIR_SOLE = re.compile(_BARE, re.M), re.compile(_BARE, re.I)
_CUT_PAIR = re.compile(
    r"(?:\{\s*[\"']?|,\s*[\"'])(?:is_)?(?:correct|verdict|label|grade)[\"']?\s*:\s*([\"']?)"
    + _WORD
    + r"\1(?=\s*[,}\n])",
    re.I,
)
_LABEL = re.compile(
    r"(?<![\w-])(?:(?:verdict|label|grade|judge?ment|decision|rating)[\"'*_`)\]]*\s*(?:[:=>]|-+>?|is\b)"
    r"|(?:result|evaluation|assessment|conclusion)[\"'*_`)\]]*\s*[:=])"
    rf"[>\s\"'*_`(\[]*{_WORD}\b{_STOP}{_ECHO}",
    re.I,
)
_LEADING = re.compile(rf"^[\s\"'*_`#>\[(\-]*{_WORD}\b{_STOP}{_ECHO}", re.I)
_ALONE = re.compile(
    rf"^[\s\"'*_`#>\[(\-]*(?:(?:so|wait|actually|hence|therefore|thus|final|finally)\b[,:\s]*)*{_WORD}[\s\"'*_`\])]*$",
    re.I,
)
_TRIES = 200  # balanced objects looked at in one text: a bound on the work, not on the reading


def read_verdict(text: str) -> Verdict:
    """Label, the judge's reason (or why it is invalid), and the text as it came."""
    cleaned = "".join(
        " " if char == "\u00a0" else char for char in text if unicodedata.category(char) != "Cf"
    )
    body, problem = final_text(cleaned)
    if problem:
        return Verdict("invalid", problem, text)
    body = unfence(body)
    if not body:
        return Verdict("invalid", "empty", text)
    whole = _parse(body)
    if isinstance(whole, dict | list):
        return _verdict(_judged(whole), _reason(whole), text) or Verdict("invalid", "no verdict", text)
    rest, objects = _split(body)
    labels = {label for value in objects for label in _judged(value)}
    verdict = _verdict(labels, next((r for r in map(_reason, objects) if r), ""), text)
    readers = (_cut_pairs,) if body.startswith(("{", "[")) else (_pairs, _labelled, _leading, _last_line)
    for reader in readers:
        verdict = verdict or _verdict(reader(rest), "", text)
    return verdict or Verdict("invalid", "no verdict", text)


def _verdict(labels: set[bool], reason: str, raw: str) -> Verdict | None:
    if len(labels) > 1:
        return Verdict("invalid", "contradictory", raw)
    return Verdict("correct" if labels.pop() else "wrong", reason, raw) if labels else None


def _parse(text: str) -> Any:
    """The JSON value of the text, or None. A key that is given twice with two values keeps both."""
    try:
        return json.loads(text, object_pairs_hook=_pairs_kept)
    except (ValueError, RecursionError):
        return None


def _pairs_kept(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in pairs:
        kept[key] = [kept[key], value] if key in kept and kept[key] != value else value
    return kept


def _split(text: str) -> tuple[str, list[Any]]:
    """(text without its JSON objects, the objects), outermost and left to right."""
    decoder = json.JSONDecoder(object_pairs_hook=_pairs_kept)
    objects, rest, position = [], [], 0
    for _ in range(_TRIES):
        start = text.find("{", position)
        if start < 0:
            break
        rest.append(text[position:start])
        try:
            value, position = decoder.raw_decode(text, start)
            objects.append(value)
        except (ValueError, RecursionError):
            rest.append("{")
            position = start + 1
    return "".join(rest) + text[position:], objects


def _judged(value: Any) -> set[bool]:
    """The verdicts at the shallowest level that has one; `correct` before `verdict`, `label` ..."""
    level = [value]
    while level:
        for names in _KEYS:
            found = {label for item in level for label in _named(item, names)}
            if found:
                return found
        level = [child for item in level for child in _children(item)]
    return set()


def _named(item: Any, names: tuple[str, ...]) -> Iterator[bool]:
    if isinstance(item, dict):
        for key, value in item.items():
            if key.strip().lower() in names:
                for one in value if isinstance(value, list) else [value]:
                    label = one if isinstance(one, bool) else _word(one) if isinstance(one, str) else None
                    if label is not None:
                        yield label


def _children(item: Any) -> list[Any]:
    values = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
    return [value for value in values if isinstance(value, dict | list)]


def _reason(value: Any) -> str:
    for key, text in value.items() if isinstance(value, dict) else ():
        if key.strip().lower() in _REASONS and isinstance(text, str):
            return text
    return ""


def _word(text: str) -> bool | None:
    return _VALUES.get(" ".join(text.lower().strip(" \t\r\n.!*_`\"'").split()))


def _labels(pattern: re.Pattern[str], group: int, text: str) -> set[bool]:
    return {label for found in pattern.finditer(text) if (label := _word(found[group])) is not None}


def _cut_pairs(text: str) -> set[bool]:
    return _labels(_CUT_PAIR, 2, text)


def _pairs(text: str) -> set[bool]:
    return _labels(_PAIR, 2, text) | _labels(_PAIR_LINE, 1, text) | _labels(_PAIR_SOLE, 1, text.strip())


def _labelled(text: str) -> set[bool]:
    return _labels(_LABEL, 1, text)


def _leading(text: str) -> set[bool]:
    found = _LEADING.match(text)
    if not found:
        return set()
    word, after = found[1].lower(), text[found.end() :].lstrip()
    if word in ("correct", "right", "true") and after.startswith((":", ",") if word == "right" else ":"):
        return set()  # "Correct: 4 months" quotes the gold; "Right, let me see" is a filler
    label = _word(word)
    return ({label} if label is not None else set()) | _alone(re.split(r"[.!?\n]", text[found.end() :]))


def _last_line(text: str) -> set[bool]:
    return _alone(text.strip().splitlines()[-1:])


def _alone(sentences: list[str]) -> set[bool]:
    return {
        label
        for one in sentences
        if (found := _ALONE.match(one.strip()))
        if (label := _word(found[1])) is not None
    }
