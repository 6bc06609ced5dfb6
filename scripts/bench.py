"""One table, one file, one run: our stores beside a bare loop, other engines and the floor.

    python scripts/bench.py                                # 500 questions, three repeats; docs/benchmarks.md
    python scripts/bench.py --questions 60 --repeats 1     # a look; nothing is written
    python scripts/bench.py --rows fts5 "fts sqlite"       # some rows only

Every row is a process of its own with the same number of spawned workers. wall: the whole command. work: from
the first byte of the data to the last record. CPU: of the process and all that it waited for. memory: the
highest sum of PSS over the process tree (shared pages count once), sampled. ms: work per haystack. A machine's
speed drifts (by half, within minutes, where neighbours share its cores): the bare loop runs before and after
every row, and a ratio is to the mean of these two. The median of the repeats is shown. Compare ratios, not
seconds. The file is made by make_longmemeval_like.py where it is not there; the bare loops are bench_loops.py.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "scripts"
BARE = "fts5"  # the row that the others are a ratio of
EVERY = 0.1  # seconds between two samples of memory
HEAD = (
    "row",
    "work s",
    "x bare",
    "wall s",
    "CPU s",
    "peak MB",
    "ms/haystack",
    "fts hit@10",
    "hit@10",
    "others",
)
LOOPS = {
    "floor": "JSON floor (parse, split)",
    BARE: "bare loop: FTS5 + cosine + RRF",
    "tantivy": "tantivy + cosine + RRF",
    "bm25s": "bm25s + cosine + RRF",
}
LEXICAL = ("lane=[lexical]", "embedder=none")
HYBRID = ("lane=[lexical,dense]", "embedder=static")
OURS: dict[str, tuple[str, ...]] = {
    "fts sqlite": ("store=sqlite", *LEXICAL),
    "fts lancedb": ("store=lancedb", *LEXICAL),
    "hybrid sqlite": ("store=sqlite", *HYBRID),
    "hybrid lancedb": ("store=lancedb", *HYBRID),
    "hybrid lancedb again": ("store=lancedb", *HYBRID),
}
AGAIN = " again"  # the second run over the same content: what the first left in its output_dir is there
# qa without an answerer: one system, no comparison; the same slots as +experiment=retrieval
RUN = ("+experiment=qa", "answerer=none", "judge=[]", "factor=[]", "filter=[trust,dedup]", "tracker=none")


@dataclass(frozen=True)
class Measured:
    """One go of one row. `work` and the rest are None where the row could not be measured: `why`."""

    wall: float
    cpu: float
    peak: float  # MB
    others: float  # share of the cores that went to anybody else meanwhile
    work: float | None
    haystacks: int
    fts: float | None  # hit@10 of full text alone
    hit: float | None
    why: str = ""


def main() -> None:
    args = _arguments()
    args.folder.mkdir(parents=True, exist_ok=True)
    file = args.file or _made(args.folder, args.questions)
    vectors = _vectors(file, args.folder)
    rows: dict[str, Callable[[], Measured]] = {}
    for name in args.rows or [*LOOPS, *OURS]:
        rows[name] = _loop(name, file, vectors, args) if name in LOOPS else _ours(name, file, args)
    bare = rows.pop(BARE, None) or _loop(BARE, file, vectors, args)
    found: dict[str, list[Measured]] = {name: [] for name in (BARE, *rows)}
    ratios: dict[str, list[float]] = {name: [] for name in rows}
    console = Console(width=None if sys.stdout.isatty() else 140)
    for go in range(args.repeats):
        found[BARE].append(bare())
        for name, row in rows.items():
            found[name].append(row())
            found[BARE].append(bare())
            near = statistics.mean(one.work or 0.0 for one in found[BARE][-2:])
            if work := found[name][-1].work:
                ratios[name].append(work / near)
            told = f"[{go + 1}/{args.repeats}] {name}: work {work} s, the bare loop around it {near:.2f} s"
            console.print(told, markup=False, style="dim")
    table = [_cells(name, goes, ratios.get(name, [1.0])) for name, goes in found.items()]
    shown = Table(*HEAD, title=f"{file.name}, {args.workers} workers")
    for cells in table:
        shown.add_row(*cells)
    console.print(shown)
    out = args.out or (None if args.questions or args.rows else ROOT / "docs" / "benchmarks.md")
    if out:
        out.write_text(_page(table, file, found, args), "utf-8")
        console.print(f"written: {out}", markup=False)


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--file", type=Path, help="of LongMemEval's schema; else one is made")
    parser.add_argument("--questions", type=int, help="of the file that is made; all 500 when not given")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rows", nargs="+", choices=[*LOOPS, *OURS])
    parser.add_argument("--folder", type=Path, default=ROOT / "outputs" / "bench", help="for what is made")
    parser.add_argument("--out", type=Path, help="write the page here; by default only after a full run")
    return parser.parse_args()


def _made(folder: Path, questions: int | None) -> Path:
    file = folder / (f"like_{questions}.json" if questions else "s_like.json")
    if not file.exists():
        part = file.with_suffix(".part")
        size = ["--questions", str(questions)] if questions else []
        script = SCRIPTS / "make_longmemeval_like.py"
        subprocess.run([sys.executable, str(script), str(part), *size], check=True)
        part.rename(file)
    return file


def _vectors(file: Path, folder: Path) -> Path:
    """Static vectors of every turn and question, made once: <file>.static.f32 and, as JSON, where they begin."""
    path = folder / f"{file.stem}.static.f32"
    spans = Path(f"{path}.json")
    if spans.exists() and spans.stat().st_mtime > file.stat().st_mtime:
        return path
    import msgspec
    from bench_loops import Item

    sys.path.insert(0, str(ROOT))
    from runner.build import build
    from runner.compose import compose_all

    embedder = build(compose_all(["+experiment=retrieval", "embedder=static"], False)[0][0].raw["embedder"])
    rows, start = [], 0
    with path.open("wb") as out:
        for raw in msgspec.json.decode(file.read_bytes(), type=list[msgspec.Raw]):
            item = msgspec.json.decode(raw, type=Item)
            texts = [f"{t.role}: {t.content}" for session in item.haystack_sessions for t in session]
            for part in (embedder.embed(texts, "document"), embedder.embed([item.question], "query")):
                out.write(np.ascontiguousarray(part, np.float32).tobytes())
            rows.append({"start": start, "texts": len(texts)})
            start += len(texts) + 1
    spans.write_text(json.dumps(rows), "utf-8")
    return path


def _loop(name: str, file: Path, vectors: Path, args: Any) -> Callable[[], Measured]:
    command = [str(SCRIPTS / "bench_loops.py"), name, str(file), "--workers", str(args.workers)]
    command += [] if name == "floor" else ["--vectors", str(vectors)]

    def go() -> Measured:
        said, usage = _watched(command)
        told = json.loads(said.splitlines()[-1])
        if "missing" in told:
            return Measured(*usage, None, 0, None, None, told["missing"])
        hits = told.get("fts hit@10"), told.get("hit@10")
        return Measured(*usage, told["work_seconds"], told["haystacks"], *hits)

    return go


def _ours(name: str, file: Path, args: Any) -> Callable[[], Measured]:
    data = ("dataset=longmemeval", f"data_dir={file.resolve().parent}", f"dataset.path={file.name}")
    command = ["-m", "runner", *RUN, *data, *OURS[name], f"engine.workers={args.workers}"]

    def go() -> Measured:
        with tempfile.TemporaryDirectory() as out:
            if name.endswith(AGAIN):
                _watched([*command, f"output_dir={out}"])
            said, usage = _watched([*command, f"output_dir={out}"])
            report = json.loads(Path(said.splitlines()[-1]).read_text("utf-8"))
        timing, cell = report["timing"], report["retrieval"]["ours"]["turn"]["overall"]
        hits = cell["hit@10"] if OURS[name][1:] == LEXICAL else None, cell["hit@10"]
        return Measured(*usage, timing["work_seconds"], timing["haystacks"], *hits)

    return go


def _watched(command: Sequence[str]) -> tuple[str, tuple[float, float, float, float]]:
    """stdout of `python COMMAND`, and (wall s, CPU s, peak MB, others) of it and all its children."""
    busy = _busy()
    peak, over, start = [0.0], threading.Event(), time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen([sys.executable, *command], cwd=ROOT, stdout=out)

        def watch() -> None:
            while not over.wait(EVERY):
                peak[0] = max(peak[0], sum(map(_pss, _tree(process.pid))))

        watcher = threading.Thread(target=watch)
        watcher.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall, busy = time.perf_counter() - start, _busy() - busy
        over.set()
        watcher.join()
        out.seek(0)
        said = out.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}\nended with {process.returncode}\n{said}")
    cpu = usage.ru_utime + usage.ru_stime
    return said, (wall, cpu, peak[0], max(0.0, busy - cpu) / wall / (os.cpu_count() or 1))


def _busy() -> float:
    """Seconds that the cores have been at work since the machine started (or were taken from it)."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    idle = fields[3] + fields[4]
    return (sum(fields) - idle) / os.sysconf("SC_CLK_TCK")


def _tree(root: int) -> list[int]:
    """The process and everything under it, as /proc has it now."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it ended
            continue
        parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = [root]
    for process in found:
        found += parents.get(process, [])
    return found


def _pss(process: int) -> float:
    """MB; 0 when the process has ended."""
    try:
        match = re.search(r"^Pss:\s+([0-9]+) kB", Path(f"/proc/{process}/smaps_rollup").read_text(), re.M)
    except OSError:
        return 0.0
    return int(match[1]) / 1024 if match else 0.0


def _cells(name: str, goes: Sequence[Measured], ratios: Sequence[float]) -> tuple[str, ...]:
    title = LOOPS.get(name, f"Crossjudge, {name}")
    if goes[0].work is None:
        return (title, goes[0].why, *[""] * (len(HEAD) - 2))
    work = _median(goes, "work")
    return (
        title,
        f"{work:.1f}",
        f"{statistics.median(ratios):.2f}",
        f"{_median(goes, 'wall'):.1f}",
        f"{_median(goes, 'cpu'):.1f}",
        f"{_median(goes, 'peak'):,.0f}",
        f"{1000 * work / goes[0].haystacks:.1f}",
        *("" if hit is None else f"{hit:.3f}" for hit in (goes[0].fts, goes[0].hit)),
        f"{100 * _median(goes, 'others'):.0f} %",
    )


def _median(goes: Sequence[Measured], field: str) -> float:
    return float(statistics.median(getattr(one, field) for one in goes))


def _page(table: Sequence[Sequence[str]], file: Path, found: dict[str, list[Measured]], args: Any) -> str:
    haystacks = max(one.haystacks for goes in found.values() for one in goes)
    rule = ["---", *["---:"] * (len(HEAD) - 1)]
    lines = [f"| {' | '.join(row)} |" for row in (HEAD, rule, *table)]
    cpu = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.M)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = f"{os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}"
    machine = f"{cpu[1] if cpu else platform.processor()}, {cores}"
    made = f"Made by `make bench` (`scripts/bench.py`) on {datetime.now(UTC):%Y-%m-%d}"
    return f"""# Benchmarks

{haystacks} haystacks ({file.stat().st_size / 1e6:.0f} MB, made by `scripts/make_longmemeval_like.py`), turn level,
{args.workers} workers, median of {args.repeats}. {made}:
{machine}.

{chr(10).join(lines)}

Ratios carry over to another machine, seconds do not. `work` runs from the first byte of the data to the last
ranking or record, the start of the worker processes included; `x bare` is its ratio to the bare loop's just
before and just after: seconds of two rows are of two moments, and the machine's speed drifts. `wall` is the
whole command: ours also imports, checks, hashes the file twice (bytes and content), evaluates and writes a
report. `peak MB` is the highest sum of PSS over all processes together. `hit@10` is the share of the answerable
questions with a gold turn among the first ten; the bare loop, tantivy and bm25s search the same texts with the
whole question, ours leaves stop words out. Their rows fuse full text with static vectors that were made before
and are only read; `hybrid` makes the same vectors while it works, `fts` uses none. Every row but the floor
makes one index per haystack and throws it away; `again` is a second run over the same content, with what the
first one left in its cache. `others` is the share of the cores that other work took meanwhile (the sampling of
memory itself takes some 4 %): where it is large, measure again.
"""


if __name__ == "__main__":
    sys.path.insert(0, str(SCRIPTS))
    main()
