"""Where runs lie, told before anything is spent."""

import subprocess
import sys
from pathlib import Path

import pytest

from runner.mlruns import store_uri, ui_command
from runner.provenance import ROOT
from runner.tracking import Mlflow


@pytest.mark.parametrize("uri", ["./mlruns", "file:./mlruns", "file:///tmp/mlruns", "redis://x/1", "mlruns"])
def test_a_store_that_mlflow_refuses_is_told_before_the_run(uri: str) -> None:
    assert "sqlite:////" in Mlflow(uri, None, None).problems()[0]


def test_a_store_that_cannot_be_made_is_told_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "is a folder" in Mlflow(f"sqlite:///{tmp_path}", None, None).problems()[0]
    assert "is a file" in Mlflow(f"sqlite:///{tmp_path}/file/a/m.db", None, None).problems()[0]
    assert Mlflow(f"sqlite:///{tmp_path}/new/m.db", None, None).problems() == []
    assert Mlflow(None, None, None).problems() == []
    assert Mlflow("https://u:p@host/x", None, None).problems() == []


def test_the_default_store_is_absolute_and_the_hint_shows_no_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert store_uri(None) == f"sqlite:///{ROOT}/mlruns/mlflow.db"
    assert store_uri("sqlite:///a/m.db") == f"sqlite:///{tmp_path}/a/m.db"
    monkeypatch.setattr("runner.mlruns.ROOT", tmp_path / "no checkout")
    assert store_uri(None) == f"sqlite:///{tmp_path}/mlruns/mlflow.db"
    assert ui_command("sqlite:////a b/m.db") == "mlflow ui --backend-store-uri 'sqlite:////a b/m.db'"
    assert ui_command("https://u:pw@Host.example:8443/x?y=1") == "open https://host.example:8443"
    assert "pw" not in ui_command("postgresql://u:pw@host/db")


def test_importing_the_tracker_does_not_import_mlflow() -> None:
    code = "import sys, runner.tracking; sys.exit('mlflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
