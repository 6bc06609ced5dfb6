"""Does anything that tells the gold reach a system or a model, and do cheaters gain nothing?

Every haystack goes through every system and the answerer with ears on the wire; what was heard is searched.
Then the canaries: cheaters by document id, question id and category must find nothing, the gold answer must
pass every judge, an empty one must be invalid, a vague one wrong, "I don't know" right only where there is
no answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from rich.console import Console
from rich.progress import track

from components.files.source import span
from components.types import Haystack, Place, System
from runner.answering import Answering
from runner.build import build, many, systems
from runner.canaries import judged, recall_hits
from runner.facts import facts_of, settings_of
from runner.job import Job
from runner.leaks import Leak, leaks, private_values
from runner.loop import Met
from runner.recalling import Batch, OneSystem
from runner.report import assemble
from runner.shared_index import Once
from runner.stage_cache import StageCache
from runner.task.qa import finish
from runner.watch import Ears, WatchedSystem, watched_answerer


@dataclass
class Findings:
    leaks: Counter[Leak] = field(default_factory=Counter)
    cheats: dict[str, list[int]] = field(default_factory=dict)
    canaries: list[dict[str, Any]] = field(default_factory=list)
    texts: Counter[str] = field(default_factory=Counter)  # who -> texts heard
    characters: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Doctor:
    def run(self, job: Job) -> int:
        """0; 1 when something leaked or a canary did not score as designed."""
        found, met = Findings(), Met()
        dataset = job.dataset
        every = systems(job.raw, Once(build(job.raw["store"]), lambda _: False))
        places = list(dataset.items())
        console = Console(stderr=True)
        quiet = not console.is_terminal
        for place in track(places, "doctor", console=console, transient=True, disable=quiet):
            haystack = dataset.load(place)
            met.add(Batch((), len(haystack.samples), haystack.notes, {}))
            self._listen(job, haystack, every, found, _raw(place))
            for name, (hits, n) in recall_hits(haystack).items():
                row = found.cheats.setdefault(name, [0, 0])
                row[0], row[1] = row[0] + hits, row[1] + n
            found.canaries += judged(haystack, many(job.raw, "judge"))
        return self._report(job, found, met, every)

    def _listen(
        self, job: Job, haystack: Haystack, every: Mapping[str, System], found: Findings, raw: Any
    ) -> None:
        ears = Ears()
        answerer = build(job.raw["answerer"])
        answering = Answering(answerer and watched_answerer(answerer, ears), {}, 1)
        for name, system in every.items():
            watched = WatchedSystem(name, system, ears)
            one = OneSystem(job.fingerprint, name, watched, job.plan, StageCache(None, job.raw))
            for recalled in one.run(haystack, haystack.samples):
                answering.finish(recalled.record)
        for who, text in ears.heard:
            found.texts[who] += 1
            found.characters[who] += len(text)
        asked = [sample.question.text for sample in haystack.samples]
        stored = "\n".join([*asked, *(d.text for d in haystack.documents)])
        found.leaks.update(leaks(ears.heard, haystack, private_values(raw, stored)))

    def _report(self, job: Job, found: Findings, met: Met, every: Collection[str]) -> int:
        (job.folder / "records.jsonl").touch()
        canaries = _canaries(found)
        facts = facts_of(job, met)
        facts["canaries"] = canaries
        facts["systems"] = [{"name": name, "status": "measured", "mode": "watched"} for name in every]
        facts["checks"] = _checks(found, canaries)
        facts["heard"] = {
            who: {"texts": n, "characters": found.characters[who]} for who, n in sorted(found.texts.items())
        }
        sections = _sections(job)
        sections["counts"] |= {"questions": met.questions, "haystacks": met.haystacks}
        report = assemble(sections, facts)
        status = finish(job, report)
        out = Console(highlight=False, soft_wrap=True)
        for check in facts["checks"]:
            out.print(f"{'ok  ' if check['ok'] else 'FAIL'}  {check['name']}", markup=False)
        for leak, times in found.leaks.most_common(20):
            out.print(
                f"      {leak.who} received the {leak.what} {leak.sample!r} ({times} haystacks)", markup=False
            )
        return max(status, 0 if all(c["ok"] for c in facts["checks"]) else 1)


def _raw(place: Place) -> Any:
    from pathlib import Path

    return msgspec.json.decode(span(Path(place.path), place.start, place.stop))


def _sections(job: Job) -> dict[str, Any]:
    from runner.evaluation import evaluate

    return evaluate([], settings_of(job.raw))


def _canaries(found: Findings) -> dict[str, Any]:
    """name -> {expected, got, n, ok}; recall cheats: share found; answers: share as designed."""
    out: dict[str, Any] = {}
    for name, (hits, n) in found.cheats.items():
        out[f"cheat by {name}"] = {"expected": 0.0, "got": hits / n if n else None, "n": n, "ok": hits == 0}
    groups: dict[str, list[bool]] = {}
    for row in found.canaries:
        groups.setdefault(f"{row['judge']}: {row['canary']} answer", []).append(row["expected"] == row["got"])
    for name, right in groups.items():
        share = sum(right) / len(right)
        out[name] = {"expected": 1.0, "got": share, "n": len(right), "ok": share == 1.0}
    return out


def _checks(found: Findings, canaries: Mapping[str, Any]) -> list[dict[str, Any]]:
    heard = sum(found.characters.values())
    receivers = ", ".join(sorted(found.texts))
    rows = [
        {"name": f"{heard:,} characters heard by {receivers}", "ok": heard > 0},
        {"name": f"no gold in them ({len(found.leaks)} markers found)", "ok": not found.leaks},
    ]
    return rows + [{"name": f"{n}: {c['got']} of {c['n']}", "ok": c["ok"]} for n, c in canaries.items()]
