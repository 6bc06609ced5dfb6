"""Hypothesis: no deadline (a busy machine is no fault), and so many examples that the suite stays short."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("crossjudge", deadline=None, max_examples=60)
settings.load_profile("crossjudge")
