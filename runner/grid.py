"""The grid that an experiment brings along: `-m +experiment=sweep_fusion` needs no list of values."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

import msgspec


def with_grid(overrides: Sequence[str]) -> list[str]:
    """The overrides and, for every key of the experiment's `grid` that they do not set, its values."""
    named = [o.partition("=")[2] for o in overrides if o.startswith("+experiment=")]
    files = [resources.files("conf").joinpath("experiment", f"{name}.yaml") for name in named]
    given = {o.partition("=")[0] for o in overrides}
    out = list(overrides)
    for file in files:
        if file.is_file():
            grid = msgspec.yaml.decode(file.read_bytes()).get("grid") or {}
            out += [f"{key}={','.join(map(str, values))}" for key, values in grid.items() if key not in given]
    return out
