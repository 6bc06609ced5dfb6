"""A cross-encoder on this machine, a GGUF file with a ranking head (llama.cpp; extra "gguf").

The first `pool` hits are read together with the question, each pair gives one number; the best pair is first. A
hit's score becomes that probability, its part "rerank". Behind the pool the other hits keep their order.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Literal

from components.llama.engine import Engine, Settings, engine
from components.llama.header import Header
from components.llama.weights import file_of, file_problems, header, sha256
from components.types import ComponentError, Hit, Query

OUTPUTS = ("logit", "probability")
_SLOT = re.compile(r"(\{query\}|\{document\})")
_PROBED: dict[tuple[object, ...], str] = {}


@dataclass(frozen=True)
class Gguf:
    """`timeout`: seconds of one recall, None = none; the time to load the model is not of it.

    `template`: text with {query} and {document}; None = the file's own, else the pair with the model's special
    tokens. `output`: what the model gives. `flat`: when all scores of a pool lie so near, they say nothing.
    `probes`: triples of query, relevant and unrelated text; the model must score each relevant text higher by
    `margin`, else it is no reranker.
    Raises ComponentError("reranker", ...): timed out, equal scores, no reranker, no model.
    """

    path: str
    pool: int
    timeout: float | None
    context: int | None
    batch: int
    threads: int | None
    template: str | None
    output: Literal["logit", "probability"]
    flat: float
    margin: float
    probes: Sequence[Mapping[str, str]]

    def __post_init__(self) -> None:
        wrong = {
            "pool needs 1 or more": self.pool < 1,
            "timeout needs more than 0, or null": self.timeout is not None and not self.timeout > 0,
            f"output: choose one of {', '.join(OUTPUTS)}": self.output not in OUTPUTS,
            "flat needs 0 or more": not self.flat >= 0,
            "margin must lie between 0 and 1": not 0 < self.margin < 1,
            "probes: each needs query, relevant and unrelated": not self.probes
            or any(set(probe) != {"query", "relevant", "unrelated"} for probe in self.probes),
            "template: needs {query} and then {document}, each once": self.template is not None
            and _SLOT.findall(self.template) != ["{query}", "{document}"],
        }
        if any(wrong.values()):
            raise ValueError("; ".join(what for what, is_so in wrong.items() if is_so))
        self._settings  # noqa: B018  checks its numbers

    def problems(self) -> list[str]:
        """Loads the model and tries the probes, when there is one: the preflight is the time to know."""
        out = file_problems(self.path)
        found = header(self.path)
        if isinstance(found, Header) and not found.ranks:
            out.append(f"path: {file_of(self.path).name} has no ranking head: this model is no reranker")
        if out:
            return out
        try:
            fault = self._fault
        except ComponentError as error:
            return [f"path: {error}"]
        return [f"path: {fault}"] if fault else []

    def model_files(self) -> dict[str, str]:
        """{"reranker/name": sha256}, {} when there is no file."""
        digest = sha256(self.path)
        return {f"reranker/{file_of(self.path).name}": digest} if digest else {}

    def notes(self) -> Mapping[str, int]:
        """What this reranker met so far: pairs, cut (of them)."""
        return dict(self._met)

    def rerank(self, query: Query, hits: Sequence[Hit], k: int) -> list[Hit]:
        pool, tail = hits[: self.pool], hits[self.pool :]
        if not pool:
            return []
        if self._fault:
            raise ComponentError("reranker", "no reranker", self._fault)
        until = perf_counter() + (self.timeout or math.inf)
        scores = self._scores(query.texts[0], [hit.document.text for hit in pool], until)
        if len(pool) > 1 and max(scores) - min(scores) <= self.flat:
            raise ComponentError("reranker", "equal scores", f"{len(pool)} at {scores[0]:.3g}")
        found = [
            replace(hit, score=score, parts={**hit.parts, "rerank": score})
            for hit, score in zip(pool, scores, strict=True)
        ]
        found.sort(key=lambda hit: -hit.score)  # stable: a tie keeps the order that came
        return [*found, *tail][:k]

    def _scores(self, query: str, texts: Sequence[str], until: float) -> list[float]:
        """Probabilities in [0, 1]."""
        pairs = [self._pair(query, text) for text in texts]
        raw = [float(row[0]) for row in self._engine.run(pairs, until)]
        if not all(map(math.isfinite, raw)):
            raise ComponentError("reranker", "score not finite")
        self._met["pairs"] += len(pairs)
        return [_sigmoid(x) if self.output == "logit" else min(max(x, 0.0), 1.0) for x in raw]

    def _pair(self, query: str, text: str) -> list[int]:
        """Query and text as one sequence. A long query keeps half of the room, a long text what is left."""
        words, limit = self._engine.vocabulary, self._engine.limit
        shape = [words.markup(part) for part in _SLOT.split(self._template)[::2]]
        if not self._template_text:
            between = [*words.after, *(words.after if words.doubled else [])]
            shape = [list(words.before), between, list(words.after)]
        room = limit - sum(map(len, shape))
        asked, said = words.tokens(query), words.tokens(text)
        kept = asked[: max(room // 2, room - len(said))]
        self._met["cut"] += len(asked) + len(said) > room
        said = said[: max(room - len(kept), 0)]
        return [*shape[0], *kept, *shape[1], *said, *shape[2]]

    @property
    def _template_text(self) -> str | None:
        found = header(self.path)
        own = found.values.get("tokenizer.chat_template.rerank") if isinstance(found, Header) else None
        return self.template or own

    @property
    def _template(self) -> str:
        return self._template_text or "{query}{document}"

    @property
    def _fault(self) -> str:
        """Why this model is no reranker, or "". Found out once per process."""
        probes = tuple(tuple(sorted(probe.items())) for probe in self.probes)
        key = (sha256(self.path), self._settings, self.template, self.output, self.margin, probes)
        if key not in _PROBED:
            _PROBED[key] = self._probed()
        return _PROBED[key]

    def _probed(self) -> str:
        for probe in self.probes:
            texts = [probe["relevant"], probe["unrelated"]]
            high, low = self._scores(probe["query"], texts, math.inf)
            if high - low < self.margin:
                return (
                    f"{file_of(self.path).name}: this model is no reranker: for {probe['query']!r} it gives "
                    f"{high:.3f} to {texts[0]!r} and {low:.3f} to {texts[1]!r}; {self.margin} apart is needed"
                )
        return ""

    @property
    def _settings(self) -> Settings:
        return Settings(self.path, self.context, self.batch, "rank", self.threads, "reranker")

    @property
    def _engine(self) -> Engine:
        return engine(self._settings)

    @cached_property
    def _met(self) -> Counter[str]:
        return Counter()


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
