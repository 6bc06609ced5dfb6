"""provenance.json names the code, the packages and the command, and nobody."""

import getpass
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta, timezone
from importlib import metadata
from pathlib import Path

import pytest

from runner import provenance as module
from runner.provenance import Given, command, file_sha256, host_of, provenance, text_sha256, without_home

GIVEN = Given(
    datasets={"fixture.json": "ab" * 32}, models={}, prompts={"answer": text_sha256("p")}, seeds={"seed": 7}
)
START = datetime(2026, 11, 30, 21, 10, tzinfo=timezone(timedelta(hours=1)))


@pytest.fixture(scope="module")
def made() -> dict[str, object]:
    return provenance(["+experiment=dry"], GIVEN, START, datetime(2026, 11, 30, 20, 11, 5, tzinfo=UTC))


def test_it_is_json_with_all_parts(made: dict[str, object]) -> None:
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert made["start"] == "2026-11-30T20:10:00Z"
    assert made["end"] == "2026-11-30T20:11:05Z"
    assert made["command"] == "python -m runner +experiment=dry"
    assert made["python"] == platform.python_version()
    assert made["datasets"] == {"fixture.json": "ab" * 32}
    assert made["prompts"] == {"answer": hashlib.sha256(b"p").hexdigest()}
    assert made["seeds"] == {"seed": 7}
    assert provenance([], GIVEN, START)["end"] is None


def test_packages_are_the_direct_dependencies_with_their_installed_versions(made: dict[str, object]) -> None:
    packages = made["packages"]
    assert isinstance(packages, dict)
    assert packages["mlflow"] == metadata.version("mlflow")
    assert packages["hydra-core"] == metadata.version("hydra-core")
    assert "pytest" not in packages and "alembic" not in packages
    assert None not in packages.values()


def test_nobody_is_named(made: dict[str, object]) -> None:
    text = json.dumps(made)
    assert str(Path.home()) not in text
    assert not re.search(rf"\b{re.escape(platform.node())}\b", text) if len(platform.node()) > 3 else True
    if len(getpass.getuser()) > 4:
        assert getpass.getuser() not in text


def test_the_command_holds_no_secret_and_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/srv/people/jane")
    argv = [
        "dataset.path=/srv/people/jane/data/f.json",
        "x=/home/jo/y",
        "answer.api_key=short",
        "note=shell-value-1",
        "Bearer abcdef0123456789",
        "prompt=two words",
        f"out={module.ROOT}/outputs",
    ]
    made = command(argv, {"MY_TOKEN": "shell-value-1"})
    assert made == (
        "python -m runner 'dataset.path=~/data/f.json' 'x=~/y' 'answer.api_key=***' 'note=***' '***'"
        " 'prompt=two words' out=outputs"
    )


def test_a_longer_folder_name_is_not_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/root")
    assert without_home("/root/x /rootless/y /root") == "~/x /rootless/y ~"


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://API.example.com/v1", "api.example.com"),
        ("https://jane:pw@host.example:8443/v1?api_key=1#f", "host.example"),
        ("api.example.com/v1", "api.example.com"),
        ("http://[::1]:8080/v1", "::1"),
        ("http://[::1", None),
        ("", None),
    ],
)
def test_only_the_host_of_a_url_is_told(url: str, host: str | None) -> None:
    assert host_of(url) == host


def test_hash_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"abc")
    assert file_sha256(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert file_sha256(tmp_path / "missing") is None


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A real repository in place of the checkout."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    monkeypatch.setattr(module, "ROOT", tmp_path.resolve())
    module.git_commit.cache_clear()
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    who = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    (tmp_path / "a").write_text("1")
    for arguments in (["init", "-q"], ["add", "a"], [*who, "commit", "-q", "-m", "m"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, env=environ)
    monkeypatch.setenv("GIT_DIR", "/nowhere")  # as inside a git hook: must not mislead
    return tmp_path


@pytest.fixture(autouse=True)
def _forget() -> object:
    yield
    module.git_commit.cache_clear()


def test_git_commit_and_dirty(repository: Path) -> None:
    commit = module.git_commit()
    assert commit is not None and re.fullmatch(r"[0-9a-f]{40}", commit)
    assert module.git_dirty() is False
    (repository / "b").write_text("new")
    assert module.git_dirty() is True


def test_a_repository_around_the_package_is_not_ours(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = repository / "site-packages"
    inner.mkdir()
    monkeypatch.setattr(module, "ROOT", inner)
    assert module.git_commit() is None
    assert module.git_dirty() is None


def test_without_git_and_without_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module.git_commit.cache_clear()
    monkeypatch.setattr(module, "ROOT", tmp_path)
    assert module.git_commit() is None
    module.git_commit.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert module.git_commit() is None
    assert provenance([], GIVEN, START)["git"] == {"commit": None, "dirty": None}
    assert provenance([], GIVEN, START)["lock_sha256"] is None
