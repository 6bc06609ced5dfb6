"""A report of made-up records, for the tests of report, disclosure and page."""

from __future__ import annotations

from typing import Any

import msgspec

from runner.evaluation import Settings, evaluate
from runner.report import assemble
from tests.runner.making import made_up

JUDGES = {"facts": "mechanical", "words": "mechanical", "gpt": "model", "claude": "model"}


def facts(**rest: Any) -> dict[str, Any]:
    """What a run tells of itself."""
    return {
        "experiment": "crossjudge",
        "run_id": "1a2b3c4d",
        "created": "2026-11-30T20:10:00Z",
        "harness_version": "0.1.0",
        "dataset": {
            "name": "fixture",
            "path_name": "fixture.json",
            "sha256": "a" * 64,
            "content_sha256": "b" * 64,
            "known_as": None,
            "items": 6,
            "questions": 120,
            "subset": None,
            "overlay": None,
            "smallest_haystack": {"session": 20, "turn": 600},
        },
        "disclosure": {"vector_lane": "static", "rerank": None, "single_run": True, "lanes": {}},
        "models": {
            "extraction": None,
            "answerer": {"provider": "openai", "model_id": "gpt-4o-mini", "host": "api.openai.com"},
            "judges": {
                "facts": {"provider": "keyless", "model_id": None},
                "words": {"provider": "keyless", "model_id": None},
                "gpt": {"provider": "openai", "model_id": "gpt-4.1"},
                "claude": {"provider": "anthropic", "model_id": "claude-sonnet-4-6"},
            },
            "embedder": None,
            "reranker": None,
        },
        "defaults": {"max_results": 10},
        "systems": [
            {"name": "fts", "status": "measured", "vector_lane": False, "rerank": None},
            {"name": "hybrid", "status": "measured", "vector_lane": "static", "rerank": None},
            {
                "name": "mem0",
                "status": "skipped",
                "reason": "mem0ai is not installed",
                "disclosure": "no number",
            },
        ],
        "reproduce": {"command": "python -m runner +experiment=crossjudge 'dataset.text=[N | d]'"},
    } | rest


def made(**rest: Any) -> dict[str, Any]:
    records = made_up(120, 6, 20, {"fts": 0.4, "hybrid": 0.7})
    records = [
        msgspec.structs.replace(
            r, verdicts={**r.verdicts, "gpt": r.verdicts["facts"], "claude": r.verdicts["words"]}
        )
        for r in records
    ]
    return assemble(evaluate(records, Settings(k=(1, 5, 10), judges=JUDGES)), facts(**rest))


def warnings_of(report: dict[str, Any]) -> str:
    return "\n".join(report["disclosure"]["warnings"])
