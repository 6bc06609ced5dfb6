"""Components built from the shipped YAML files, as the runner builds them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

CONF = Path(__file__).parents[2] / "conf"


def node(path: str, **more: Any) -> DictConfig:
    """The file conf/<path>.yaml beside the rubric, which `${rubric...}` means; `more`: other root keys."""
    root = OmegaConf.create({"rubric": OmegaConf.load(CONF / "rubric/default.yaml"), **more})
    root.node = OmegaConf.load(CONF / f"{path}.yaml")
    return root.node


def build(path: str, name: str | None = None, **changes: Any) -> Any:
    """One component; `name` picks it in a plural group; `changes` replace parameters."""
    config = node(path) if name is None else node(path)[name]
    return replace(instantiate(config, _convert_="all"), **changes)
