"""What makes two runs the same run: config, prompts, dataset, model files; all as hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from components.files.identity import Identity
from runner.build import build
from runner.config import nodes
from runner.provenance import text_sha256
from runner.resume import core, flat


def fingerprint(raw: Mapping[str, Any], identity: Identity) -> str:
    """Of all that decides a record: config (prompts too), dataset, model files."""
    parts = [core(raw), identity.sha256, model_files(raw)]
    return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()[:16]


def prompts(raw: Mapping[str, Any]) -> dict[str, str]:
    """Dotted key -> sha256 of every long text of an answerer or a judge."""
    long = {
        key: value
        for where, node, _ in nodes(raw)
        if where.startswith(("answerer", "judge"))
        for key, value in flat(node, f"{where}.").items()
        if isinstance(value, str) and len(value) > 100
    }
    return {key: text_sha256(value) for key, value in sorted(long.items())}


def model_files(raw: Mapping[str, Any]) -> dict[str, str]:
    """Name -> sha256 of every file of weights that a configured component reads."""
    out: dict[str, str] = {}
    for name in ("embedder", "reranker"):
        component = build(raw.get(name)) if raw.get(name) else None
        if component is not None and hasattr(component, "model_files"):
            out |= component.model_files()
    return out
