"""A model's own tokeniser: what a text becomes, and the special tokens that go around it."""

from __future__ import annotations

from typing import Any

from components.text.words import plain
from components.types import ComponentError


class Vocabulary:
    """`before`, `after`: the special tokens around a text ([CLS] and [SEP] of BERT). `doubled`: between two
    texts stand the end of the first and a separator, too (XLM-RoBERTa)."""

    def __init__(self, api: Any, model: Any, stage: str) -> None:
        self._api, self._stage = api, stage
        self._words = api.llama_model_get_vocab(model)
        self.before, self.after = self._specials()
        add = (api.llama_vocab_get_add_eos(self._words), api.llama_vocab_get_add_sep(self._words))
        self.doubled = all(add)

    def tokens(self, text: str) -> list[int]:
        """Of the text alone; markup of special tokens in a text is text."""
        return self._tokens(text, special=False)

    def markup(self, text: str) -> list[int]:
        """Of a part of a template: markup of special tokens means what it says."""
        return self._tokens(text, special=False, markup=True)

    def _tokens(self, text: str, special: bool, markup: bool = False) -> list[int]:
        data = plain(text).encode()
        room = len(data) + 8  # a token has a byte or more
        slots = (self._api.llama_token * room)()
        count = self._api.llama_tokenize(self._words, data, len(data), slots, room, special, markup)
        if count < 0:
            raise ComponentError(self._stage, "not tokenised", f"{-count} tokens from {len(data)} bytes")
        return list(slots[:count])

    def _specials(self) -> tuple[list[int], list[int]]:
        body, whole = self._tokens("a", special=False), self._tokens("a", special=True)
        for at in range(len(whole) - len(body) + 1):
            if whole[at : at + len(body)] == body:
                return whole[:at], whole[at + len(body) :]
        return [], []
