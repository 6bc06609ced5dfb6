"""Secrets are named, never held: what looks like a key is refused, what is one is masked.

A configuration carries the NAME of an environment variable (`api_key_env: OPENAI_API_KEY`). Two things still
leak: a value typed on the command line (Hydra writes it to three files before a job starts), and a value that
an error message, a URL or a log repeats. `refuse_argv` stops the first, `masked` the second. No function here
ever returns or prints the secret itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

MASK = "***"
PART = 8  # characters; a part of a secret that is at least this long is masked as well
_WORD = re.compile(r"[a-z_-]+")  # such a part is a word ("required" of sk-no-key-required) and stays

# Names that hold a secret. `api_key_env` (a name of a variable), `max_tokens` and `token_parameter` do not.
_NAMES = (
    r"(?:api|access|private|secret|auth)[_-]?key|token|secret|password|passwd"
    r"|credentials?|authorization|bearer"
)
_SECRET_KEY = re.compile(rf"(?i)(?:.*[._-])?(?:{_NAMES})|.*[a-z](?-i:ApiKey|Token|Secret|Password)")
_ASSIGNED = re.compile(
    rf"(?i)(?<![a-z0-9])[\w.-]*(?:{_NAMES})[\"']?\s*(?P<sign>[:=])\s*(?P<quote>[\"']?)(?P<value>[^\s\"',}}\]]+)"
)
_HARMLESS = re.compile(r"\$\{|<|\*\*\*|(?:null|none|true|false|\d{1,7})$", re.IGNORECASE)
_URL_USER = re.compile(r"(?i)\b[a-z][a-z0-9+.-]*://(?P<user>[^/\s:@?#]*:[^/\s@]+)@")
_VARIABLE = re.compile(
    r"(?i)(?:.*_)?(?:KEYS?|TOKENS?|SECRETS?|PASSWORD|PASSWD|PASS|PWD|CREDENTIALS?|ACCESS_KEY_ID)"
)
_NO_SECRET_VARIABLES = {"PWD", "OLDPWD"}  # the shell's own: folders


class _Shape(NamedTuple):
    what: str
    pattern: re.Pattern[str]


# A tail needs a digit (or a capital in a long one): "sk-learn-pipelines" and "bearer of news" are words.
_SHAPES = (
    _Shape("a private key block", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    _Shape(
        "a key that begins with sk-",
        re.compile(r"(?<![\w-])sk-(?:(?=[\w-]*[0-9A-Z])[\w-]{16,}|(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{8,})"),
    ),
    _Shape(
        "a bearer token",
        re.compile(r"(?i)(?<![\w-])bearer\s+(?:(?=[\w.~+/=-]*\d)[\w.~+/=-]{8,}|[\w.~+/=-]{24,})"),
    ),
    _Shape(
        "a service's access token",
        re.compile(
            r"(?<![A-Za-z0-9])(?:AKIA[0-9A-Z]{16}|gh[oprsu]_\w{20,}|github_pat_\w{20,}|hf_[A-Za-z]{20,}|gsk_\w{20,}"
            r"|AIza[\w-]{30,}|xox[a-z]-[\w-]{10,}|glpat-[\w-]{16,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.)"
        ),
    ),
    _Shape("a user and password in a URL", _URL_USER),
)


def looks_secret(text: str) -> str | None:
    """What `text` seems to hold ("a bearer token"), or None. Never says the value."""
    for shape in _SHAPES:
        if shape.pattern.search(text):
            return shape.what
    for found in _ASSIGNED.finditer(text):
        value = found["value"]
        prose = found["sign"] == ":" and not found["quote"] and not re.search(r"\d", value)
        if len(value) >= PART and not prose and not _HARMLESS.match(value):
            return "a value given to the name of a secret"
    return None


def secret_key(key: str) -> bool:
    """Whether a configuration key (dotted) names a secret's value, as `answerer.llm.api_key` does."""
    return _SECRET_KEY.fullmatch(key.rsplit(".", 1)[-1]) is not None


def refuse_argv(argv: Sequence[str], environ: Mapping[str, str] | None = None) -> list[str]:
    """One message per argument (without the program's name) that holds a secret; [] when all is well.

    With `environ`, an argument that repeats the value of a variable for secrets is refused too: that is what
    `api=$OPENAI_API_KEY` becomes in a shell. Messages name the argument by number, and by key if it is plain.
    """
    mask = masker(environ or {})
    messages = []
    for number, argument in enumerate(argv, start=1):
        what = _problem(argument, mask)
        if what is None:
            continue
        key = argument.partition("=")[0].lstrip("+~")
        plain = "=" in argument and re.fullmatch(r"[\w./-]{1,80}", key) and looks_secret(key) is None
        named = plain and mask(key) == key
        instead = f"{key}_env=NAME" if named and secret_key(key) else "`api_key_env=NAME`"
        messages.append(
            f"argument {number}{f' ({key})' if named else ''}: {what}; what stands on the command line is"
            f" written to files. Put it in an environment variable and give that variable's name: {instead}"
        )
    return messages


def _problem(argument: str, mask: Callable[[str], str]) -> str | None:
    key, sign, value = argument.partition("=")
    if sign and secret_key(key.lstrip("+~")):
        return "this key takes a secret"
    if value.startswith(("{", "[")):
        inner = [found for found in _ASSIGNED.finditer(value) if not _HARMLESS.match(found["value"])]
        if inner:
            return "a key inside takes a secret"
    what = looks_secret(argument)
    if what is not None:
        return f"looks like {what}"
    return "repeats the value of an environment variable for secrets" if mask(argument) != argument else None


def masked(text: str, environ: Mapping[str, str], named: Collection[str] = ()) -> str:
    """`text` with every secret of `environ` replaced by ***: used before anything is written.

    A secret is the value (8 characters or more: "none" or "EMPTY" are no keys) of a variable whose name ends
    in _KEY, _TOKEN, _SECRET, _PASSWORD and the like, or stands in `named` (what a configuration gives as
    `api_key_env`), and the user and password of a URL in any variable. Parts of 8 characters go as well,
    unless they are lower-case letters only: that is a word, and a mask would ruin the text.
    """
    return masker(environ, named)(text)


def masker(environ: Mapping[str, str], named: Collection[str] = ()) -> Callable[[str], str]:
    """`masked` for many texts: the environment is looked through once."""
    secrets = {value for value in _secrets(environ, named) if len(value) >= PART}
    parts = {secret[i : i + PART] for secret in secrets for i in range(len(secret) - PART + 1)}
    telling = secrets | {part for part in parts if not _WORD.fullmatch(part)}
    logins = {f"//{found['user']}@" for value in environ.values() for found in _URL_USER.finditer(value)}

    def mask(text: str) -> str:
        for login in logins:
            text = text.replace(login, f"//{MASK}@")
        # Again and again: a mask and its neighbours may spell a part of a secret that has stars in it.
        while any(part in text for part in telling):
            text = _without(text, parts, telling)
        return text

    return mask


def _secrets(environ: Mapping[str, str], named: Collection[str]) -> Iterator[str]:
    for name, value in environ.items():
        if name in named or (_VARIABLE.fullmatch(name) and name not in _NO_SECRET_VARIABLES):
            value = value.strip()
            yield from (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
            yield quote(value, safe="")
        for found in _URL_USER.finditer(value):
            yield found["user"].partition(":")[2]


def _without(text: str, parts: Collection[str], telling: Collection[str]) -> str:
    """Every run of overlapping or touching `parts` that holds a telling one becomes one mask."""
    covered = bytearray(len(text))
    for part in parts:
        start = text.find(part)
        while start >= 0:
            covered[start : start + PART] = b"x" * PART
            start = text.find(part, start + 1)
    out, last = [], 0
    for run in re.finditer(b"x+", bytes(covered)):
        if any(part in text[run.start() : run.end()] for part in telling):
            out += [text[last : run.start()], MASK]
            last = run.end()
    return "".join([*out, text[last:]])
