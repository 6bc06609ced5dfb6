"""A job's folder: what stands in it, what identifies it, and that an end of any kind leaves it whole."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

import runner.build
from components.files.identity import Identity
from runner.fingerprint import fingerprint, model_files, prompts
from runner.job import Job
from runner.resume import saved
from tests.loopback import Loopback, say
from tests.runner.running import Ran, config, resume, run

LINE = ("+experiment=dry", "embedder=none", "lane=[lexical]")
IDENTITY = Identity("a.json", "0" * 64, "1" * 64, None)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return run(tmp_path_factory.mktemp("job"), "+experiment=dry")


def test_the_folder_is_named_by_experiment_time_and_run(ran: Ran) -> None:
    names = {path.name for path in ran.folder.iterdir()} - {".lock"}
    assert names == {
        *("config.yaml", "provenance.json", "records.jsonl", "trace.jsonl", "report.json", "report.md"),
    }
    assert ran.folder.parent.name == "dry"
    assert ran.folder.name.endswith(f"-{ran.report['run_id']}")
    assert ran.folder.is_absolute()  # the last line on stdout


def test_report_records_and_provenance_agree(ran: Ran) -> None:
    provenance = json.loads((ran.folder / "provenance.json").read_text("utf-8"))
    report = ran.report
    assert {r.fingerprint for r in ran.records} == {
        provenance["fingerprint"],
        report["reproduce"]["fingerprint"],
    }
    assert provenance["datasets"] == {report["dataset"]["path_name"]: report["dataset"]["sha256"]}
    assert provenance["run_id"] == report["run_id"]
    assert provenance["start"] <= provenance["end"]
    assert provenance["command"] == report["reproduce"]["command"]
    assert report["dataset"]["questions"] == len(ran.records) == 26


@dataclass(frozen=True)
class Weighted:
    """An embedder that tells the file of its weights."""

    path: str

    def model_files(self) -> dict[str, str]:
        file = Path(self.path)
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest()}


def test_weights_are_known_by_their_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner.build, "ALLOWED", ("components.", "runner.", "tests."))
    found = []
    for weights in (b"one", b"two"):
        (tmp_path / "a.bin").write_bytes(weights)
        raw = {
            **config(*LINE),
            "embedder": {"_target_": f"{__name__}.Weighted", "path": str(tmp_path / "a.bin")},
        }
        assert model_files(raw) == {"a.bin": hashlib.sha256(weights).hexdigest()}
        found.append(fingerprint(raw, IDENTITY))
    assert len(set(found)) == 2


def test_the_config_is_whole_and_makes_the_same_run(ran: Ran) -> None:
    """Every value that a component got, none of them left to a default in code."""
    raw = yaml.safe_load((ran.folder / "config.yaml").read_text("utf-8"))
    assert raw == saved(ran.folder)
    assert raw["fusion"] == config("+experiment=dry")["fusion"]
    assert "???" not in json.dumps({k: v for k, v in raw.items() if k != "llm"})
    assert fingerprint(raw, IDENTITY) == fingerprint(config("+experiment=dry"), IDENTITY)


@pytest.mark.parametrize(
    "change",
    ["depth=49", "seed=1", "repeats=2", "context.chars=100", "lane.lexical.max_terms=3", "judge=[facts]"],
)
def test_what_decides_a_record_is_in_the_fingerprint(change: str) -> None:
    assert fingerprint(config(*LINE, change), IDENTITY) != fingerprint(config(*LINE), IDENTITY)


@pytest.mark.parametrize(
    "change",
    ["engine.workers=2", "tracker=mlflow", "output_dir=/elsewhere", "answering.concurrency=9", "data_dir=/d"],
)
def test_what_decides_none_is_not(change: str) -> None:
    assert fingerprint(config(*LINE, change), IDENTITY) == fingerprint(config(*LINE), IDENTITY)


LLM = (
    *LINE,
    "answerer=llm",
    "judge=[llm]",
    "llm.model=m",
    "judge.llm.llm.model=m",
    "llm.base_url=http://h/v1",
)


def test_a_changed_model_prompt_or_dataset_is_another_run() -> None:
    whole = fingerprint(config(*LLM), IDENTITY)
    for change in ("llm.model=n", "judge.llm.llm.model=n", "llm.temperature=0.5"):
        assert fingerprint(config(*LLM, change), IDENTITY) != whole
    prompt: dict[str, Any] = json.loads(json.dumps(config(*LLM)))
    prompt["judge"]["llm"]["prompt"] += " "
    assert fingerprint(prompt, IDENTITY) != whole
    assert fingerprint(config(*LLM), IDENTITY._replace(sha256="2" * 64)) != whole


def test_each_prompt_is_known_by_its_hash() -> None:
    raw = config(*LLM)
    found = prompts(raw)
    for key, text in (
        ("judge.llm.prompt", raw["judge"]["llm"]["prompt"]),
        ("answerer.system", raw["answerer"]["system"]),
    ):
        assert found[key] == hashlib.sha256(text.encode()).hexdigest()


def test_a_login_in_an_address_is_written_nowhere_and_does_not_hinder_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Loopback([say("the kayak")]) as server:
        address = server.url.replace("http://", "http://operator:correct-horse-battery@")
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        ran = run(tmp_path, *LINE, "answerer=llm", "llm.model=m", "llm.api_key_env=null")
        assert ran.status == 0 and {r.answer.text for r in ran.records if r.answer} == {"the kayak"}
        records = ran.folder / "records.jsonl"
        records.write_bytes(records.read_bytes()[:-20])
        again = resume(ran.folder)
        other = resume(ran.folder, "depth=40")
    assert (again.status, other.status) == (0, 2)
    told = [again.stdout, again.stderr, other.stdout, other.stderr]
    told += [path.read_text("utf-8") for path in ran.folder.iterdir()]
    assert not [text for text in told if "correct-horse" in text]


def test_bad_data_in_mid_run_keeps_what_was_done(tmp_path: Path) -> None:
    """The second conversation cannot be read: one message with its place, and the first one's records."""
    with resources.as_file(resources.files("components.files.fixture") / "locomo.json") as shipped:
        talks = json.loads(shipped.read_text("utf-8"))
    broken = json.loads(json.dumps(talks))
    broken[1]["qa"][0]["category"] = 9
    (tmp_path / "a.json").write_text(json.dumps(broken), "utf-8")
    line = (*LINE, "dataset=locomo", "dataset.path=a.json", f"data_dir={tmp_path}", "answering.concurrency=1")
    ran = run(tmp_path / "out", *line)
    assert ran.status == 2 and "Traceback" not in ran.stderr
    assert "a.json" in ran.stderr and "byte" in ran.stderr and "category" in ran.stderr
    [folder] = (tmp_path / "out" / "dry").iterdir()
    kept = [msgspec.json.decode(line) for line in (folder / "records.jsonl").read_bytes().splitlines()]
    assert kept and {row["haystack"] for row in kept} == {"h0000"}
    assert json.loads((folder / "provenance.json").read_text("utf-8"))["end"] is not None
    assert not (folder / "report.json").exists()


def test_two_that_start_in_one_second_have_a_folder_each(tmp_path: Path) -> None:
    raw = config(*LINE, "tracker=none", f"output_dir={tmp_path}")
    jobs = [Job.open(raw, LINE, None) for _ in range(3)]
    assert len({job.folder for job in jobs} | {job.run_id for job in jobs}) == 6
    assert len(list((tmp_path / "dry").iterdir())) == 3


def test_nothing_is_left_of_a_write_that_was_cut_short(tmp_path: Path, ran: Ran) -> None:
    """A kill in the middle of writing provenance leaves the old file: the run can be gone on with."""
    folder = tmp_path / ran.folder.name
    shutil.copytree(ran.folder, folder)
    (folder / "provenance.json.part").write_text('{"sch', "utf-8")
    assert resume(folder).status == 0
    assert not list(folder.glob("*.part"))
    assert os.path.getsize(folder / "provenance.json") > 100
