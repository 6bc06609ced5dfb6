"""A run's folder with known content, and what MLflow must hold of it."""

import json
from pathlib import Path
from typing import Any

from components.types import Answer, Ref, Verdict
from runner.logged import params, run_name
from runner.records import GoldRow, RankedRow, Record, Writer
from runner.tracking import Mlflow, RunFacts

KEY = "sk-" + "Zx9Yw8Vu7T" * 3  # made up here
COUNTS = {"total": 4, "correct": 2, "invalid": 1, "valid_total": 3}
REPORT: dict[str, Any] = {
    "schema": "crossjudge-report/1",
    "dataset": {
        "name": "fixture",
        "path_name": "fixture.json",
        "sha256": "ab" * 32,
        "content_sha256": "cd" * 32,
    },
    "retrieval": {
        "ours": {
            "turn": {
                "overall": {"n": 4, "recall@10": 0.5, "hit@10": 0.75, "mrr@10": None, "low": {"hit@10": 0.1}},
                "macro": {"n": 4, "hit@10": 0.7, "mrr@10": 0.6},
                "temporal": {"n": 0, "hit@10": None},
            }
        }
    },
    "lexical": {
        "ours": {
            "facts": {
                "overall": {
                    **COUNTS,
                    "accuracy": 66.5,
                    "strict": 50.0,
                    "best_case": 75.0,
                    "invalid_rate": 25.0,
                },
                "macro": {**COUNTS, "accuracy": 60.0},
            }
        }
    },
    "spread": {
        "ours": [
            {"category": "overall", "judge_a": "facts", "judge_b": "overlap", "spread": 4.5},
            {"category": "temporal", "judge_a": "facts", "judge_b": "overlap", "spread": 1.0},
        ]
    },
    "cost": {"tokens_in": 10, "tokens_out": 0, "usd": None},
    "latency": {"recall": {"p50": 0.1, "p95": 0.2, "n": 4}},
    "errors": {"judge facts": {"length": 1}, "answer": {"empty": 2}},
    "checks": [{"name": "bounds", "ok": True}],
}
LOGGED = {
    "retrieval/ours/turn/recall_at_10": 0.5,
    "retrieval/ours/turn/hit_at_10": 0.75,
    "retrieval/ours/turn/macro/mrr_at_10": 0.6,
    "lexical/ours/facts/accuracy": 66.5,
    "lexical/ours/facts/strict": 50.0,
    "lexical/ours/facts/best_case": 75.0,
    "lexical/ours/facts/invalid_rate": 25.0,
    "lexical/ours/facts/macro/accuracy": 60.0,
    "spread/ours/facts_vs_overlap": 4.5,
    "latency/recall_p50": 0.1,
    "latency/recall_p95": 0.2,
    "cost/tokens_in": 10.0,
    "cost/tokens_out": 0.0,
    "errors/total": 3.0,
}
CONFIG: dict[str, Any] = {
    "name": "dry",
    "store": {"_target_": "components.store.lancedb.Lancedb", "memory": True},
    "lane": {
        "lexical": {"_target_": "components.lane.lexical.Lexical", "max_terms": 10},
        "dense": {"_target_": "components.lane.dense.Dense"},
    },
    "factor": {},
    "reranker": {"_target_": None},
    "fusion": {"_target_": "components.fusion.rrf.Rrf", "weights": {"dense": 0.3}},
    "answerer": {"_target_": "components.answerer.llm.Llm", "prompt": "x" * 7000, "api_key_env": "A_KEY"},
    "k": [1, 10],
    "resume": None,
    "tracker": {"_target_": "runner.tracking.Mlflow", "uri": "postgresql://u:p@h/d"},
}


def a_record(number: int, system: str = "ours", **changes: Any) -> Record:
    gold = Ref("s1", "D1:3")
    ranked = tuple(RankedRow(Ref("s1", f"D1:{i}"), 1 / i, {}) for i in (1, 2, 3))
    values: dict[str, Any] = {
        "fingerprint": "f",
        "system": system,
        "haystack": "h0",
        "question_id": f"h0-q{number}",
        "source_id": f"c:{number}",
        "category": "temporal",
        "question": f"When was number {number}?\u2028Really?",
        "asked": None,
        "gold": GoldRow(("7 May 2023", "May 7"), (gold,), True),
        "ranked": ranked,
        "answer": Answer("7 May"),
        "verdicts": {"facts.v2": (Verdict("correct"), Verdict("invalid", "length"))},
        "seconds": {"recall": 0.25},
    }
    return Record(**{**values, **changes})


def a_folder(path: Path) -> Path:
    path.mkdir(parents=True)
    writer = Writer(path / "records.jsonl")
    for number in range(3):
        writer.write(a_record(number))
    writer.close()
    (path / "report.json").write_text(json.dumps(REPORT), "utf-8")
    (path / "report.md").write_text("# Report\n", "utf-8")
    (path / "config.yaml").write_text("name: dry\n", "utf-8")
    (path / "provenance.json").write_text(
        json.dumps(
            {
                "harness_version": "0.1.0",
                "git": {"commit": "a" * 40, "dirty": False},
                "start": "2026-11-30T20:10:00Z",
                "end": "2026-11-30T20:10:05Z",
            }
        ),
        "utf-8",
    )
    return path


def its_facts(*overrides: str, sweep: str | None = None, **changes: Any) -> RunFacts:
    its = {"name": run_name(["fixture"], overrides), "params": params(CONFIG), **changes}
    return RunFacts("dry", overrides=["+experiment=dry", *overrides], sweep=sweep, **its)


def client_of(tracker: Mlflow) -> Any:
    with tracker._opened() as client:
        return client


def artifact(tracker: Mlflow, run: str, name: str) -> str:
    folder = client_of(tracker).get_run(run).info.artifact_uri
    return Path(folder, name).read_text("utf-8")
