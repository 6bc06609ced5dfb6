"""The experiments and reproductions that there are, each with the question in its first comment."""

from __future__ import annotations

from importlib import resources


def choices(group: str) -> list[str]:
    """Names of the YAML files of a group, sorted."""
    folder = resources.files("conf").joinpath(group)
    return sorted(p.name.removesuffix(".yaml") for p in folder.iterdir() if p.name.endswith(".yaml"))


def question_of(group: str, name: str) -> str:
    """The first comment of an experiment that is not for Hydra."""
    text = resources.files("conf").joinpath(group, f"{name}.yaml").read_text("utf-8")
    comments = (line.lstrip("# ") for line in text.splitlines() if line.startswith("#"))
    return next((c for c in comments if not c.startswith("@package")), "")


def experiments() -> list[tuple[str, list[tuple[str, str]]]]:
    """[(title, [(name, question)])] for the groups of what can be named."""
    titles = {
        "experiment": "Experiments: +experiment=NAME",
        "reproduce": "Published tables: +reproduce=NAME",
        "preset": "Pipelines to put under an experiment: +preset=NAME",
    }
    return [
        (title, [(name, question_of(group, name)) for name in choices(group)])
        for group, title in titles.items()
    ]
