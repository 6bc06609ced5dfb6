"""The command line in fresh interpreters: what it lists, what it refuses and in which words."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runner.listing import choices
from tests.component.dataset.shapes import qa, talk
from tests.loopback import Loopback, refuse, say
from tests.runner.commands import Said, command

# name -> (arguments, what the one message must say). All end with status 2 and run nothing.
REFUSED = {
    "an unknown option": (["--cfg"], ["--cfg: there is no such option", "-m"]),
    "no experiment": (["store=sqlite"], ["no experiment named", "+experiment=NAME"]),
    "an unknown experiment": (  # F137: what there is, in a few lines
        ["+experiment=smok"],
        ["experiment has no choice 'smok'", *choices("experiment")],
    ),
    "an experiment without +": (["experiment=dry"], ["experiment=dry: write +experiment=dry"]),
    "an experiment without anything": (["dry"], ["dry: write +experiment=dry"]),
    "a mistyped choice": (["+experiment=dry", "store=lanced"], ["did you mean 'lancedb'?"]),
    "a mistyped key": (
        ["+experiment=dry", "judge.facts.max_wrds=1"],
        ["there is no key 'judge.facts.max_wrds'", "did you mean 'max_words'?"],
    ),
    "a mistyped key with +": (  # F136: Hydra adds it, and nobody reads it
        ["+experiment=dry", "+judge.facts.max_wrds=1"],
        ["judge.facts.max_wrds: Facts has no such parameter", "did you mean 'max_words'?"],
    ),
    "a new key": (["+experiment=dry", "+dept=1"], ["dept: nothing reads this key", "did you mean 'depth'?"]),
    "k beyond depth": (["+experiment=dry", "k=[1,100]", "depth=20"], ["depth=20", "k=100"]),  # F47
    "a sweep without -m": (
        ["+experiment=dry", "fusion.weights.dense=0.3,0.7"],
        ["fusion.weights.dense=0.3,0.7: several values need -m"],
    ),
    "a value that needs quotes": (  # F134
        ["+experiment=dry", "rubric.system=a=b", "answerer.abstention=李"],
        ["'rubric.system=\"a=b\"'", "'answerer.abstention=\"李\"'"],
    ),
    "a sweep over nothing": (["-m", "+reproduce=glob(zzz*)"], ["matched nothing"]),
    "a missing key variable": (  # F118: before anything is ingested
        ["+experiment=dry", "judge=[facts,gpt_4o]"],
        ["judge.gpt_4o", "environment variable OPENAI_API_KEY is not set"],
    ),
}
PLAIN = "4711horsebatterystaple"  # nothing in it looks like a key
SECRET = "sk-test-4711aBcDeFgHiJkLmNoP"


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Said]:
    """Two interpreters at a time: their starts are what takes the time here."""
    out = tmp_path_factory.mktemp("refused") / "outputs"
    with ThreadPoolExecutor(2) as pool:
        jobs = {
            name: pool.submit(
                command, *argv, *([] if len(argv) == 1 else [f"output_dir={out}", "tracker=none"])
            )
            for name, (argv, _) in REFUSED.items()
        }
        found = {name: job.result() for name, job in jobs.items()}
    assert not out.exists(), "a refused set-up writes nothing"
    return found


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_set_up_is_one_short_message(refusals: dict[str, Said], name: str) -> None:
    said, (_, needles) = refusals[name], REFUSED[name]
    _is_one_message(said)
    assert [needle for needle in needles if needle not in said.err] == [], said.err
    assert len(said.err.splitlines()) <= 10


def _is_one_message(said: Said) -> None:
    assert (said.status, said.out) == (2, "")
    assert "Traceback" not in said.err and "\x1b" not in said.err
    first, *rest = said.err.splitlines()
    told = re.match(r"nothing was run: (\d+) things? to put right$", first)
    assert told and int(told[1]) == len(rest) == len(said.problems)


def test_alone_it_lists_every_experiment(tmp_path: Path) -> None:
    said = command(cwd=tmp_path)
    assert said.status == 0 and said.err == ""
    for group in ("experiment", "reproduce"):
        for name in choices(group):
            assert re.search(rf"^  {name} +\S.{{20,}}$", said.out, re.MULTILINE)
    assert "python -m runner +experiment=" in said.out and "-m +experiment=" in said.out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("argv", "variables"),
    [
        (["+experiment=dry", f"+answerer.api_key={SECRET}"], {}),
        (["+experiment=dry", f"+note={PLAIN}"], {"SOME_API_KEY": PLAIN}),  # what note=$SOME_API_KEY becomes
        (["+experiment=dry", f"llm.base_url=https://me:{SECRET}@host.example/v1"], {}),
    ],
)
def test_a_secret_on_the_command_line_is_refused_and_never_repeated(
    tmp_path: Path, argv: list[str], variables: dict[str, str]
) -> None:
    """F132: Hydra would write it to three files before the job starts."""
    said = command(*argv, cwd=tmp_path, **variables)
    _is_one_message(said)
    assert "argument 2" in said.err and "_env=NAME" in said.err
    assert SECRET[8:] not in said.err and PLAIN[4:] not in said.err
    assert list(tmp_path.iterdir()) == []


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    """A bad override, a missing file, a truncated file, a missing variable: one message names all four."""
    whole = json.dumps([talk([qa()])])
    (tmp_path / "cut.json").write_text(whole[: len(whole) // 2], "utf-8")
    said = command(
        "+experiment=dry",
        f"data_dir={tmp_path}",
        f"output_dir={tmp_path / 'outputs'}",
        "dataset=locomo",
        "dataset.path=cut.json",
        "embedder=precomputed",
        "embedder.path=vectors.jsonl",
        "judge=[facts,gpt_4o]",
        "judge.facts.max_wrds=3",
        "+context.hitss=3",
    )
    _is_one_message(said)
    wanted = {
        "judge.facts.max_wrds=3": ["did you mean 'max_words'?"],
        "context.hitss": ["did you mean 'hits'?"],
        "dataset": [str(tmp_path / "cut.json"), f"{len(whole) // 2:,} bytes", "a cut file", "fetch the file"],
        "embedder": [str(tmp_path / "vectors.jsonl"), "no file", "put it there"],
        "judge.gpt_4o": ["OPENAI_API_KEY", "export it"],
    }
    assert len(said.problems) == len(wanted), said.err
    for where, needles in wanted.items():
        (line,) = [line for line in said.problems if line.startswith(f"{where}:")]
        assert [needle for needle in needles if needle not in line] == [], line
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cut.json"]


BAD_FILES = {  # F24: what each looks like, instead of "Expecting value: line 1 column 1"
    "pointer": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 2805274\n",
        "git-LFS pointer",
    ),
    "page": (b"<!DOCTYPE html><html>Sign in</html>", "an HTML page"),
    "packed": (b"\x1f\x8b\x08\x00cut", "a cut or damaged gzip file"),
    "nothing": (b"", "an empty file"),
}


def test_a_data_file_that_is_none_is_recognised(tmp_path: Path) -> None:
    """In one sweep, so that the four are told at once."""
    for name, (content, _) in BAD_FILES.items():
        (tmp_path / f"{name}.json").write_bytes(content)
    files = ",".join(f"{name}.json" for name in BAD_FILES)
    said = command(
        "-m",
        "+experiment=dry",
        "dataset=longmemeval",
        f"data_dir={tmp_path}",
        f"dataset.path={files},gone.json",
    )
    _is_one_message(said)
    assert len(said.problems) == 5
    for name, (content, looks) in BAD_FILES.items():
        (line,) = [line for line in said.problems if line.startswith(f"dataset: {tmp_path / name}.json")]
        assert looks in line and f"{len(content):,} bytes" in line and line.count(";") == 1
    assert "no such file" in said.err and "nothing is ever downloaded" in said.err


def test_a_resolved_secret_reaches_no_file(tmp_path: Path) -> None:
    """F133: a user and password in OPENAI_BASE_URL, a key in the environment: a run's folder has neither."""
    said = command(
        "+experiment=dry",
        f"output_dir={tmp_path}",
        OPENAI_BASE_URL=f"https://me:{SECRET}@host.example/v1",
        OPENAI_API_KEY=SECRET,
    )
    assert said.status == 0, said.err
    report = Path(said.out.splitlines()[-1])
    assert report.name == "report.json" and report.parent.parent == tmp_path / "dry"
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert len(files) >= 5 and all(SECRET[8:].encode() not in p.read_bytes() for p in files)
    assert "host.example" in (report.parent / "config.yaml").read_text("utf-8")


def test_a_key_that_the_model_refuses_stops_the_run_with_a_way_on(tmp_path: Path) -> None:
    """No further call can succeed: one message, no traceback, and the folder to go on with."""
    with Loopback([say("In May.")] * 3 + [refuse(401, f"Incorrect API key provided: {SECRET}")]) as server:
        said = command(
            "+experiment=dry",
            f"output_dir={tmp_path}",
            "answerer=llm",
            "llm.model=any",
            "answering.concurrency=1",
            OPENAI_BASE_URL=server.url,
            OPENAI_API_KEY=SECRET,
        )
    assert said.status == 2 and "Traceback" not in said.err and SECRET[8:] not in said.err + said.out
    assert "stopped: " in said.err and "401" in said.err
    (folder,) = (tmp_path / "dry").iterdir()
    assert f"go on with resume={folder}" in said.err
    assert (
        len((folder / "records.jsonl").read_bytes().splitlines()) == 3
        and not (folder / "report.json").exists()
    )
