"""Going on with a run: its folder names the overrides; every difference is told before anything is done."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from omegaconf import OmegaConf

from runner.records import decode, unreadable

VOLATILE = (
    "resume",
    "engine",
    "tracker",
    "answering",
    "output_dir",
    "cache",
    "data_dir",
    "llm",
    "rubric",
    "floors",
    "export",
    "grid",
)
SPEED = ("cache", "threads")  # of a component: where vectors are kept and how many threads make them
# rubric and llm count where a component holds a copy of them; data_dir through the dataset's hash


def with_saved_overrides(overrides: Sequence[str]) -> tuple[list[str], list[str]]:
    """`resume=FOLDER` without an experiment's name: the overrides of then, and what is given beside it.
    (overrides, problems)."""
    given = [o for o in overrides if o.startswith("resume=")]
    if not given or any(o.lstrip("+").startswith(("experiment=", "reproduce=")) for o in overrides):
        return list(overrides), []
    folder = Path(given[0].partition("=")[2].strip("'\""))
    try:
        saved = json.loads((folder / "provenance.json").read_text("utf-8"))["overrides"]
    except FileNotFoundError:
        return list(overrides), [f"resume: {folder} holds no run (there is no provenance.json)"]
    except _UNREADABLE as error:
        return list(overrides), [_file_fault(folder / "provenance.json", error)]
    return [*saved, *overrides], []


def damaged(folder: Path) -> list[str]:
    """What in a run's folder cannot be gone on with. A torn last line is no damage: it is cut away."""
    out = []
    readers: dict[str, Callable[[str], Any]] = {
        "config.yaml": msgspec.yaml.decode,
        "provenance.json": json.loads,
    }
    for name, reader in readers.items():
        try:
            if (folder / name).exists():
                reader((folder / name).read_text("utf-8"))
        except _UNREADABLE as error:
            out.append(_file_fault(folder / name, error))
    records, trace = folder / "records.jsonl", folder / "trace.jsonl"
    out += [f"resume: {unreadable(records, number, error)}" for number, error in _faults(records, decode)]
    out += [
        f"resume: {trace}, line {number}: not a line of a trace ({error}); delete it: no number stands on it"
        for number, error in _faults(trace, _TRACE.decode)
    ]
    return out if len(out) <= _TOLD else [*out[:_TOLD], f"resume: {len(out) - _TOLD} more such faults"]


def _file_fault(path: Path, error: Exception) -> str:
    what = " ".join(str(error).split())
    return f"resume: {path} cannot be read ({what}); put it back from a copy, or start a new run"


def _faults(path: Path, reader: Callable[[bytes], Any]) -> Iterator[tuple[int, Exception]]:
    """(number, what is wrong) of every whole line that `reader` refuses."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                if line.endswith(b"\n"):
                    reader(line)
            except (msgspec.DecodeError, RecursionError) as error:
                yield number, error


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Dotted keys whose values differ, as "key: then X, now Y"; what cannot change a record is left out."""
    before, after = flat(core(old)), flat(core(new))
    return [
        f"{key}: then {before.get(key, 'not there')!r}, now {after.get(key, 'not there')!r}"
        for key in sorted(before.keys() | after.keys())
        if before.get(key, _NONE) != after.get(key, _NONE)
    ]


def core(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a config that decides the records."""
    return {key: _without_paths(value) for key, value in raw.items() if key not in VOLATILE}


def _without_paths(value: Any) -> Any:
    if isinstance(value, dict):
        left_out = ("data_dir", *SPEED) if "_target_" in value else ("data_dir",)
        return {k: _without_paths(v) for k, v in value.items() if k not in left_out}
    return value


def flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """{"a": {"b": 1}} -> {"a.b": 1}; lists stay whole."""
    if isinstance(value, dict) and value:
        out: dict[str, Any] = {}
        for key, inner in value.items():
            out |= flat(inner, f"{prefix}{key}.")
        return out
    return {prefix[:-1]: value}


def saved(folder: Path) -> dict[str, Any]:
    """The resolved config of a run."""
    raw: dict[str, Any] = OmegaConf.to_container(OmegaConf.load(folder / "config.yaml"))  # type: ignore[assignment]
    return raw


class _TraceKey(msgspec.Struct):
    system: str
    question_id: str


_TRACE = msgspec.json.Decoder(_TraceKey)
_UNREADABLE = (ValueError, KeyError, TypeError, msgspec.DecodeError)
_TOLD = 8  # faults that are told one by one
_NONE = object()
