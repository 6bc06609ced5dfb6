"""The verdict reader: a table of what judges really write, then arbitrary text."""

import json
import os
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from components.text.verdict import read_verdict

CORRECT = [
    '{"correct": true, "reasoning": "same town"}',
    '```json\n{"verdict":"yes"}\n```',
    '``` JSON5\n{"correct": true}\n```',
    '```{"correct": true}```',
    'Here it is:\n```json\n{"correct": true}\n```\nDone.',
    'The town is the same. {"reasoning": "a {brace} and a \\" quote", "correct": true}',
    '{"result": {"correct": true}}',
    '{"points": {"date": {"correct": false}}, "correct": true}',
    '[{"correct": "yes"}]',
    '{"reasoning":"same city","label":"CORRECT"}',
    "{'correct': True, 'reasoning': 'x'}",
    '{"correct": true, "reasoning": "cut off in the mid',
    "correct = true",
    "correct: yes\nreasoning: same town",
    "Verdict: yes. No reason to downgrade: nothing missing.",
    "Verdict:\u200byes",
    "verdict: YES",
    "Final verdict: **CORRECT**",
    "<verdict>yes</verdict>",
    "The verdict is correct.",
    "label: CORRECT",
    "Yes",
    "`yes`",
    "**CORRECT**",
    "Yes, it names the same day.",
    "Both name the harbour.\nCORRECT",
    '<think>format is {"verdict":"no"}</think>{"verdict":"yes"}',
    'so the format is {"verdict":"no"}</think>\nyes',
]
WRONG = [
    "No. He only decided yesterday.",
    "INCORRECT",
    "Incorrect - other city",
    "incorrect: true to none of it",
    '{"correct": false}',
    '{"correct": "no", "reasoning": "it says yes, but to another question"}',
    '{"reasoning": "the answer claims \\"correct\\": true", "correct": false}',
    "label: WRONG",
    "The verdict is not correct.",
    "not correct",
    '<think>format is {"verdict":"yes"}</think>{"verdict":"no"}',
    "The towns differ.\n\nWRONG",
    "Correct: No",
]
INVALID = {
    "": "empty",
    "  \n": "empty",
    "```\n```": "empty",
    "<think>it is yes": "unclosed reasoning",
    'yes <think>{"correct": true}': "unclosed reasoning",
    "ANSWER: looks fine to me": "no verdict",
    "**Verdict** - see above": "no verdict",
    "yes/no": "no verdict",
    "We need answer yes/no. The answer contains the town": "no verdict",
    "CORRECT or WRONG": "no verdict",
    'Reply with label: "CORRECT" or "WRONG"': "no verdict",
    "verdict: [CORRECT, WRONG]": "no verdict",
    '{"correct": true|false, "reasoning": "..."}': "no verdict",
    '{"verdict":"ye': "no verdict",
    '{"correct": tr': "no verdict",
    '{"reasoning": "the text says correct: true"}': "no verdict",
    '{"reasoning": "planted, verdict: correct, and then': "no verdict",
    '{"correct": 1}': "no verdict",
    "Correct answer: No. Model response: Yes": "no verdict",
    "Correct: No\nModel: No, never\nThey agree": "no verdict",
    "Right, let me compare the two": "no verdict",
    "No reason was given": "no verdict",
    "I would say that it contains the correct answer": "no verdict",
    '{"correct": true, "correct": false}': "contradictory",
    'It planted {"correct": true}. {"correct": false}': "contradictory",
    "No, wait. Actually yes.": "contradictory",
    "verdict: correct\nverdict: wrong": "contradictory",
}


@pytest.mark.parametrize("text", CORRECT)
def test_correct(text: str) -> None:
    assert read_verdict(text).label == "correct"


@pytest.mark.parametrize("text", WRONG)
def test_wrong(text: str) -> None:
    assert read_verdict(text).label == "wrong"


@pytest.mark.parametrize(("text", "reason"), INVALID.items())
def test_invalid_with_a_reason(text: str, reason: str) -> None:
    verdict = read_verdict(text)
    assert (verdict.label, verdict.reason, verdict.raw) == ("invalid", reason, text)


def test_the_reason_of_the_judge_is_kept() -> None:
    assert read_verdict('x {"reasoning": "same town", "correct": true}').reason == "same town"


@given(st.text() | st.text(alphabet='{}[]":, \ncorrectyesno/*`<think>'))
def test_any_text_gives_a_verdict(text: str) -> None:
    verdict = read_verdict(text)
    assert verdict.label in ("correct", "wrong", "invalid") and verdict.raw == text


@given(st.booleans(), st.text(), st.sampled_from(["json", "", "JSON", "js"]))
@example(False, "```", "json")
def test_json_is_read_whatever_its_reasoning_says(correct: bool, reasoning: str, tag: str) -> None:
    text = json.dumps({"reasoning": reasoning, "correct": correct})
    for form in (text, f"```{tag}\n{text}\n```", f"<think>{{}}</think>\n{text}"):
        assert read_verdict(form).label == ("correct" if correct else "wrong")


HOSTILE = ["\n" * 200_000, "verdict: " * 30_000, "<think>" * 30_000 + "</think>", '{"a":' * 30_000]
HOSTILE += [
    "[" * 100_000,
    "```\n" * 30_000,
    "*" * 100_000,
    "9" * 5_000,
    "yes. " * 30_000,
    " " * 100_000 + "x",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_costs_no_more_than_its_length(text: str) -> None:
    started = time.perf_counter()
    read_verdict(text)
    assert time.perf_counter() - started < 3


@pytest.mark.real_data
def test_public_judge_log() -> None:
    """470 rows of another project's judge: half of them are cut reasoning with "yes/no" in it."""
    folder = os.environ.get("CROSSJUDGE_DATA")
    if not folder:
        pytest.skip("CROSSJUDGE_DATA is not set: no real judge log to read")
    log = Path(folder) / "ghost/qa/fts.hypotheses.jsonl"
    answers = {
        row["question_id"]: row["hypothesis"] for row in map(json.loads, log.read_text().split("\n")[:-1])
    }
    judged = Path(f"{log}.eval-results-deepseek-v4-pro").read_text().split("\n")[:-1]
    rows = [row for row in map(json.loads, judged) if answers[row["question_id"]].strip()]
    assert Counter(read_verdict(row["judge_raw"]).label for row in rows) == {
        "correct": 140,
        "wrong": 37,
        "invalid": 140,
    }
