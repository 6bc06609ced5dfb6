"""Sweeps in fresh interpreters: every job is kept, a failed one is named, no two runs share a folder."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runner.compose import compose_all
from runner.sweep import Ended, SweepFolder
from tests.component.dataset.shapes import qa, talk
from tests.contract.options import ROOT
from tests.runner.commands import Said, command
from tests.runner.running import run, timeless

COMPOSED = compose_all(["+experiment=dry"], multirun=False)[0][0].raw


def listed(said: Said) -> list[str]:
    """The lines of the sweep's list: one per job, at the end of stdout."""
    lines = said.out.splitlines()
    (head,) = [n for n, line in enumerate(lines) if re.match(r"sweep .*: \d+ of \d+ jobs ended$", line)]
    return lines[head:]


def test_a_sweep_is_one_run_per_value(tmp_path: Path) -> None:
    said = command(
        "-m", "+experiment=dry", f"output_dir={tmp_path}", "tracker=none", "fusion.weights.dense=0.3,0.7"
    )
    assert said.status == 0 and said.err == "", said.err
    head, *rows = listed(said)
    rows, page = [r for r in rows if r.startswith("  ")], [r for r in rows if not r.startswith("  ")]
    assert head.endswith(": 2 of 2 jobs ended") and len(rows) == 2
    assert "against weights.dense=0.3" in page[0] and len(page) == 5  # head, rule, two points, where it is
    assert [row.split(" | ")[0] for row in page[2:4]] == ["| weights.dense=0.3", "| weights.dense=0.7"]
    assert re.search(r"\[[+-].*\]: (no difference shown|better|worse)", page[3])
    (folder,) = (tmp_path / "sweeps").iterdir()
    assert "\n".join(page[:4]) in (folder / "sweep.md").read_text("utf-8")
    assert (folder / "sweep.png").read_bytes().startswith(b"\x89PNG")
    for row, weight in zip(rows, (0.3, 0.7), strict=True):
        told = re.match(rf"  \d  fusion\.weights\.dense={weight}: done  (\S+)$", row)
        assert told, row  # what the jobs have in common is not repeated
        folder = Path(told[1])
        report = json.loads((folder / "report.json").read_text("utf-8"))
        assert report["defaults"]["lane_weights"]["dense"] == weight
        overrides = json.loads((folder / "provenance.json").read_text("utf-8"))["overrides"]
        assert f"fusion.weights.dense={weight}" in overrides and "+experiment=dry" in overrides
        alone = run(tmp_path / "alone", "+experiment=dry", f"fusion.weights.dense={weight}", "cache=null")
        one, other = ((f / "records.jsonl").read_bytes() for f in (folder, alone.folder))
        assert timeless(one) == timeless(other), "what the points share changes none of them"
    assert {p.name for p in tmp_path.iterdir()} - {"cache", "alone"} == {"dry", "sweeps"}
    assert len(list((tmp_path / "sweeps").iterdir())) == 1, "Hydra's own file stands in the sweep's folder"


def test_a_failed_job_leaves_the_others_and_is_named(tmp_path: Path) -> None:
    """F141. The first stops at bad data in mid-run, the second is done, the third misses what is expected."""
    for name, rows in (
        ("bad", [talk([qa()]), talk([qa(category=9)])]),
        ("good", [talk([qa()]), talk([qa()])]),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps(rows), "utf-8")
    both = ["-m", "+experiment=dry", "tracker=none", "dataset=locomo", f"data_dir={tmp_path}"]
    met = "{at: dataset/questions, value: 2, digits: 0}"
    missed = "{at: dataset/questions, value: 3, digits: 0}"
    with ThreadPoolExecutor(2) as pool:
        cut = pool.submit(command, *both, f"output_dir={tmp_path / 'a'}", "dataset.path=bad.json,good.json")
        off = pool.submit(
            command,
            *both,
            f"output_dir={tmp_path / 'b'}",
            "dataset.path=good.json",
            f"expect=[{missed}],[{met}]",
        )
        said, expected = cut.result(), off.result()
    assert said.status == 1 and expected.status == 1
    head, first, second = listed(said)
    assert head.endswith("2 of 2 jobs ended")
    assert "dataset.path=bad.json: stopped" in first and "dataset.path=good.json: done" in second
    why = f"{tmp_path / 'bad.json'}, byte "
    assert why in first and "category 9 is none of 1-5" in first and f"stopped: {why}" in said.err
    assert "Traceback" not in said.err
    reports = list((tmp_path / "a" / "dry").glob("*/report.json"))
    assert len(reports) == 1 and str(reports[0].parent) in second, "the failed job has no half report"

    _, first, second = listed(expected)
    assert "a gate or an expectation failed" in first and "done" in second
    assert "missed: dataset/questions expected 3, got 2" in expected.out
    assert len(list((tmp_path / "b" / "dry").glob("*/report.json"))) == 2


def test_two_runs_of_one_second_have_two_folders(tmp_path: Path) -> None:
    """F139."""
    argv = ["+experiment=dry", f"output_dir={tmp_path}", "tracker=none"]
    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(lambda _: command(*argv), range(2))
    reports = {said.out.splitlines()[-1] for said in (one, two)}
    assert len(reports) == 2 and all(Path(report).is_file() for report in reports)
    ids = {json.loads(Path(report).read_text("utf-8"))["run_id"] for report in reports}
    assert len(ids) == 2 and {Path(r).parent.name.rpartition("-")[2] for r in reports} == ids
    assert len(list((tmp_path / "dry").iterdir())) == 2


def test_a_job_that_never_ended_is_a_failure(tmp_path: Path) -> None:
    """A launcher's process that was killed notes nothing: the sweep must not pass for whole."""
    folder = SweepFolder.new(tmp_path, "dry", 3)
    folder.note(2, ["seed=2", "k=[1]"], Ended(0, "outputs/c", None))
    folder.note(0, ["seed=0", "k=[1]"], Ended(0, "outputs/a", None))
    assert [row["job"] for row in folder.jobs()] == [0, 2]
    assert folder.finish(COMPOSED) == 1
    folder.note(1, ["seed=1", "k=[1]"], Ended(0, "outputs/b", None))
    assert folder.finish(COMPOSED) == 0
    folder.note(3, ["seed=3", "k=[1]"], Ended(2, None, "stopped"))
    assert folder.finish(COMPOSED) == 1


def test_sweeps_of_one_second_do_not_meet(tmp_path: Path) -> None:
    folders = [SweepFolder.new(tmp_path, "dry", 1) for _ in range(5)]
    assert len({folder.path for folder in folders}) == 5 and SweepFolder(folders[0].path).jobs() == []


def test_every_reproduction_and_every_combination_is_a_job() -> None:
    """`glob(*)` that reaches nothing starts no job and says nothing: the number of jobs is looked at."""
    jobs, problems = compose_all(["+reproduce=glob(*)"], multirun=True)
    names = sorted(p.stem for p in (ROOT / "conf" / "reproduce").glob("*.yaml"))
    assert problems == [] and [job.raw["name"] for job in jobs] == names and len(names) >= 3
    jobs, problems = compose_all(["+experiment=dry,crossjudge", "seed=1,2", "k=[1],[1,5]"], multirun=True)
    assert problems == [] and len({json.dumps(job.raw, sort_keys=True) for job in jobs}) == 8
