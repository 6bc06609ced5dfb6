"""Subsets are chosen by a written rule, and what was chosen is told."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from components.types import Gold, Haystack, Place, Question, Sample
from runner.plan import Subset
from runner.subset import ABSTENTION, Chosen, choose
from tests.component.dataset.shapes import built


@dataclass(frozen=True)
class Rows:
    """A dataset of (source id, category, answerable) in file order, two questions per haystack."""

    rows: Sequence[tuple[str, str, bool]]
    categories: Sequence[str] = ()

    def items(self) -> Iterator[Place]:
        for n in range(0, len(self.rows), 2):
            yield Place(f"h{n:04d}", "x.json", n, n + 2, n)

    def load(self, place: Place) -> Haystack:
        samples = tuple(
            Sample(Question(f"{place.haystack}-q{n}", "?"), Gold(("a",), {}, answerable), category, source)
            for n, (source, category, answerable) in enumerate(self.rows[place.start : place.stop])
        )
        return Haystack(place.haystack, (), samples, {}, place.haystack)


SIZES = {"temporal": 40, "single-hop": 25, "rare": 2}
ROWS = [(f"{category}:{n}", category, True) for category, size in SIZES.items() for n in range(size)]
ROWS += [(f"temporal:abs{n}", "temporal", False) for n in range(9)]


def chosen(rows: Sequence[tuple[str, str, bool]], rule: str, n: int, seed: int = 7) -> Chosen:
    found = choose(Rows(rows, ("temporal", "single-hop", "rare", "unasked")), Subset(rule, n, seed))  # type: ignore[arg-type]
    assert found is not None
    return found


def by_stratum(ids: frozenset[str]) -> Mapping[str, int]:
    names = {source: category if answerable else ABSTENTION for source, category, answerable in ROWS}
    return Counter(names[i] for i in ids)


def test_the_whole_set_is_no_subset() -> None:
    assert choose(Rows(ROWS), Subset("all", None, 0)) is None


def test_each_category_gives_its_n_or_all_that_it_has_and_zeros_are_told() -> None:
    for rule in ("stratified", "first_n"):
        ids, facts = chosen(ROWS, rule, 5)
        told = facts["n_by_category"]
        assert told == {"abstention": 5, "rare": 2, "single-hop": 5, "temporal": 5, "unasked": 0}
        assert by_stratum(ids) == {name: n for name, n in told.items() if n}
        assert facts["rule"] == rule and facts["n"] == 5 and facts["seed"] == 7
        assert facts["ids"] == sorted(ids)
        assert facts["ids_sha256"] == hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def test_first_n_is_the_first_of_each_category_in_file_order_not_of_the_file() -> None:
    """F20: the first 10 rows of the file are one category."""
    ids, _ = chosen(ROWS, "first_n", 2)
    assert ids == {f"{category}:{n}" for category in SIZES for n in (0, 1)} | {
        "temporal:abs0",
        "temporal:abs1",
    }
    turned, _ = chosen(ROWS[::-1], "first_n", 1)
    assert turned == {"temporal:39", "single-hop:24", "rare:1", "temporal:abs8"}
    assert chosen(ROWS, "first_n", 2, seed=1).ids == ids, "no seed in it"


@given(st.randoms(use_true_random=False), st.integers(0, 2**63), st.integers(1, 30))
def test_stratified_does_not_depend_on_the_order_of_the_file(shuffle: object, seed: int, n: int) -> None:
    turned = list(ROWS)
    shuffle.shuffle(turned)  # type: ignore[attr-defined]
    assert chosen(turned, "stratified", n, seed) == chosen(ROWS, "stratified", n, seed)


def test_stratified_is_the_seeds_choice() -> None:
    choices = [chosen(ROWS, "stratified", 5, seed).ids for seed in range(20)]
    assert len(set(choices)) == 20, "another seed, another choice"
    assert choices[3] == chosen(ROWS, "stratified", 5, 3).ids
    drawn = Counter(
        itertools.chain.from_iterable(chosen(ROWS, "stratified", 5, seed).ids for seed in range(400))
    )
    # each of 40 temporal questions is drawn with probability 1/8: 50 of 400, sd 6.6
    assert all(20 < drawn[f"temporal:{n}"] < 85 for n in range(40))
    assert drawn["rare:0"] == drawn["rare:1"] == 400


def test_a_larger_n_keeps_the_smaller_choice_and_a_category_left_out_changes_no_other() -> None:
    small, large = chosen(ROWS, "stratified", 3).ids, chosen(ROWS, "stratified", 8).ids
    assert small < large
    without = [row for row in ROWS if row[1] != "single-hop"]
    kept = {i for i in small if not i.startswith("single-hop")}
    assert chosen(without, "stratified", 3).ids == kept


def test_on_the_fixture_every_category_is_there() -> None:
    found = choose(built("fixture", None), Subset("stratified", 1, 0))
    assert found is not None
    counts = found.facts["n_by_category"]
    assert set(counts.values()) == {1} and len(counts) >= 11 and len(found.ids) == len(counts)
