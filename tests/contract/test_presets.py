"""A preset is a pipeline to put under any experiment."""

from __future__ import annotations

import pytest

from runner.compose import compose_all
from runner.config import check
from runner.keys import unknown_keys
from runner.listing import choices, question_of


@pytest.mark.parametrize("name", choices("preset"))
def test_a_preset_goes_under_an_experiment(name: str) -> None:
    ((job,), problems), ((plain,), _) = (
        compose_all(["+experiment=crossjudge", *preset], False) for preset in ([f"+preset={name}"], [])
    )
    assert problems == [] and unknown_keys(job.raw) == [] and check(job.raw) == []
    assert job.raw["lane"] != plain.raw["lane"] or job.raw["fusion"] != plain.raw["fusion"]
    assert question_of("preset", name)
