"""Going on with a run: with the same set-up only, and a refusal names each difference and touches nothing."""

from __future__ import annotations

import json
import shutil
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.files.identity import Identity
from runner.fingerprint import fingerprint
from runner.resume import core, damaged, differences, flat, saved, with_saved_overrides
from tests.runner.running import Ran, config, resume, run, same_report

LINE = ("+experiment=dry", "embedder=none", "lane=[lexical]")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return run(tmp_path_factory.mktemp("resume"), *LINE)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (["depth=40"], ["depth: then 50, now 40"]),
        (["context.hits=3"], ["context.hits: then 5, now 3"]),
        (["lane.lexical.max_terms=3"], ["lane.lexical.max_terms: then None, now 3"]),
        (["judge=[facts]"], ["judge.overlap"]),
        (
            ["seed=1", "answerer.sentences=9", "dataset.unit=session"],
            ["seed: ", "answerer.sentences: ", "unit"],
        ),
        (["store=lancedb"], ["store._target_: then 'components.store.sqlite.Sqlite'"]),
    ],
)
def test_another_set_up_is_refused_by_the_names_of_what_differs(
    ran: Ran, changed: list[str], named: list[str]
) -> None:
    before = contents(ran.folder)
    refused = resume(ran.folder, *LINE, "tracker=none", *changed)
    assert refused.status == 2 and "Traceback" not in refused.stderr
    assert [name for name in named if name not in refused.stderr] == []
    assert contents(ran.folder) == before


def test_another_dataset_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "data" / "locomo"
    data.mkdir(parents=True)
    with resources.as_file(resources.files("components.files.fixture") / "locomo.json") as shipped:
        shutil.copy(shipped, data / "locomo10.json")
    line = (*LINE, "dataset=locomo", f"data_dir={data.parent}")
    first = run(tmp_path, *line)
    assert first.status == 0
    (first.folder / "report.json").unlink()
    before = contents(first.folder)
    text = (data / "locomo10.json").read_text("utf-8")
    (data / "locomo10.json").write_text(text.replace("a", "e", 1), "utf-8")
    for again in (resume(first.folder), resume(first.folder, *line, "tracker=none")):
        assert again.status == 2 and "dataset: then" in again.stderr and "locomo10.json" in again.stderr
        assert contents(first.folder) == before
    (data / "locomo10.json").write_text(text, "utf-8")
    assert same_report(resume(first.folder).report)["retrieval"]


def test_the_data_may_have_moved(tmp_path: Path) -> None:
    """The dataset is known by its bytes, not by its folder."""
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        with resources.as_file(resources.files("components.files.fixture") / "locomo.json") as shipped:
            shutil.copy(shipped, tmp_path / place / "a.json")
    line = (*LINE, "dataset=locomo", "dataset.path=a.json")
    first = run(tmp_path, *line, f"data_dir={tmp_path / 'here'}")
    again = resume(first.folder, *line, "tracker=none", f"data_dir={tmp_path / 'there'}")
    assert (first.status, again.status) == (0, 0)


@pytest.mark.parametrize("what", ["no such folder", "a folder without a run"])
def test_a_folder_without_a_run_is_a_message(tmp_path: Path, what: str) -> None:
    folder = tmp_path / what
    if what != "no such folder":
        folder.mkdir()
    for again in (resume(folder), resume(folder, *LINE, "tracker=none")):
        assert again.status == 2 and "Traceback" not in again.stderr
        assert "resume" in again.stderr and str(folder) in again.stderr.replace("\n", "")


def test_records_of_another_configuration_are_refused(tmp_path: Path, ran: Ran) -> None:
    """A records file from elsewhere, in a folder whose config fits."""
    folder = tmp_path / ran.folder.name
    shutil.copytree(ran.folder, folder)
    lines = (folder / "records.jsonl").read_bytes()
    (folder / "records.jsonl").write_bytes(lines.replace(b'"fingerprint":"', b'"fingerprint":"0', 1))
    again = resume(folder)
    assert again.status == 2 and "fingerprint" in again.stderr


def test_a_line_that_is_no_record_is_told_before_anything_and_how_to_go_on(tmp_path: Path, ran: Ran) -> None:
    """A tracker that was started first would call the run whole."""
    folder = tmp_path / ran.folder.name
    shutil.copytree(ran.folder, folder)
    file = folder / "records.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:3], lines[3][:40] + b"\n", *lines[4:]]))
    before = contents(folder)
    for again in (resume(folder), resume(folder, *LINE, "tracker=none")):
        assert (again.status, again.stdout) == (2, "") and "Traceback" not in again.stderr
        assert (
            "nothing was run: 1 thing" in again.stderr and f"{file}, line 4: not a record (" in again.stderr
        )
        assert "delete this line" in again.stderr and f"resume={folder}" in again.stderr
    assert contents(folder) == before
    file.write_bytes(b"".join([*lines[:3], *lines[4:]]))
    done = resume(folder)
    assert done.status == 0 and f"{len(lines) - 1} records are there already" in done.stderr
    assert same_report(done.report) == same_report(ran.report), "what the message says to do works"


DAMAGE = {
    "trace.jsonl": (b'{"system"\n', "line 1: not a line of a trace (", "delete it: no number stands on it"),
    "config.yaml": (b"a: [\n", "cannot be read (", "put it back from a copy, or start a new run"),
    "provenance.json": (b"{\n", "cannot be read (", "put it back from a copy, or start a new run"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_of_a_run_is_one_message(tmp_path: Path, ran: Ran, name: str) -> None:
    folder = tmp_path / ran.folder.name
    shutil.copytree(ran.folder, folder)
    content, what, remedy = DAMAGE[name]
    (folder / name).write_bytes(content)
    again = resume(folder, *LINE, "tracker=none")
    assert again.status == 2 and "Traceback" not in again.stderr
    assert str(folder / name) in again.stderr and what in again.stderr and remedy in again.stderr


def test_many_damaged_lines_are_told_in_a_few(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_bytes(b"{}\n" * 50 + b"torn")
    told = damaged(tmp_path)
    assert len(told) == 9 and told[-1] == "resume: 42 more such faults"
    (tmp_path / "records.jsonl").write_bytes(b"torn")
    assert damaged(tmp_path) == [], "it is cut away"


def test_where_vectors_are_kept_and_how_many_threads_make_them_is_no_difference() -> None:
    line = ("+experiment=dry", "embedder=gguf", "embedder.path=/models/a.gguf")
    there = config(*line)
    elsewhere = config(*line, "embedder.cache=/elsewhere", "embedder.threads=3")
    assert elsewhere["store"]["embedder"]["threads"] == 3, "config.yaml has them"
    assert differences(there, elsewhere) == []
    identity = Identity("a.json", "0", "1", None)
    assert fingerprint(there, identity) == fingerprint(elsewhere, identity)
    assert fingerprint(there, identity) != fingerprint(config(*line, "embedder.context=9"), identity)
    weights = {"fusion": {"_target_": "x", "weights": {"cache": 1.0, "threads": 2.0}}}
    assert core(weights) == weights, "names of the user's own stay"


def test_gone_on_with_twice_the_report_and_how_to_make_it_again_are_the_same(tmp_path: Path) -> None:
    first = run(tmp_path, *LINE)
    records = first.folder / "records.jsonl"
    command = first.report["reproduce"]["command"]
    before = same_report(first.report)
    for _ in range(2):
        records.write_bytes(records.read_bytes()[:-2000])
        again = resume(first.folder)
        assert again.status == 0 and again.folder == first.folder
        assert "records are there already" in again.stderr
        assert same_report(again.report) == before
        assert again.report["reproduce"]["command"] == command
        assert again.report["run_id"] == first.folder.name.rpartition("-")[2]
    provenance = json.loads((first.folder / "provenance.json").read_text("utf-8"))
    assert not [o for o in provenance["overrides"] if o.startswith("resume")]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text("xyz", min_size=1), inner, max_size=3)
    ),
    max_leaves=8,
)
CONFIGS = st.dictionaries(st.text("pqr", min_size=1, max_size=2), VALUES, max_size=3)


@given(CONFIGS, CONFIGS)
def test_configs_differ_exactly_where_a_difference_is_told(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert (differences(old, new) == []) == (flat(old) == flat(new))
    assert differences(old, old) == []


@given(CONFIGS)
def test_a_changed_leaf_is_named_with_both_values(config: dict[str, Any]) -> None:
    for key, value in flat(config).items():
        if not key:
            continue
        changed = json.loads(json.dumps(config))
        *parents, last = key.split(".")
        node = changed
        for parent in parents:
            node = node[parent]
        node[last] = "changed"
        assert differences(config, changed) == [f"{key}: then {value!r}, now 'changed'"]


def test_a_config_comes_back_from_its_file_as_it_was(ran: Ran) -> None:
    assert differences(saved(ran.folder), config(*LINE)) == []
    assert core(saved(ran.folder)) == core(config(*LINE))


def test_overrides_given_beside_resume_stand_as_they_are() -> None:
    line = ["+experiment=dry", "resume=/nowhere"]
    assert with_saved_overrides(line) == (line, [])
    assert with_saved_overrides(["+experiment=dry"]) == (["+experiment=dry"], [])
