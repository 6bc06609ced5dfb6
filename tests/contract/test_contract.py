"""Every YAML of conf/ is held to the house's rules: a component is tested by being there."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typing_extensions import get_protocol_members

from runner.build import target
from runner.compose import compose_all
from runner.config import MANY, ONE, check
from runner.keys import unknown_keys
from runner.listing import question_of
from runner.secrets import looks_secret, secret_key
from tests.contract.options import (
    COMPONENTS,
    CONF,
    FILES,
    GLOBAL,
    OPTIONS,
    ROOT,
    RUNS,
    component,
    environment,
    leaves,
    names,
    node,
    text_of,
)

EMPTY_SO_FAR = {"understanding", "reorder"}  # groups without an option yet
HEAVY = (
    "lancedb",
    "tantivy",
    "mlflow",
    "openai",
    "instructor",
    "tokenizers",
    "pyarrow",
    "pandas",
    "llama_cpp",
)


def camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def modules() -> list[tuple[str, str]]:
    """(group, name) of every components/<group>/<name>.py that has a class with the group's methods."""
    found = [p for p in (ROOT / "components").glob("*/*.py") if p.parent.name in {**ONE, **MANY}]
    return sorted((p.parent.name, p.stem) for p in found if _is_component(p.parent.name, p.stem))


def _is_component(group: str, name: str) -> bool:
    cls = getattr(importlib.import_module(f"components.{group}.{name}"), camel(name), None)
    protocol = {**ONE, **MANY}[group]
    methods = [m for m in get_protocol_members(protocol) if inspect.isfunction(getattr(protocol, m))]
    return cls is not None and all(hasattr(cls, method) for method in methods)


def test_there_are_options_to_test() -> None:
    """An empty glob would pass everything below."""
    assert len(OPTIONS) >= 39 and len(modules()) >= 25, (len(OPTIONS), len(modules()))
    assert {g for g in {**ONE, **MANY} if g not in {group for group, _ in OPTIONS}} <= EMPTY_SO_FAR
    assert len([r for r in RUNS if r[0] == "experiment"]) >= 5
    assert len([r for r in RUNS if r[0] == "reproduce"]) >= 3


def test_every_file_belongs_to_a_group_and_none_is_nested() -> None:
    """Hydra's glob(*) does not reach nested groups and then starts no job without a word."""
    known = {**ONE, **MANY, "rubric": None, **dict.fromkeys(GLOBAL)}
    strange = [p for p in FILES if p != CONF / "config.yaml" and (p.parent.name not in known)]
    nested = [p for p in FILES if len(p.relative_to(CONF).parts) > 2]
    assert not strange and not nested
    assert not list(CONF.rglob("*.yml")), "the name ends in .yaml"


@pytest.mark.parametrize(("group", "name"), COMPONENTS)
def test_an_option_is_its_protocol(group: str, name: str) -> None:
    made = component(group, name)
    assert isinstance(made, {**ONE, **MANY}[group])
    if group in ("task", "tracker", "engine"):  # no protocol of types.py: the runner's own
        wanted = {"task": ["run"], "engine": ["map"], "tracker": ["start", "finish", "finish_sweep"]}[group]
        assert all(callable(getattr(made, method)) for method in wanted)
    told = made.problems() if hasattr(made, "problems") else []
    assert all(isinstance(line, str) and line.strip() and "\n" not in line for line in told)


@pytest.mark.parametrize("group", sorted({group for group, name in OPTIONS if name == "none"}))
def test_none_is_nothing(group: str) -> None:
    assert group in ONE and leaves(CONF / group / "none.yaml") == {"_target_": None}


@pytest.mark.parametrize(("group", "name"), [o for o in OPTIONS if o[0] in MANY])
def test_the_key_is_the_file_name(group: str, name: str) -> None:
    """Two files with one key would merge into one component."""
    assert {key.partition(".")[0] for key in leaves(CONF / group / f"{name}.yaml")} == {name}


@pytest.mark.parametrize(("group", "name"), COMPONENTS)
def test_a_name_is_the_same_in_all_places(group: str, name: str) -> None:
    """conf/lane/lexical.yaml -> components.lane.lexical.Lexical; a preset points to a class of its group."""
    home = "runner" if group in ("engine", "task", "tracker") else "components"
    path = node(group, name)["_target_"]
    if (group, name) in modules():
        assert path == f"components.{group}.{name}.{camel(name)}"
    elif home == "components":
        module = path.split(".")[-2]
        assert path == f"components.{group}.{module}.{camel(module)}"
    assert path.startswith(f"{home}.")


@pytest.mark.parametrize(("group", "name"), modules())
def test_every_class_has_its_file_and_its_tests(group: str, name: str) -> None:
    made = {node(g, n)["_target_"] for g, n in COMPONENTS if g == group}
    assert f"components.{group}.{name}.{camel(name)}" in made, f"conf/{group}/{name}.yaml is missing"
    tests = "".join(p.read_text("utf-8") for p in (ROOT / "tests/component" / group).glob("test_*.py"))
    assert re.search(rf"\b({name}|{camel(name)})\b", tests), f"tests/component/{group} never names {name}"


@pytest.mark.parametrize(("group", "name"), COMPONENTS)
def test_numbers_live_in_the_yaml(group: str, name: str) -> None:
    given = node(group, name)
    cls = target(given["_target_"])
    parameters = inspect.signature(cls).parameters
    defaults = [key for key, p in parameters.items() if p.default is not p.empty]
    assert not defaults, f"give {defaults} in conf/{group}/{name}.yaml, not in {cls.__name__}"
    assert set(given) - {"_target_"} == set(parameters)


@pytest.mark.parametrize(("group", "name"), [o for o in COMPONENTS if o[0] != "task"])
def test_a_component_is_a_frozen_dataclass(group: str, name: str) -> None:
    cls = target(node(group, name)["_target_"])
    assert dataclasses.is_dataclass(cls) and cls.__dataclass_params__.frozen  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(CONF).as_posix())
def test_the_first_line_says_what_it_is(path: Path) -> None:
    lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    first = next(line for line in lines if not line.startswith("# @package"))
    assert re.match(r"# \S.{10,130}$", first), first


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(CONF).as_posix())
def test_no_secret_and_no_machine_in_a_file(path: Path) -> None:
    for key, value in leaves(path).items():
        assert value is None or not secret_key(key), f"{key} takes a secret: name a variable instead"
        assert looks_secret(f"{value}") is None, key
        assert not re.match(r"(/|~|[A-Z]:\\)", f"{value}"), f"{key} is a path of one machine"
    assert looks_secret(path.read_text("utf-8")) is None


def test_the_options_of_a_plural_group_stand_side_by_side() -> None:
    """As Hydra composes them: each keeps its key, in the order written."""
    groups = [group for group in MANY if names(group)]
    quoted = {group: ",".join(f'"{name}"' for name in names(group)[::-1]) for group in groups}
    lists = [f"{group}=[{options}]" for group, options in quoted.items()]
    (job,), problems = compose_all(["+experiment=dry", *lists], multirun=False)
    assert problems == []
    for group in groups:
        assert list(job.raw[group]) == names(group)[::-1]


@pytest.mark.parametrize(("group", "name"), RUNS)
def test_a_runnable_file_is_named_and_says_what_it_asks(group: str, name: str) -> None:
    comments = [line for line in text_of(group, name).splitlines() if line.startswith("#")]
    assert comments[0] == "# @package _global_"
    assert re.search(r"[.?]$", comments[1]) and question_of(group, name) == comments[1][2:]
    assert re.search(rf"python -m runner (-m )?\+{group}={name}\b", comments[2])
    assert leaves(CONF / group / f"{name}.yaml")["name"] == name


OUTSIDE = re.compile(r"no such file|environment variable|needs a value|is not set")


@pytest.mark.parametrize(("group", "name"), RUNS)
def test_a_runnable_file_composes_and_lacks_only_what_lies_outside(group: str, name: str) -> None:
    (job,), problems = compose_all([f"+{group}={name}", "data_dir=nowhere"], multirun=False)
    assert problems == [] and unknown_keys(job.raw) == []
    assert [line for line in check(job.raw) if not OUTSIDE.search(line)] == []
    if group == "reproduce":
        assert job.raw["expect"], "a reproduction holds the published values"
        assert any(row["at"] == "dataset/sha256" for row in job.raw["expect"])


def test_building_every_option_imports_nothing_heavy() -> None:
    """A list of experiments, a check, a worker: none of them pays for what it does not use."""
    code = (
        "import sys\n"
        "from tests.contract.options import COMPONENTS, component\n"
        "made = [component(*option) for option in COMPONENTS]\n"
        f"print(len(made), *[name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(len(COMPONENTS))]


@pytest.mark.gguf
def test_nor_llama_cpp_where_it_is_installed() -> None:
    assert importlib.util.find_spec("llama_cpp") and "llama_cpp" in HEAVY
    test_building_every_option_imports_nothing_heavy()
