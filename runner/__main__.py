"""python -m runner +experiment=NAME [group=choice] [key=value]; alone it lists the experiments.

Exit status: 0 done; 1 a gate or an expectation failed; 2 the set-up is wrong (one message, no traceback).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from rich.console import Console

FLAGS = ("-m", "--multirun")


def main(argv: Sequence[str]) -> int:
    from runner.secrets import refuse_argv

    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    refused = refuse_argv(argv, os.environ)
    if refused:
        return _refuse(errors, refused)
    overrides = [a for a in argv if not a.startswith("-")]
    flags = [a for a in argv if a.startswith("-")]
    unknown = [f for f in flags if f not in (*FLAGS, "-h", "--help")]
    if unknown:
        return _refuse(
            errors, [f"{f}: there is no such option; a sweep is -m, all else is key=value" for f in unknown]
        )
    if not overrides or "-h" in flags or "--help" in flags:
        _list(Console(highlight=False, soft_wrap=True))
        return 0
    return _run(errors, overrides, multirun=bool(flags))


def _run(errors: Console, overrides: list[str], multirun: bool) -> int:
    from runner.engine import collect_less
    from runner.grid import with_grid
    from runner.resume import with_saved_overrides
    from runner.start import check_all, start_one, start_sweep

    collect_less()
    overrides, problems = with_saved_overrides(overrides)
    if problems:
        return _refuse(errors, problems)
    if multirun:
        overrides = with_grid(overrides)
    jobs, problems = check_all(overrides, multirun)
    if problems:
        return _refuse(errors, problems)
    return start_sweep(jobs, overrides) if multirun else start_one(jobs[0])


def _refuse(errors: Console, problems: Sequence[str]) -> int:
    errors.print(
        f"[bold red]nothing was run[/]: {len(problems)} thing{'s' * (len(problems) > 1)} to put right"
    )
    for problem in problems:
        errors.print(f"  - {problem}", markup=False)
    return 2


def _list(console: Console) -> None:
    from runner.listing import experiments

    console.print("Crossjudge: measures the long-term memory of LLM agents.\n", markup=False)
    for title, rows in experiments():
        console.print(title, style="bold")
        for name, question in rows:
            console.print(f"  {name:<24} {question}", markup=False)
        console.print()
    console.print(
        "run one    python -m runner +experiment=crossjudge\n"
        "change it  python -m runner +experiment=retrieval dataset=locomo dataset.unit=turn store=sqlite\n"
        "sweep it   python -m runner -m +experiment=crossjudge fusion.weights.dense=0.3,0.7",
        markup=False,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
