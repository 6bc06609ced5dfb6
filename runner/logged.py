"""What a tracker is told of a run: metrics, params, a name. Pure: knows no tracker.

    metrics   retrieval/ours/turn/hit_at_10, lexical/ours/facts/accuracy, spread/ours/facts_vs_overlap
    params    fusion = rrf, fusion.weights.dense = 0.7, lane = lexical, dense
    name      weights.dense=0.7 · fixture · lexical+dense · lancedb

A metric's first word is its kind: `retrieval` and `lexical` are mechanical, `accuracy` was judged by a model.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from runner.secrets import secret_key

Scalar = str | int | float | bool | None

# Not params: places of this machine, the tracker itself, and nodes that count only where others hold a copy.
_LEFT_OUT = set(
    "name data_dir output_dir resume expect floors export hydra tracker llm rubric embedder".split()
)
_SHOWN = {"experiment", "reproduce", "dataset", "lane", "store"}  # a run's name has them already
_SILENT = set("name data_dir output_dir resume hydra tracker engine answering floors export".split())
_MANY = 12  # values
_NAME = re.compile(r"[a-zA-Z_][\w-]*", re.ASCII)
_MEASURE = re.compile(r"[a-z]+@\d+")
_MACRO = ("mrr@10", "ndcg@10")  # categories, and the rest of macro, stand in the report
_JUDGED = ("accuracy", "strict", "best_case", "invalid_rate")


def metrics(report: Mapping[str, Any]) -> dict[str, float]:
    """Few numbers of report.json under names that MLflow takes; undefined ones are left out."""
    out: dict[str, float] = {}
    for name, value in _numbers(report):
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if number:
            out[_free(metric_name(name), out)] = float(value)
    return out


def metric_name(name: str) -> str:
    """`recall@10` -> `recall_at_10`; what MLflow refuses in a name becomes `_`. At most 250 characters."""
    name = re.sub(r"[^\w./ -]", "_", name.replace("@", "_at_"))
    parts = [part.strip(" .") or "_" for part in name.split("/")]
    return "/".join(parts)[:250].rstrip("/ .")


def _free(name: str, taken: Mapping[str, Any]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def _numbers(report: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for system, levels in (report.get("retrieval") or {}).items():
        for level, rows in levels.items():
            yield from _retrieval(f"retrieval/{_part(system)}/{level}", rows)
    for kind in ("accuracy", "lexical"):
        for system, judges in (report.get(kind) or {}).items():
            for judge, rows in judges.items():
                yield from _judgements(f"{kind}/{_part(system)}/{_part(judge)}", rows)
    for system, spreads in (report.get("spread") or {}).items():
        for row in spreads:
            if row.get("category") == "overall":
                pair = f"{_part(row.get('judge_a'))}_vs_{_part(row.get('judge_b'))}"
                yield f"spread/{_part(system)}/{pair}", row.get("spread")
    yield from _spent(report)


def _retrieval(name: str, rows: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for measure, value in (rows.get("overall") or {}).items():
        if _MEASURE.fullmatch(measure):
            yield f"{name}/{measure}", value
    for measure in _MACRO:
        yield f"{name}/macro/{measure}", (rows.get("macro") or {}).get(measure)


def _judgements(name: str, rows: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for measure in _JUDGED:
        yield f"{name}/{measure}", (rows.get("overall") or {}).get(measure)
    yield f"{name}/macro/accuracy", (rows.get("macro") or {}).get("accuracy")


def _spent(report: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for stage, times in (report.get("latency") or {}).items():
        for quantile in ("p50", "p95"):
            yield f"latency/{_part(stage)}_{quantile}", times.get(quantile)
    for name in ("usd", "tokens_in", "tokens_out"):
        yield f"cost/{name}", (report.get("cost") or {}).get(name)
    if "errors" in report:
        yield "errors/total", sum(n for reasons in report["errors"].values() for n in reasons.values())


def _part(name: Any) -> str:
    return str(name).replace("/", "_")


def kinds(report: Mapping[str, Any]) -> str:
    """The kinds of numbers in a report: "mechanical", "model" or "mechanical,model"."""
    mechanical = ["mechanical"] if report.get("retrieval") or report.get("lexical") else []
    return ",".join([*mechanical, *(["model"] if report.get("accuracy") else [])])


def params(config: Mapping[str, Any]) -> dict[str, Scalar]:
    """A resolved config, flattened: dotted keys, scalars only (a list is one text). A node is its own choice:
    `store._target_: components.store.lancedb.Lancedb` becomes `store = lancedb`.
    """
    return dict(_flat({key: value for key, value in config.items() if key not in _LEFT_OUT}, ""))


def param_text(value: Scalar) -> str:
    """As YAML would write it, but `none` for null."""
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _flat(node: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Scalar]]:
    for key, value in node.items():
        name = metric_name(f"{prefix}{key}")
        if key == "_target_" or secret_key(name):
            continue
        if isinstance(value, Mapping) and not _is_table(value):
            choice = _choice(value)
            if choice is not None and choice != key:
                yield name, choice
            yield from _flat(value, f"{name}.")
        elif isinstance(value, Mapping | list | tuple):
            plain = not isinstance(value, Mapping) and all(isinstance(i, str | int | float) for i in value)
            text = ", ".join(map(str, value)) if plain else json.dumps(value, ensure_ascii=False, default=str)
            yield name, text or "none"
        else:
            yield name, value


def _is_table(node: Mapping[str, Any]) -> bool:
    """Word lists and the like: many values, or keys that are no names. They are one param, one text."""
    values = list(_leaves(node))
    components = any(key == "_target_" for key, _ in values)
    return not components and (len(values) > _MANY or not all(_NAME.fullmatch(str(key)) for key in node))


def _leaves(node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        else:
            yield key, value


def _choice(node: Mapping[str, Any]) -> str | None:
    """What a node, or a group of named nodes, chose."""
    if "_target_" in node:
        target = node["_target_"]
        return "none" if target is None else str(target).split(".")[-2]
    named = [key for key, value in node.items() if isinstance(value, Mapping) and "_target_" in value]
    return ", ".join(named) if len(named) == len(node) and node else None if node else "none"


def run_name(parts: Sequence[str], overrides: Iterable[str]) -> str:
    """`weights.dense=0.3 · fixture · lexical+dense · lancedb`: what was changed, then what is run.

    The change comes first because MLflow's run list shows the first twenty letters. Overrides that `parts`
    show already, or that change no number, are left out.
    """
    changed = []
    for override in overrides:
        key, sign, value = override.lstrip("+~").partition("=")
        if key in _SHOWN or key.partition(".")[0] in _SILENT:
            continue
        changed.append(f"{short(key)}={value[:40]}" if sign else f"no {short(key)}")
    return " · ".join([*changed, *filter(None, parts)])[:200]


def short(key: str) -> str:
    """The last two words of a dotted key."""
    return ".".join(key.split(".")[-2:])


def changed_keys(jobs: Sequence[Sequence[str]]) -> list[str]:
    """Keys whose value differs between the jobs; of a single job, all but the experiment."""
    given = [dict(override.lstrip("+").partition("=")[::2] for override in job) for job in jobs]
    keys = dict.fromkeys(key for its in given for key in its)
    if len(given) == 1:
        return [key for key in keys if key not in ("experiment", "reproduce")]
    return [key for key in keys if len({its.get(key) for its in given}) > 1]
