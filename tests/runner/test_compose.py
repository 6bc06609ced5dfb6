"""Command lines that Hydra refuses or takes in silence: each gets the place, the fault and the right name."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.compose import compose_all
from runner.keys import RUNNABLE, lost, repeated, repeated_in, unknown_keys
from runner.listing import choices
from runner.nearest import near, nearest
from tests.runner.commands import said

# arguments -> how the only problem begins; Hydra alone would stop at each, in other words
REFUSED = {
    "embeder=static": "embeder=static: there is no key 'embeder'; did you mean 'embedder'?",
    "lane.lexica.max_terms=1": "lane.lexica.max_terms=1: there is no key 'lane.lexica'; did you mean 'lex",
    "lane.lexical.x=1": "lane.lexical.x=1: there is no key 'lane.lexical.x'; there is max_terms",
    "judge=[facts,factss]": "judge=[facts,factss]: judge has no choice 'factss'; did you mean 'facts'?",
    "store=none": "store=none: store has no choice 'none'; there is lancedb, sqlite",
    "store=null": "store=null: store has no choice 'null'; there is lancedb, sqlite",
    "competitor=[null]": "competitor=[null]: null stands for nothing; quote the name: 'competitor=[",
    "+experiment=dry +experiment=qa": "+experiment=qa: only one experiment at a time",
    "~lane": "~lane: cannot be left out so",
    "answerer=extractive ~rubric": "~rubric: cannot be left out so",
    "store.embedder.batch=5": "store.embedder.batch=5: store.embedder is a copy; write embedder.batch",
    "+store.embedder.x=5": "+store.embedder.x=5: store.embedder is a copy; write embedder.x",
    "answerer=extractive +answerer.languages.en.x=1": "+answerer.languages.en.x=1: answerer.languages is",
    "'data_dir=${oc.env:NOT_THERE_4711}'": 'data_dir=${oc.env:NOT_THERE_4711}: "Environment variable',
    "'data_dir=${nowhere}'": "data_dir=${nowhere}: Interpolation key 'nowhere' not found",
    "extra": "extra: is not key=value; a sweep is -m",
    "''": "an empty argument: is not key=value",
    "seed=1,2": "seed=1,2: several values need -m",
    "llm.modle=x": "llm.modle=x: there is no key 'llm.modle'; did you mean 'model'?",
    "workers=0": "workers=0: there is no key 'workers'; did you mean 'engine.workers'?",
    "worker=2": "worker=2: there is no key 'worker'; did you mean 'engine.workers'?",
    "concurrency=2": "concurrency=2: there is no key 'concurrency'; did you mean 'answering.concurrency'?",
    "judge=[facts,facts]": "judge=[facts,facts]: judge names 'facts' twice; leave one out",
    "lane=[lexical,dense,lexical]": "lane=[lexical,dense,lexical]: lane names 'lexical' twice; leave one out",
    "hydra.run.dir=/x": "hydra.run.dir=/x: the runner makes the folders itself; write output_dir=FOLDER",
    "hydra.run.dri=/x": "hydra.run.dri=/x: the runner makes the folders itself; write output_dir=FOLDER",
    "hydra.sweep.dir=/x": "hydra.sweep.dir=/x: the runner makes the folders itself; write output_dir=FOLDER",
    "~hydra.run": "~hydra.run: the runner makes the folders itself; write output_dir=FOLDER",
    "+hydra.lancher.n=1": "+hydra.lancher.n=1: there is no key 'hydra.lancher'; did you mean 'launcher'?",
    "+hydra.typo=1": "+hydra.typo=1: there is no key 'hydra.typo'; there is callbacks, env, help",
    "hydra.verbose=true": "hydra.verbose=true: without -m nothing reads Hydra's own settings; leave it out",
}
# Hydra takes these, and a run would use a default or fall over the gap.
TAKEN = {
    "~store": "store: a run needs one",
    "~tracker": "tracker: for none write tracker=none",
    "~depth": "depth: expected a whole number, got nothing",
    "+rubric.promt=x": "rubric.promt: nothing reads this key; did you mean 'prompt'?",
    "+llm.modle=x": "llm.modle: OpenaiChat has no such parameter; did you mean 'model'?",
    "+embedder.max_char=3": "embedder.max_char: Static has no such parameter; did you mean 'max_chars'?",
    "+workers=2": "workers: nothing reads this key; did you mean 'engine.workers'?",
    "+pipeline.overfech=3": "pipeline.overfech: there is no such key; did you mean 'overfetch'?",
    "name=../elsewhere": "name: expected a text made of letters",
}


@pytest.mark.parametrize("line", REFUSED)
def test_a_refused_override_is_told_with_the_right_name(line: str) -> None:
    _, problems = compose_all(shlex.split(line), multirun=False)
    assert len(problems) == 1 and problems[0].startswith(REFUSED[line]), problems
    assert "_target_" not in problems[0] and len(problems[0]) < 500


@pytest.mark.parametrize("line", TAKEN)
def test_an_override_that_would_be_ignored_is_told(line: str) -> None:
    told = said("+experiment=dry", *shlex.split(line))
    assert told.status == 2 and told.out == ""
    assert len(told.problems) == 1 and told.problems[0].startswith(TAKEN[line]), told.err


@pytest.mark.parametrize("line", ["store=glob(zzz*)", "store=sqlite,lanced"])
def test_a_sweep_is_looked_at_whole(line: str) -> None:
    jobs, problems = compose_all([line], multirun=True)
    assert problems == [
        "the sweep has no job: a glob or a list matched nothing"
        if not jobs
        else "store=lanced: store has no choice 'lanced'; did you mean 'lancedb'?"
    ]


SWEPT = {
    "hydra/launcher=basic": [],
    "hydra/launcher=joblb": ["hydra/launcher=joblb: hydra/launcher has no choice 'joblb'; there is basic"],
    "+hydra.job.env_set.A=1": [],
    "hydra.sweep.dir=/x": [
        "hydra.sweep.dir=/x: the runner makes the folders itself; write output_dir=FOLDER"
    ],
    "hydra.mode=RUN": ["hydra.mode=RUN: a sweep is -m"],
    "+hydra.sweper.x=1": ["+hydra.sweper.x=1: there is no key 'hydra.sweper'; did you mean 'sweeper'?"],
    "judge=[facts],[overlap,overlap]": [
        "judge=[overlap,overlap]: judge names 'overlap' twice; leave one out"
    ],
}


@pytest.mark.parametrize("line", SWEPT)
def test_in_a_sweep_hydras_own_settings_count_where_they_are_read(line: str) -> None:
    _, problems = compose_all(["+experiment=dry", line], multirun=True)
    assert problems == SWEPT[line]


def test_a_name_twice_in_an_experiments_own_list_is_told() -> None:
    """Hydra takes [facts, facts] for [facts]: the second judge that was meant is missing in silence."""
    defaults = [{"override /judge": ["facts", "facts", "overlap"]}, {"override /store": "sqlite"}, "_self_"]
    assert repeated_in("mine.yaml", defaults) == ["mine.yaml: judge names 'facts' twice; leave one out"]
    assert [p for group in RUNNABLE for name in choices(group) for p in repeated(f"+{group}={name}")] == []


NAMES = ("model", "mode", "max_terms", "sentences", "workers", "overfetch", "embedder")


@given(st.sampled_from(NAMES), st.data())
def test_two_letters_swapped_find_the_name(name: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(name) - 2))
    swapped = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    assert nearest(swapped, NAMES) == name
    assert nearest(swapped.upper(), NAMES) == name


def test_every_mistake_is_told_and_none_twice() -> None:
    told = said(
        "+experiment=dry", *shlex.split("store=lanced k=[] +dept=1 judge.facts.x=1 lane=[lexicall] note=#")
    )
    starts = [line.partition(":")[0] for line in told.problems]
    assert starts == ["note=#", "store=lanced", "lane=[lexicall]", "judge.facts.x=1", "dept", "k"]


@pytest.mark.parametrize("value", ["a=b", "李", 'say "a, b": {x} [y] $HOME \\', "http://host/v1?a=b\\\\"])
def test_what_the_message_says_to_write_can_be_written(value: str) -> None:
    """F134: copied from the message, through a shell, the value arrives as it was meant."""
    _, (line,) = compose_all([f"rubric.system={value}"], multirun=False)
    (argument,) = shlex.split(line.rpartition("need quotes: ")[2])
    ((job,), problems) = compose_all([argument], multirun=False)
    assert problems == [] and job.raw["rubric"]["system"] == value


def test_quotes_keep_a_text_whole() -> None:
    (job,), problems = compose_all(["+experiment=dry", "rubric.system=\"a, b: {c} = 'd'\""], multirun=False)
    assert problems == [] and job.raw["rubric"]["system"] == "a, b: {c} = 'd'"


@settings(max_examples=10, deadline=None)
@given(st.text(max_size=20).filter(lambda text: "\0" not in text))
def test_any_argument_gets_an_answer_and_no_traceback(argument: str) -> None:
    jobs, problems = compose_all([f"rubric.system={argument}"], multirun=False)
    assert problems or json.dumps(jobs[0].raw["rubric"]["system"]) is not None


def test_a_copy_follows_its_node() -> None:
    """The answerer's model is the llm group's, a judge's preset is its own."""
    (job,), problems = compose_all(
        ["answerer=llm", "judge=[gpt_4o]", "llm=claude_sonnet", "llm.max_tokens=7"], False
    )
    assert problems == []
    assert job.raw["answerer"]["llm"]["model"] == "claude-sonnet-4-6"
    assert job.raw["answerer"]["llm"]["max_tokens"] == 7
    assert job.raw["judge"]["gpt_4o"]["llm"]["model"] == "gpt-4o-2024-11-20"


def test_lists_choose_order_and_emptiness() -> None:
    (job,), problems = compose_all(
        ["factor=[trust,recency]", "filter=[]", "competitor=[full_context]"], False
    )
    assert problems == [] and list(job.raw["factor"]) == ["trust", "recency"]
    assert "filter" not in job.raw and list(job.raw["competitor"]) == ["full_context"]
    assert unknown_keys(job.raw) == []


def test_what_hangs_on_a_wrong_choice_is_not_told() -> None:
    _, problems = compose_all(["store=lanced", "store.fts.stem=false", "note=1"], multirun=False)
    assert [line.partition(":")[0] for line in problems] == ["store=lanced", "note=1"]
    _, problems = compose_all(["+experiment=drry", "judge.facts.max_words=3"], multirun=False)
    assert [line.partition(":")[0] for line in problems] == ["+experiment=drry"]


def test_where_a_key_leaves_the_config() -> None:
    tree = {"a": {"b": 1, "c": {"_target_": "x", "word": 2}}, "d": "${a.c}"}
    assert lost("a.b", tree) is None and lost("a.c", tree) is None
    assert lost("a.c.wort", tree) == "there is no key 'a.c.wort'; did you mean 'word'?"
    assert lost("d.word", tree) == "d is a copy; write a.c.word"
    assert lost("a.b.c", tree) == "there is no key 'a.b.c'"
    assert (
        near("bee", ["bea", "x"]) == "; did you mean 'bea'?" and near("zz", ["b", "a"]) == "; there is a, b"
    )
    assert near("zz", []) == "; there is none"


def test_a_key_that_stands_deeper_is_named_whole() -> None:
    tree = {"engine": {"workers": 1}, "a": {"llm": {"word": 1}}, "llm": {"word": 1}, "k": 1, "copy": "${llm}"}
    assert lost("workers", tree) == "there is no key 'workers'; did you mean 'engine.workers'?"
    assert lost("word", tree) == "there is no key 'word'; did you mean 'llm.word'?", "not the copy's"
    assert lost("enigne", tree) == "there is no key 'enigne'; did you mean 'engine'?"
    tree["other"] = {"word": 2}
    assert lost("word", tree) == "there is no key 'word'; did you mean 'llm.word' or 'other.word'?"
    assert lost("a.word", tree) == "there is no key 'a.word'; there is llm", (
        "a dotted key is looked for there"
    )
