"""One job's life: its folder, its identity, its tracker; the task does the work in between.

outputs/<experiment>/<time>-<run id>/
    config.yaml provenance.json records.jsonl trace.jsonl report.json report.md
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import msgspec
from filelock import FileLock, Timeout
from rich.console import Console

from components.files.identity import Identity, identify
from components.types import Dataset
from runner.build import build
from runner.config import ConfigError
from runner.fingerprint import fingerprint, model_files, prompts
from runner.logged import params, run_name
from runner.plan import Plan, plan
from runner.provenance import Given, provenance
from runner.resume import differences, saved
from runner.secrets import masker
from runner.subset import Chosen, choose


class Task(Protocol):
    def run(self, job: Job) -> int: ...


@dataclass(frozen=True)
class Job:
    """Everything that a task knows of the run it does."""

    raw: Mapping[str, Any]
    overrides: tuple[str, ...]
    sweep: str | None
    folder: Path
    run_id: str
    created: datetime
    identity: Identity
    chosen: Chosen | None
    fingerprint: str

    @classmethod
    def open(cls, raw: Mapping[str, Any], overrides: Sequence[str], sweep: str | None) -> Job:
        """Makes the run's folder, or opens the one to resume; ConfigError when it is another run's."""
        settings, created = plan(dict(raw)), datetime.now(UTC)
        dataset = build(raw["dataset"])
        identity = identify(dataset.files(), dataset.known)
        if settings.resume:
            folder = Path(settings.resume)
            run_id = folder.name.rpartition("-")[2]
        else:
            run_id = uuid.uuid4().hex[:8]
            folder = Path(settings.output_dir) / settings.name / f"{created:%Y-%m-%d_%H-%M-%S}-{run_id}"
        chosen = choose(dataset, settings.subset)
        job = cls(
            raw,
            tuple(o for o in overrides if not o.startswith("resume=")),  # to make it again, not to go on
            sweep,
            folder,
            run_id,
            created,
            identity,
            chosen,
            fingerprint(raw, identity),
        )
        job._begin(settings)
        return job

    @property
    def plan(self) -> Plan:
        return plan(dict(self.raw))

    @property
    def dataset(self) -> Dataset:
        dataset: Dataset = build(self.raw["dataset"])
        return dataset

    def run(self) -> int:
        """The task's exit status. ConfigError when another process is at work in the folder: two that go on
        with one run would ask every question twice."""
        lock = FileLock(self.folder / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise ConfigError(
                [f"resume: another process is at work in {self.folder}; stop it first"]
            ) from error
        try:
            return self._run()
        finally:
            lock.release()

    def _run(self) -> int:
        """Does the task; the tracker is told how it ended, whatever happens."""
        tracker = build(self.raw["tracker"])
        task: Task = build(self.raw["task"])
        self._track(tracker, "start")
        status = "FAILED"
        try:
            code = task.run(self)
            status = "FINISHED" if code == 0 else "FAILED"
            return code
        except KeyboardInterrupt:
            status = "KILLED"
            told = f"\nstopped; go on with: python -m runner resume={self.folder}"
            Console(stderr=True, soft_wrap=True).print(told, markup=False, highlight=False)
            return 1
        finally:
            self._write_provenance(datetime.now(UTC))
            self._track(tracker, status)
            self._say_where(tracker)

    def _begin(self, settings: Plan) -> None:
        if settings.resume:
            self._check_same()
            return
        self.folder.mkdir(parents=True)
        (self.folder / "config.yaml").write_text(self._config(), "utf-8")
        self._write_provenance(None)

    def _config(self) -> str:
        """The resolved config as YAML, free of secrets."""
        return masker(os.environ)(msgspec.yaml.encode(dict(self.raw)).decode())

    def _check_same(self) -> None:
        """A resumed run must be the same run: every difference is named."""
        if not (self.folder / "config.yaml").exists():
            raise ConfigError([f"resume: {self.folder} holds no run (there is no config.yaml)"])
        wrong = differences(saved(self.folder), msgspec.yaml.decode(self._config()))
        then = json.loads((self.folder / "provenance.json").read_text("utf-8"))["datasets"]
        now = {self.identity.path_name: self.identity.sha256}
        if then != now:
            wrong.append(f"dataset: then {then}, now {now}")
        if wrong:
            lines = "\n  ".join(wrong)
            raise ConfigError(
                [f"resume: {self.folder} was made otherwise; put it back or start a new run:\n  {lines}"]
            )

    def _write_provenance(self, end: datetime | None) -> None:
        path = self.folder / "provenance.json"
        start = self.created
        if path.exists():
            start = datetime.fromisoformat(json.loads(path.read_text("utf-8"))["start"])
        given = Given(
            datasets={self.identity.path_name: self.identity.sha256},
            models=model_files(self.raw),
            prompts=prompts(self.raw),
            seeds={"seed": self.plan.seed, "subset": self.plan.subset.seed},
        )
        facts = provenance(self.overrides, given, start, end)
        facts |= {"overrides": list(self.overrides), "fingerprint": self.fingerprint, "run_id": self.run_id}
        text = json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
        part = path.with_name("provenance.json.part")  # a kill leaves the old one or the new one
        part.write_text(masker(os.environ)(text), "utf-8")
        part.replace(path)

    def _track(self, tracker: Any, what: str) -> None:
        """A failure of the tracker is a warning: the folder is whole without it."""
        if tracker is None:
            return
        from runner.tracking import RunFacts, TrackerError

        try:
            if what == "start":
                name = run_name(self._parts(), self.overrides)
                facts = RunFacts(self.plan.name, name, self.overrides, params(self.raw), self.sweep)
                tracker.start(self.folder, facts)
            else:
                tracker.finish(self.folder, what)
        except TrackerError as error:
            Console(stderr=True, soft_wrap=True).print(f"tracker: {error}", style="yellow", markup=False)

    def _parts(self) -> list[str]:
        """What is run, in three words: dataset, lanes, store."""
        store = self.raw["store"]["_target_"].rpartition(".")[0].rpartition(".")[2]
        name = self.raw["dataset"]["_target_"].rpartition(".")[2].lower()
        return [name, "+".join(self.raw.get("lane") or {}), store]

    def _say_where(self, tracker: Any) -> None:
        """The last line on stdout is the path of report.json."""
        report = self.folder / "report.json"
        if tracker is not None:
            from runner.tracking import ui_command

            print(f"runs in a browser: {ui_command(tracker.uri)}")  # noqa: T201
        if report.exists():
            print(report.absolute())  # noqa: T201
