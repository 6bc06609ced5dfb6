"""MLflow's client: opened quietly and under a lock, asked patiently. The only module that imports mlflow.

Its import takes 2 s, so it happens at the first use.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from filelock import FileLock

from runner.mlruns import lock_path
from runner.provenance import without_home
from runner.secrets import masked, masker
from runner.tables import Split

T = TypeVar("T")
Clean = Callable[[str], str]

LONGEST = (
    500  # characters of a param or tag: MLflow cuts at 6,000 and 8,000, and two configs look equal (F144)
)
DESCRIBED = 6000
_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_LOGGING_LEVEL": "CRITICAL",  # what matters comes back as a TrackerError
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",  # by default a dead server is asked for minutes
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
    "GIT_PYTHON_REFRESH": "quiet",
}
_WAITS = (0.2, 1.0, 3.0)  # seconds; SQLite itself waits up to 20 each time


class TrackerError(RuntimeError):
    """Logging to MLflow failed. Nothing is lost: the message says how to log the folder again."""


def cleaner() -> Clean:
    """What every text passes before it is sent: secrets become ***, home folders ~."""
    mask = masker(os.environ)
    return lambda text: without_home(mask(text))


@contextmanager
def opened(uri: str) -> Iterator[Any]:
    """An MlflowClient of a store that is there, under the lock: two that make one at once break it (F142)."""
    make = _quiet_import()  # not under the lock: it takes as long as all the rest
    lock_path(uri).parent.mkdir(parents=True, exist_ok=True)
    with FileLock(lock_path(uri), timeout=300):
        yield call(make, uri)


def _quiet_import() -> Callable[[str], Any]:
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # MLflow's own, against SQLAlchemy
        from mlflow import MlflowClient

        importlib.import_module("mlflow.store.tracking.sqlalchemy_store")  # else at the first SQLite URI
    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.CRITICAL)

    def make(uri: str) -> Any:
        client = MlflowClient(uri)
        client.search_experiments(max_results=1)  # makes the tables of a fresh store
        return client

    return make


def call(function: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """`function(...)`, again when the database is locked by another run. Raises what it raises."""
    for wait in _WAITS:
        try:
            return function(*arguments, **named)
        except _failures() as error:
            if "locked" not in str(error):
                raise
            time.sleep(wait)
    return function(*arguments, **named)


@contextmanager
def explained(advice: str) -> Iterator[None]:
    """Whatever goes wrong in a store, a file or a connection becomes a TrackerError with the advice."""
    try:
        yield
    except _failures() as error:
        if isinstance(error, TrackerError) and advice in str(error):
            raise
        reason = masked(str(error), os.environ).strip().partition("\n")[0][:300] or type(error).__name__
        raise TrackerError(f"not logged to MLflow: {reason}; {advice}") from error


def _failures() -> tuple[type[Exception], ...]:
    """ValueError: a torn JSON file or record. OSError: files, the lock, sockets."""
    known: tuple[type[Exception], ...] = (OSError, ValueError, ImportError, TrackerError)
    try:
        from alembic.util import CommandError
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        return known
    return (*known, MlflowException, SQLAlchemyError, CommandError)


def fitting(text: str) -> str:
    """A param's or tag's value: the text, or the hash of a long or many-lined one."""
    if len(text) <= LONGEST and "\n" not in text:
        return text
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def log_params(client: Any, run: str, values: Mapping[str, str]) -> None:
    """Params; the whole of a long value becomes the artifact params/<name>.txt."""
    from mlflow.entities import Param

    for name, value in values.items():
        if fitting(value) != value:
            call(client.log_text, run, value, f"params/{name}.txt")
    call(client.log_batch, run, params=[Param(name, fitting(value)) for name, value in values.items()])


def log_numbers(client: Any, run: str, values: Mapping[str, float], tags: Mapping[str, str]) -> None:
    """Metrics and tags in one batch: 50 metrics one by one take seven times as long."""
    from mlflow.entities import Metric, RunTag

    now = int(time.time() * 1000)
    call(
        client.log_batch,
        run,
        metrics=[Metric(name, value, now, 0) for name, value in values.items()],
        tags=[RunTag(name, fitting(value)) for name, value in tags.items()],
    )


def log_table(client: Any, run: str, name: str, table: Split, clean: Clean) -> None:
    """An artifact that MLflow's pages show as a table. client.log_table would append to what is there."""
    call(client.log_text, run, clean(json.dumps(table, ensure_ascii=False, allow_nan=False)), name)
    call(client.set_tag, run, "mlflow.loggedArtifacts", json.dumps([{"path": name, "type": "table"}]))


def log_description(client: Any, run: str, text: str) -> None:
    """The text at the top of a run's page, Markdown; the first lines of a long one."""
    if len(text) > DESCRIBED:
        text = text[:DESCRIBED].rpartition("\n")[0] + "\n\n… the rest stands in the artifact report.md"
    call(client.set_tag, run, "mlflow.note.content", text)


def log_dataset(client: Any, run: str, dataset: Mapping[str, Any]) -> None:
    """The report's dataset as MLflow knows it: a column of the run list."""
    from mlflow.entities import Dataset, DatasetInput

    digest = str(dataset.get("content_sha256") or dataset.get("sha256") or "unknown")[:12]
    source = json.dumps({"uri": str(dataset.get("path_name"))})
    entity = Dataset(str(dataset.get("name"))[:500], digest, "local", source, None, None)
    call(client.log_inputs, run, datasets=[DatasetInput(entity, [])])
