"""What there is to run, each with its question."""

from __future__ import annotations

from runner.listing import choices, experiments, question_of
from tests.contract.options import CONF


def test_every_file_is_listed_with_its_question() -> None:
    listed = experiments()
    assert [title.rpartition(" ")[2] for title, _ in listed] == [
        "+experiment=NAME",
        "+reproduce=NAME",
        "+preset=NAME",
    ]
    for (_, rows), group in zip(listed, ("experiment", "reproduce", "preset"), strict=True):
        assert [name for name, _ in rows] == sorted(p.stem for p in (CONF / group).glob("*.yaml"))
        for name, question in rows:
            assert question == question_of(group, name)
            assert f"# {question}\n" in (CONF / group / f"{name}.yaml").read_text("utf-8")
            assert not question.startswith("@") and len(question) > 20


def test_choices_are_names_without_their_ending() -> None:
    assert choices("store") == ["lancedb", "sqlite"] and "none" in choices("tracker")
