from __future__ import annotations

import numpy as np
import pytest

from components.text.vectors import checked
from components.types import ComponentError


def test_what_is_good_becomes_unit_length() -> None:
    made = checked([[3, 4], [0, 0.5]], ["a", "b"], 2)
    assert made.dtype == np.float32
    assert made == pytest.approx(np.array([[0.6, 0.8], [0, 1]]))
    assert checked(np.zeros((0, 7)), [], 7).shape == (0, 7)


@pytest.mark.parametrize(
    ("vectors", "reason"),
    [
        ([[1.0, 0.0]], "wrong shape"),
        ([[1.0, 0.0], [1.0]], "vectors of mixed lengths"),
        ([[], []], "wrong shape"),
        ([[1.0, 0.0, 0.0]] * 2, "wrong dimension"),
        ([[1.0, 0.0], [np.nan, 0.0]], "vector not finite"),
        ([[1.0, 0.0], [np.inf, 0.0]], "vector not finite"),
        ([[1.0, 0.0], [0.0, 0.0]], "zero vector"),
    ],
)
def test_what_is_not_is_named(vectors: list[list[float]], reason: str) -> None:
    with pytest.raises(ComponentError) as caught:
        checked(vectors, ["first", "second"], 2)
    assert (caught.value.stage, caught.value.reason) == ("embed", reason)
    if reason.endswith("finite") or reason.startswith("zero"):
        assert caught.value.detail == "'second'"
