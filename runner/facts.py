"""What a report says beside the measured numbers: dataset, models, defaults, disclosure, systems."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from runner.cost import cost
from runner.fingerprint import model_files
from runner.job import Job
from runner.loop import Met
from runner.plan import plan
from runner.provenance import command, harness_version, host_of
from runner.roll import lanes, roll
from runner.settings import Settings

Raw = Mapping[str, Any]


def settings_of(raw: Raw) -> Settings:
    """How the records of a run with this config are evaluated."""
    settings = plan(dict(raw))
    judges = raw.get("judge") or {}
    return Settings(
        k=settings.k,
        judges={name: kind_of(node) for name, node in judges.items()},
        empty_gold=raw["dataset"].get("empty_gold", "exclude"),
        unresolved=settings.evaluation.unresolved,
        tolerance=settings.evaluation.tolerance,
        invalid_limit=settings.evaluation.invalid_limit,
        confidence=settings.evaluation.confidence,
        seed=settings.seed,
        resamples=settings.evaluation.resamples,
        systems=tuple([*(settings.conditions or ["ours"]), *(raw.get("competitor") or {})]),
    )


def kind_of(judge: Raw) -> Any:
    """A judge with a chat model inside is a model, every other is mechanical."""
    return "model" if judge.get("llm") else "mechanical"


def facts_of(job: Job, met: Met) -> dict[str, Any]:
    """The facts that assemble() needs, under INTERFACE's names."""
    return {
        "experiment": job.plan.name,
        "run_id": job.run_id,
        "created": job.created.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "harness_version": harness_version(),
        "dataset": dataset_facts(job, met),
        "disclosure": disclosure(job),
        "models": models(job.raw),
        "defaults": defaults(job.raw),
        "systems": systems(job),
        "cost": cost(job.raw, job.folder),
        "reproduce": {
            "command": command(job.overrides, os.environ),
            "config": "config.yaml",
            "fingerprint": job.fingerprint,
        },
    }


def dataset_facts(job: Job, met: Met) -> dict[str, Any]:
    identity = job.identity
    return {
        "name": job.raw["dataset"]["_target_"].rpartition(".")[2].lower(),
        "path_name": identity.path_name,
        "sha256": identity.sha256,
        "content_sha256": identity.content_sha256,
        "known_as": identity.known_as,
        "items": met.haystacks,
        "questions": met.questions,
        "subset": job.chosen.facts if job.chosen else None,
        "overlay": job.raw["dataset"].get("overlay"),
        "unit": job.raw["dataset"].get("unit"),
        "notes": dict(sorted(met.notes.items())),
        "smallest_haystack": met.smallest,
    }


def models(raw: Raw) -> dict[str, Any]:
    """Who answers, judges, embeds: {provider, model_id, host?, file_sha256?}, None where nothing does."""
    return {
        "extraction": None,
        "answerer": _model(raw.get("answerer"), raw),
        "judges": {name: _model(node, raw) for name, node in (raw.get("judge") or {}).items()},
        "embedder": _model(raw.get("embedder"), raw),
        "reranker": _model(raw.get("reranker"), raw),
    }


def _model(node: Raw | None, raw: Raw) -> dict[str, Any] | None:
    if not node or not node.get("_target_"):
        return None
    name = _component(node)
    chat = node.get("llm") or (node if node.get("base_url") else None)  # an embedder may be an endpoint, too
    if not chat:
        files = next((model_files({g: node}) for g in ("embedder", "reranker") if node is raw.get(g)), {})
        own = {"provider": "local", "model_id": node.get("model") or name}
        return own | ({"file_sha256": next(iter(files.values()))} if files else {})
    host = host_of(chat.get("base_url") or "")
    return {
        "provider": chat.get("provider") or host or "unknown",
        "model_id": chat.get("model"),
        "host": host,
    }


def defaults(raw: Raw) -> dict[str, Any]:
    """The numbers of the pipeline that a reader asks for first."""
    filters = raw.get("filter") or {}
    return {
        "max_results": raw["context"]["hits"],
        "depth": raw["depth"],
        "min_score": (filters.get("floor") or {}).get("min_score", 0.0),
        "trust": (filters.get("trust") or {}).get("allow"),
        "lane_weights": (raw.get("fusion") or {}).get("weights"),
        "factor_weights": {name: node.get("weight") for name, node in (raw.get("factor") or {}).items()},
    }


def disclosure(job: Job) -> dict[str, Any]:
    """What runs of the lanes: a lexical number is never taken for a semantic one."""
    configured = job.raw.get("lane") or {}
    told = disclosure_of(job.raw, configured)
    failed = Counter(e.stage for row in roll(job.folder).values() for e in row.errors)
    return {**told, "single_run": job.raw["repeats"] == 1, "lanes": lanes(job.folder, configured, failed)}


def disclosure_of(raw: Raw, kept: Collection[str]) -> dict[str, str]:
    """{vector_lane, rerank}: the component that is at work, or "off"."""
    embedder = _component(raw.get("embedder"))
    return {
        "vector_lane": embedder if "dense" in kept and embedder else "off",
        "rerank": _component(raw.get("reranker")) or "off",
    }


def _component(node: Raw | None) -> str | None:
    """components.embedder.static.Static -> static."""
    target = (node or {}).get("_target_")
    return target.rpartition(".")[0].rpartition(".")[2] if target else None


def _lanes_of(job: Job, name: str) -> dict[str, str]:
    """Which of a condition's lanes is semantic; nothing is said of a competitor's inside."""
    conditions = job.plan.conditions or {"ours": {}}
    if name not in conditions:
        return {}
    kept = conditions[name].get("lane", list(job.raw.get("lane") or {}))
    told = disclosure_of(job.raw, kept)
    return {"vector_lane": told["vector_lane"], "rerank": told["rerank"]}


def systems(job: Job) -> list[dict[str, Any]]:
    """Who took part. A system whose every question failed is failed, with the reason, no number."""
    out = []
    for name, row in roll(job.folder).items():
        entry: dict[str, Any] = {"name": name, "status": "measured" if row.good else "failed"}
        if not row.good:
            entry["reason"] = f"{row.errors[-1].stage}: {row.errors[-1].reason}"
        out.append(entry | _lanes_of(job, name))
    return out
