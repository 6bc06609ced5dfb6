"""The published LoCoMo tables come out digit by digit, and nothing near them passes for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from runner.expectations import compare
from runner.plan import Expectation
from tests.component.dataset.shapes import DATA, real_data
from tests.runner.running import Ran, config, run

FILE = "locomo/locomo10.json"
PUBLISHED = {
    "comis_locomo": {
        "session": {
            **{"n": 1540, "recall@1": 0.5789, "recall@3": 0.7568, "recall@5": 0.8202, "recall@10": 0.8975},
            "mrr@10": 0.7474,
        },
    },
    "ghost_locomo": {
        "turn": {
            "n": 1531,
            "hit@1": 0.265,
            "hit@5": 0.484,
            "hit@10": 0.581,
            "mrr@10": 0.362,
            "ndcg@10": 0.384,
        },
        "session": {"hit@5": 0.823},
    },
    "ghost_locomo_uncapped": {
        "turn": {
            "n": 1531,
            "hit@1": 0.325,
            "hit@5": 0.561,
            "hit@10": 0.648,
            "mrr@10": 0.426,
            "ndcg@10": 0.445,
        },
        "session": {"hit@5": 0.885},
    },
}


def expectations(name: str) -> list[Expectation]:
    return [Expectation(**row) for row in config(f"+reproduce={name}")["expect"]]


def reproduced(out: Path, name: str, *overrides: str) -> Ran:
    return run(out, f"+reproduce={name}", *overrides)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_yaml_expects_what_was_published(name: str) -> None:
    """Typed in a second time: a value that was changed to please a run shows here."""
    want = {
        f"retrieval/ours/{level}/overall/{measure}": value
        for level, its in PUBLISHED[name].items()
        for measure, value in its.items()
    }
    rows = expectations(name)
    assert {row.at: row.value for row in rows if row.at != "dataset/sha256"} == want
    assert [row.at for row in rows].count("dataset/sha256") == 1
    digits = {row.digits for row in rows if isinstance(row.value, float)}
    assert digits == {4 if name == "comis_locomo" else 3}


@pytest.mark.real_data
@real_data(FILE)
class TestPublished:
    @pytest.mark.parametrize("name", PUBLISHED)
    def test_the_table_comes_out_and_no_other(self, tmp_path: Path, name: str) -> None:
        """Exit 0; and of each number neither neighbour would have passed."""
        ran = reproduced(tmp_path, name)
        rows = ran.report["expectations"]
        assert ran.status == 0 and all(row["ok"] for row in rows), rows
        assert [row["name"] for row in rows] == [row.at for row in expectations(name)]
        for wrong in off_by_one_digit(expectations(name)):
            [verdict] = compare(ran.report, [wrong])
            assert not verdict["ok"], wrong


def off_by_one_digit(rows: list[Expectation]) -> Iterator[Expectation]:
    for row in rows:
        if isinstance(row.value, str):
            yield Expectation(row.at, row.value[:-1] + ("0" if row.value[-1] != "0" else "1"), row.digits)
            continue
        step = Decimal(1).scaleb(-row.digits)
        for value in (Decimal(str(row.value)) + step, Decimal(str(row.value)) - step):
            yield Expectation(row.at, float(value), row.digits)


@pytest.mark.real_data
@real_data(FILE)
class TestMissed:
    """The cheapest of the three, changed by as little as can be."""

    def test_one_value_off_by_one_digit_exits_1(self, tmp_path: Path) -> None:
        rows = config("+reproduce=comis_locomo")["expect"]
        changed = [{**row, "value": 0.8976} if row["at"].endswith("recall@10") else row for row in rows]
        line = ",".join("{" + ",".join(f"{k}:{v}" for k, v in row.items()) + "}" for row in changed)
        ran = reproduced(tmp_path, "comis_locomo", f"expect=[{line}]")
        assert ran.status == 1
        missed = [row["name"] for row in ran.report["expectations"] if not row["ok"]]
        assert missed == ["retrieval/ours/session/overall/recall@10"]
        assert "6 of 7" in ran.stdout and "recall@10" in ran.stdout

    def test_one_changed_row_exits_1(self, tmp_path: Path) -> None:
        """One question's evidence is moved to another session: the digits show it, not the hash alone."""
        raw = json.loads((Path(DATA or "") / FILE).read_text("utf-8"))
        single = (row for row in raw[0]["qa"] if row["category"] == 4 and len(row["evidence"]) == 1)
        row = next(row for row in single if not row["evidence"][0].startswith("D1:"))
        row["evidence"] = ["D1:1"]
        (tmp_path / "locomo").mkdir()
        (tmp_path / FILE).write_text(json.dumps(raw), "utf-8")
        ran = reproduced(tmp_path / "out", "comis_locomo", f"data_dir={tmp_path}")
        missed = {row["name"].rpartition("/")[2] for row in ran.report["expectations"] if not row["ok"]}
        assert ran.status == 1
        assert "sha256" in missed and len(missed) > 1
        assert ran.report["dataset"]["known_as"] is None


@pytest.mark.real_data
@real_data(FILE)
class TestLancedb:
    """The other store on the same two tables. A depth of 50 can only make its figures smaller."""

    @pytest.mark.parametrize("name", ["comis_locomo", "ghost_locomo"])
    def test_lancedb_is_not_below_the_published_rows(self, tmp_path: Path, name: str) -> None:
        ran = reproduced(tmp_path, name, "store=lancedb", *(["depth=50"] if name == "ghost_locomo" else []))
        rows: list[dict[str, Any]] = ran.report["expectations"]
        digits = {row.at: row.digits for row in expectations(name)}
        below = [
            row
            for row in rows
            if not isinstance(row["expected"], str)
            and round(row["got"], digits[row["name"]]) < row["expected"]
        ]
        assert below == []
        assert rows[0]["ok"] and rows[1]["ok"]  # the same bytes, the same questions
        assert ran.status == (0 if all(row["ok"] for row in rows) else 1)
