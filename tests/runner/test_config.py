"""check() and build(): what a resolved config may hold, and everything that is told when it does not."""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from components.store.sqlite import Sqlite
from components.types import System
from runner.build import build, many, systems
from runner.compose import compose_all
from runner.config import FREE, NEEDED, check, nodes
from runner.plan import mistakes, plan
from runner.start import check_all
from tests.contract.options import component, node


@cache
def _dry() -> dict[str, Any]:
    (job,), problems = compose_all(["+experiment=dry", "competitor=[full_context]"], multirun=False)
    assert problems == []
    return job.raw


def dry(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The resolved config of +experiment=dry; changes: dotted key -> value."""
    raw = deepcopy(_dry())
    for key, value in (changes or {}).items():
        *path, last = key.split(".")
        inner = raw
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return raw


def test_a_right_config_has_no_problem() -> None:
    assert check(dry()) == []
    told = dict.fromkeys(where.partition(".")[0] for where, _, _ in nodes(dry()))
    assert set(NEEDED) <= set(told) and not set(FREE) & set(told)


PLAN: dict[str, tuple[dict[str, Any], str]] = {
    "text for a number": ({"depth": "ten"}, "depth: expected a whole number, got a text"),
    "half a number": ({"repeats": 1.5}, "repeats: expected a whole number, got a number"),
    "yes for a number": ({"seed": True}, "seed: expected a whole number, got true or false"),
    "no cut-off": ({"k": []}, "k: expected a list of length >= 1"),
    "cut-off 0": ({"k": [1, 0]}, "k[1]: expected a whole number >= 1"),  # F47
    "a cut-off twice": ({"k": [5, 5]}, "k=[5, 5] names a cut-off twice"),
    "k beyond depth": ({"k": [1, 60]}, "depth=50 is below the largest cut-off k=60: ask for as many hits"),
    "context beyond depth": ({"context.hits": 51}, "depth=50 is below context.hits=51"),
    "certainty": ({"evaluation.confidence": 1.0}, "evaluation.confidence: expected a number < 1.0"),
    "few resamples": ({"evaluation.resamples": 9}, "evaluation.resamples: expected a whole number >= 100"),
    "an unknown rule": (
        {"subset.rule": "random"},
        "subset.rule: 'random' is none of all, stratified, first_n",
    ),
    "a rule without n": (
        {"subset.rule": "first_n"},
        "subset: rule=first_n needs n, the number of questions per category",
    ),
    "a mistyped key": (
        {"answering.concurency": 2},
        "answering.concurency: there is no such key; did you mean",
    ),
    "an expectation of another shape": (
        {"expect": [{"path": "x"}]},
        "expect[0]: object contains unknown field",
    ),
    "a name that leads out": ({"name": "../x"}, "name: expected a text made of letters, digits"),
    "a name with an end of line": ({"name": "x\n"}, "name: expected a text made of letters, digits"),
    "conditions that are none": ({"conditions": 5}, "conditions: expected a mapping or nothing, got a whole"),
}


@pytest.mark.parametrize("name", PLAN)
def test_a_wrong_number_of_the_run_is_told(name: str) -> None:
    changes, wanted = PLAN[name]
    (problem,) = check(dry(changes))
    assert problem.startswith(wanted), problem
    with pytest.raises(ValueError):
        plan(dry(changes))


def test_all_wrong_numbers_are_told_at_once() -> None:
    found = mistakes(dry({"depth": 0, "k": "all", "context.hits": None, "context.x": 1, "subset.seed": "s"}))
    assert [line.partition(":")[0] for line in found] == [
        "k",
        "depth",
        "subset.seed",
        "context.x",
        "context.hits",
    ]
    assert mistakes(dry({"name": "???"})) == [], "told elsewhere: no experiment is named"


NODE: dict[str, tuple[dict[str, Any], list[str]]] = {
    "an unknown parameter": (
        {"judge.facts.max_wrds": 1},
        ["judge.facts.max_wrds: Facts has no such parameter; did you mean 'max_words'?"],
    ),
    "a target of another house": (  # never imported: it would run at import
        {"store._target_": "os.system"},
        ["store: cannot use _target_ 'os.system' (_target_ 'os.system' is outside"],
    ),
    "a target that is not there": (
        {"store._target_": "components.store.sqlite.Sqlit"},
        ["store: cannot use _target_ 'components.store.sqlite.Sqlit' ("],
    ),
    "a component of another kind": (
        {"lane.lexical": {"_target_": "components.filter.floor.Floor", "min_score": 0.1}},
        ["lane.lexical: Floor is no Lane: it lacks search"],
    ),
    "a number instead of a node": (
        {"judge.facts": 3},
        ["judge.facts: expected a mapping with _target_, got 3"],
    ),
    "a number instead of a group": ({"lane": 3}, ["lane: expected name: node"]),
    "no store": ({"store": None}, ["store: a run needs one"]),
    "a value out of range": ({"fusion.weights.dense": -1}, ["fusion: weights.dense: -1 is not 0 or more"]),
    "a value out of reach": (
        {"store.tokenizer": "klingon"},
        ["store: tokenizer: SQLite's FTS5 takes no 'klingon'"],
    ),
    "a lane without a weight": (
        {"fusion.weights": {"lexical": 1.0}},
        ["pipeline: fusion.weights: no weight for lane window, session, dense"],
    ),
    "vectors without an embedder": (
        {"store.embedder": {"_target_": None}},
        ["lane.dense: needs an embedder and there is none; choose one, or write lane=[lexical]"],
    ),
    "a condition that keeps what is not there": (
        {"conditions.fts": {"lane": ["lexicall"], "lanes": []}},
        [
            "conditions.fts.lane: 'lexicall' is not configured; did you mean",
            "conditions.fts: no group 'lanes'; did",
        ],
    ),
    "a condition that keeps something twice": (
        {"conditions.fts": {"lane": ["lexical", "lexical"]}},
        ["conditions.fts.lane: names 'lexical' twice; leave one out"],
    ),
    "a condition named like a competitor": (
        {"conditions.full_context": {"lane": ["lexical"]}},
        ["competitor.full_context: a condition has the same name"],
    ),
}


@pytest.mark.parametrize("name", NODE)
def test_a_wrong_node_is_told_once_and_the_rest_is_looked_at(name: str) -> None:
    changes, wanted = NODE[name]
    found = check(dry(changes))
    assert len(found) == len(wanted), found
    assert all(line.startswith(start) for line, start in zip(found, wanted, strict=True)), found
    also = check(dry({**changes, "k": [0]}))
    assert [line for line in also if line.startswith("k[0]:")], "a wrong node hides no wrong number"


def test_what_the_world_lacks_is_told_by_its_own_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The embedder stands in the store as a copy: the message names what the user wrote."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    embedder = node("embedder", "precomputed", data_dir=str(tmp_path))
    model = node("llm", "gpt_4o")
    raw = dry({"embedder": embedder, "store.embedder": embedder, "llm": model})
    raw["answerer"] = {**node("answerer", "llm"), "llm": model}
    raw["judge"] = {"gpt_4o": node("judge", "gpt_4o")}
    found = check(raw)
    assert [line.partition(" ")[0] for line in found] == ["embedder:", "answerer:", "judge.gpt_4o:"]
    assert all("OPENAI_API_KEY is not set" in line for line in found[1:])
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-the-test")
    assert len(check(raw)) == 1
    raw["llm"] = raw["answerer"]["llm"] = {**model, "model": "???"}
    assert [line for line in check(raw) if "needs a value" in line] == ["llm.model: needs a value"]
    unused = dry({"llm": {**model, "model": "???"}})
    assert check(unused) == [], "a model that nobody asks may be unnamed"


def test_build_makes_the_whole_tree_and_nothing_from_nothing() -> None:
    store = build(dry()["store"])
    assert isinstance(store, Sqlite) and type(store.embedder).__name__ == "Static"
    assert store == component("store", "sqlite") and hash(store) is not None
    assert build(None) is None and build({}) is None and build({"_target_": None}) is None
    with pytest.raises(ValueError, match=r"outside components\. and runner\.: it is not imported"):
        build({"_target_": "components_of_mine.Thing"})
    deep = build({**node("fusion", "rrf"), "weights": {"a": 1, "b": 0.5}})
    assert type(deep.weights) is dict, "plain values stay plain: no DictConfig"


def test_conditions_are_systems_over_one_store() -> None:
    raw = dry({"conditions": {"fts": {"lane": ["lexical"], "factor": []}, "both": {}}})
    found: dict[str, Any] = {**systems(raw, build(raw["store"]))}
    assert list(found) == ["fts", "both", "full_context"]
    assert all(isinstance(system, System) for system in found.values())
    fts, both = (found[name].lanes for name in ("fts", "both"))
    assert list(fts) == ["lexical"] and list(both) == ["lexical", "window", "session", "dense"]
    assert found["fts"].factors == {} and list(found["both"].factors) == ["speaker"]
    assert found["fts"].store is found["both"].store
    assert list(systems(dry(), build(dry()["store"]))) == ["ours", "full_context"]
    assert (
        list(many(raw, "lane")) == ["lexical", "window", "session", "dense"]
        and many(raw, "understanding") == {}
    )


def _a_file(folder: Path) -> Path:
    (folder / "taken").write_text("a file")
    return folder / "taken" / "runs"


def _closed(folder: Path) -> Path:
    (folder / "closed").mkdir()
    (folder / "closed").chmod(stat.S_IRUSR | stat.S_IXUSR)
    return folder / "closed" / "runs"


@pytest.mark.parametrize("make", [_a_file, _closed])
def test_a_folder_that_cannot_be_written_is_told_before_the_run(
    tmp_path: Path, make: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = make(tmp_path)
    # root writes everywhere: what the mode says is asked instead
    monkeypatch.setattr("os.access", lambda path, mode: bool(Path(path).stat().st_mode & stat.S_IWUSR))
    _, problems = check_all(["+experiment=dry", f"output_dir={out}"], multirun=False)
    assert problems == [
        f"output_dir: {out.parent} {'is no folder' if make is _a_file else 'cannot be written to'};"
        " set output_dir to a folder for the runs"
    ]
