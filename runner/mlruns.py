"""Where MLflow's runs lie: the store's URI, the folder of artifacts, the lock, the command to look at them.

MLflow 3.17 refuses a folder as a store, and a relative SQLite path means another file in every folder: the
default is an absolute `sqlite:////.../mlruns/mlflow.db`.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from runner.provenance import ROOT, host_of
from runner.secrets import looks_secret

_SQLITE = "sqlite:///"
_SCHEMES = ("sqlite", "http", "https", "postgresql", "mysql", "mssql")


def store_uri(uri: str | None) -> str:
    """The URI as MLflow gets it. None: mlruns/ of the checkout, or of the current folder without one."""
    if uri is None:
        top = ROOT if (ROOT / "pyproject.toml").is_file() else Path.cwd()
        return f"{_SQLITE}{top / 'mlruns' / 'mlflow.db'}"
    if uri.startswith(_SQLITE):
        return f"{_SQLITE}{Path(uri.removeprefix(_SQLITE)).absolute()}"
    return uri


def database(uri: str) -> Path | None:
    """The SQLite file behind a URI of `store_uri`."""
    return Path(uri.removeprefix(_SQLITE)) if uri.startswith(_SQLITE) else None


def artifact_folder(uri: str, root: str | None, experiment: str) -> str | None:
    """Place for a new experiment's artifacts: an absolute folder (made), a URI, None: the server's choice."""
    file, name = database(uri), re.sub(r"[^a-zA-Z0-9_.-]", "_", experiment)
    if root is not None and "://" in root:
        return f"{root.rstrip('/')}/{name}"
    if root is not None:
        folder = Path(root).absolute() / name
    elif file is not None:
        folder = file.parent / "artifacts" / name
    else:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


def lock_path(uri: str) -> Path:
    """Beside the SQLite file; for a server, one per URI in the folder for temporary files."""
    file = database(uri)
    if file is not None:
        return file.with_name(f"{file.name}.lock")
    return Path(tempfile.gettempdir()) / f"crossjudge-{hashlib.sha256(uri.encode()).hexdigest()[:12]}.lock"


def ui_command(uri: str | None) -> str:
    """What to type to look at the runs; never a password."""
    where = store_uri(uri)
    if where.startswith(("http://", "https://")):
        scheme, host, port = where.partition("://")[0], host_of(where), urlsplit(where).port
        return f"open {scheme}://{host}{f':{port}' if port else ''}"
    if looks_secret(where):
        return 'mlflow ui --backend-store-uri "$MLFLOW_TRACKING_URI"'
    return f"mlflow ui --backend-store-uri {shlex.quote(where)}"


def uri_problems(uri: str | None) -> list[str]:
    """What is wrong with a tracking URI, before anything is spent. Reaches no server."""
    where = store_uri(uri)
    scheme = where.partition("://")[0].partition("+")[0]
    if "://" not in where or scheme not in _SCHEMES:
        kind = "folder" if scheme in ("file", where) else f"{scheme}:"
        return [
            f"tracker.uri: MLflow 3 takes no {kind} as a store;"
            " write sqlite:////absolute/path/mlflow.db or a server's http(s) address, or choose tracker=none"
        ]
    file = database(where)
    if file is None:
        return []
    if file.is_dir():
        return [f"tracker.uri: {file} is a folder; name a file in it, as {_SQLITE}{file}/mlflow.db"]
    parent = next(folder for folder in file.parents if folder.exists())
    return [] if parent.is_dir() else [f"tracker.uri: {parent} is a file, so {file} cannot be made"]
