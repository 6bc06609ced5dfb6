"""An endpoint that is down: told by its cause, no success, and nothing of it is frozen into the run."""

from __future__ import annotations

from pathlib import Path

from tests.loopback import Loopback, refuse, say
from tests.runner.running import resume, run


def line(url: str) -> tuple[str, ...]:
    endpoint = (f"llm.base_url={url}", "llm.api_key_env=null", "llm.model=m", "llm.retries=0")
    return ("+experiment=dry", "answerer=llm", *endpoint, "embedder=none", "lane=[lexical]")


def test_a_dead_endpoint_is_no_success_and_is_named(tmp_path: Path) -> None:
    ran = run(tmp_path, *line("http://127.0.0.1:9/v1"))
    assert ran.status == 1
    assert "no answer came from 127.0.0.1 (connection 26)" in ran.stdout
    assert "did not tell their tokens" not in ran.stdout
    assert ran.report["lexical"]["ours"]["facts"]["overall"]["accuracy"] is None


def test_what_an_outage_left_is_asked_again_and_nothing_else(tmp_path: Path) -> None:
    """Five answers, then the server fails; back again, the rest is asked, once each."""
    good, bad = say("I don't know."), refuse(503, "overloaded")
    with Loopback([good] * 5 + [bad]) as server:
        first = run(tmp_path, *line(server.url), "answering.concurrency=1")
        assert first.status == 0, "some answers came"
        assert [r.answer.reason for r in first.records if r.answer].count("server error") == 21
        server.script[:] = [good]
        before = len(server.requests)
        again = resume(first.folder, *line(server.url), "answering.concurrency=1")
        assert len(server.requests) - before == 21
    assert again.status == 0
    assert len(again.records) == len({record.key for record in again.records}) == 26
    assert all(record.answer and record.answer.status == "ok" for record in again.records)
