"""Writes a file with LongMemEval's schema and size from a seed: our words, planted evidence, shared sessions.

    python scripts/make_longmemeval_like.py OUT.json                 # S size: 500 questions, about 290 MB
    python scripts/make_longmemeval_like.py OUT.json --size m        # M size: 500 sessions each, streamed
    python scripts/make_longmemeval_like.py OUT.json --questions 20  # a small one

The words are syllables, their frequencies Zipfian (with English function words on the first ranks, so that
stop words and stemming have something to do). A question names three words of middle frequency (ASKED) and
asks for a fourth; its gold turn says two of the three and another word for the third, as people do. Others
hold two of them too, so that BM25 finds a gold turn among the first ten for most questions, not for all.
A fifth of the session slots hold a session that another haystack has too, as in the real file. Nothing of the
real data is used. The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import itertools
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

TYPES = {  # as many of each as the official file has
    "single-session-user": 70,
    "multi-session": 133,
    "single-session-preference": 30,
    "temporal-reasoning": 133,
    "knowledge-update": 78,
    "single-session-assistant": 56,
}
ABSTENTION = 30  # of 500
SIZES = {"s": 48, "m": 500}  # sessions a haystack
TURNS = 10.2  # a session, on average
WORDS = 178  # a turn, on average
SHARED = 0.2
ASKED = (60, 240)  # ranks of the words that a question names; with rarer ones every question is easy
FACTS = 2_000  # and of the words that it asks for: this rank and rarer
VOCABULARY = 40_000
FUNCTION_WORDS = (
    "the i to and a of you in it that is for my with on can be have are this your me at some as what if do"
    " any like so would or was but from more about how been there just will also an could when which up them"
).split()
SYLLABLES = [c + v for c in "b d f g k l m n p r s t v z br st tr".split() for v in "a e i o u ai".split()]


@dataclass
class Writer:
    rng: np.random.Generator
    sessions: int
    words: np.ndarray[Any, Any]
    cumulative: np.ndarray[Any, Any]
    shared: list[tuple[str, list[dict[str, Any]]]]

    @classmethod
    def new(cls, seed: int, sessions: int) -> Writer:
        rng = np.random.default_rng(seed)
        made: dict[str, None] = dict.fromkeys(FUNCTION_WORDS)
        while len(made) < VOCABULARY:
            made["".join(rng.choice(SYLLABLES, size=int(rng.integers(2, 5))))] = None
        weights = 1.0 / (np.arange(VOCABULARY) + 2.7) ** 1.05
        return cls(rng, sessions, np.array(list(made)), np.cumsum(weights / weights.sum()), [])

    def text(self, n: int) -> str:
        """n words in sentences."""
        picked = self.words[np.searchsorted(self.cumulative, self.rng.random(n))]
        stops = [*range(0, n, 14), n]
        return " ".join(
            " ".join(picked[a:b]).capitalize() + "." for a, b in itertools.pairwise(stops) if b > a
        )

    def session(self) -> list[dict[str, Any]]:
        n = max(2, int(self.rng.poisson(TURNS)))
        lengths = np.maximum(8, self.rng.gamma(1.6, WORDS / 1.6, n)).astype(int)
        return [
            {"role": "user" if i % 2 == 0 else "assistant", "content": self.text(int(length))}
            for i, length in enumerate(lengths)
        ]

    def fillers(self, number: int, n: int) -> list[tuple[str, list[dict[str, Any]]]]:
        """n sessions, a fifth of them taken from earlier haystacks."""
        out: dict[str, list[dict[str, Any]]] = {}
        while len(out) < n:
            if self.shared and self.rng.random() < SHARED:
                name, turns = self.shared[int(self.rng.integers(len(self.shared)))]
            else:
                name = f"chat_{number:04d}_{len(out):03d}"
                turns = self.session()
                if len(self.shared) < 4000:
                    self.shared.append((name, turns))
            out[name] = turns
        return list(out.items())

    def item(self, number: int, kind: str, abstention: bool) -> dict[str, Any]:
        gold = 2 if kind in ("multi-session", "knowledge-update", "temporal-reasoning") else 1
        role = 1 if kind == "single-session-assistant" else 0
        asked = self.words[self.rng.choice(np.arange(*ASKED), size=3, replace=False)]
        facts = self.words[self.rng.integers(FACTS, VOCABULARY, size=gold)]
        other = self.words[self.rng.integers(*ASKED)]  # what the gold turn says for the third word
        history = self.fillers(number, self.sessions - gold)
        places = sorted(self.rng.choice(self.sessions, size=gold, replace=False))
        names = []
        for order, place in enumerate(places):
            name = f"answer_{number:04d}_{order + 1}"
            turns = self.session()
            turn = min(len(turns) - 1, 2 * int(self.rng.integers(0, len(turns) // 2)) + role)
            planted = f"The {asked[0]} {asked[1]} is {facts[order]} because of {other}."
            if not abstention:
                turns[turn]["content"] += " " + planted
                turns[turn]["has_answer"] = True
            history.insert(place, (name, turns))
            names.append(name)
        start = datetime(2023, 1, 1) + timedelta(minutes=int(self.rng.integers(0, 60 * 24 * 60)))
        dates = [start + timedelta(hours=29 * i) for i in range(len(history) + 1)]
        return {
            "question_id": f"q{number:04d}" + ("_abs" if abstention else ""),
            "question_type": kind,
            "question": f"What did I say about the {asked[0]} {asked[1]} and {asked[2]}?",
            "answer": "It was never mentioned." if abstention else " and ".join(facts),
            "question_date": f"{dates[-1]:%Y/%m/%d (%a) %H:%M}",
            "haystack_dates": [f"{d:%Y/%m/%d (%a) %H:%M}" for d in dates[:-1]],
            "haystack_session_ids": [name for name, _ in history],
            "haystack_sessions": [turns for _, turns in history],
            "answer_session_ids": names,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--size", choices=SIZES, default="s")
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    writer = Writer.new(args.seed, SIZES[args.size])
    kinds = [kind for kind, n in TYPES.items() for _ in range(n)]
    with args.out.open("w", encoding="utf-8") as file:
        for number in range(args.questions):
            kind = kinds[(number * len(kinds)) // max(args.questions, len(kinds)) % len(kinds)]
            abstention = (number + 1) * ABSTENTION // len(kinds) > number * ABSTENTION // len(kinds)
            item = writer.item(number, kind, abstention)
            file.write(("[" if number == 0 else ",\n") + json.dumps(item, ensure_ascii=False))
        file.write("]\n")
    print(f"{args.out}: {args.questions} questions, {args.out.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
