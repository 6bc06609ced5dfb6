"""One question to an OpenAI-compatible endpoint: all the calls that it takes, and what they taught."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from components.llm.structured import ask_structured, completion
from components.llm.wire import Said, prompt_was_cut, read_completion
from components.text.reply import unfence
from components.wire.clients import client
from components.wire.errors import Refused, Unusable, mask, status_error

if TYPE_CHECKING:
    from components.llm.openai_chat import OpenaiChat

Mode = Literal["json_schema", "md_json", "text"]
MODES: tuple[Mode, ...] = ("json_schema", "md_json", "text")
TOKEN_PARAMETERS = ("max_tokens", "max_completion_tokens")


@dataclass
class Learned:
    """What this process found out about one model at one endpoint."""

    mode: Mode
    proven: bool = False  # this mode gave a reply that fits the schema
    refused: frozenset[str] = frozenset()  # parameters

    def adapt(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The request without None and refused parameters; the token limit under the name that is taken."""
        adapted = {
            name: value for name, value in request.items() if value is not None and name not in self.refused
        }
        limit = next((request[name] for name in TOKEN_PARAMETERS if request.get(name) is not None), None)
        other = [name for name in TOKEN_PARAMETERS if name not in request and name not in self.refused]
        if limit is not None and other and not any(name in adapted for name in TOKEN_PARAMETERS):
            adapted[other[0]] = limit
        return adapted


_LEARNED: dict[tuple[str, str, str], Learned] = {}
_LOCK = threading.Lock()


def learned_of(chat: OpenaiChat) -> Learned:
    with _LOCK:
        return _LEARNED.setdefault((chat.base_url, chat.model, chat.mode), Learned(chat.mode))


@dataclass
class Exchange:
    """`text` is the last usable reply, `tokens` the sum over all calls, `sent` the last call's parameters."""

    chat: OpenaiChat
    key: str = field(repr=False)
    text: str = ""
    tokens: tuple[int | None, int | None] | None = None
    served: str | None = None
    sent: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)

    def run(self, messages: list[dict[str, str]], schema: Mapping[str, Any] | None) -> str:
        """Fills the exchange; returns why there is no usable text, or "". Raises FatalError."""
        learned = learned_of(self.chat)
        request = {"model": self.chat.model, "messages": messages, "temperature": self.chat.temperature}
        request |= {self.chat.token_parameter: self.chat.max_tokens, "seed": self.chat.seed}
        for mode in MODES[MODES.index(learned.mode) :] if schema is not None else MODES[-1:]:
            self.notes["mode"] = mode
            try:
                fits = self._call(mode, request, schema)
            except Refused:  # the response_format: any other parameter was adapted in `create`
                continue
            except Unusable as problem:
                # Some local servers answer 500 to a response_format that they do not know.
                if problem.status == 500 and mode == "json_schema" and not learned.proven:
                    continue
                self.notes |= {"detail": problem.detail} if problem.detail else {}
                return problem.reason
            if schema is not None and fits:
                learned.mode, learned.proven = mode, True
            elif schema is not None and not learned.proven and mode == "json_schema":
                continue
            elif schema is not None and not learned.proven:
                learned.mode = "text"  # it does not write JSON: the reader of verdicts takes its prose
            return ""
        return "bad request"

    def _call(self, mode: Mode, request: dict[str, Any], schema: Mapping[str, Any] | None) -> bool:
        if mode == "text" or schema is None:
            self.create(**request)
            return True
        return ask_structured(self.create, mode, self.chat.validation_retries, request, schema)

    def create(self, **request: Any) -> Any:
        """One completion. A refused parameter is left out, remembered, and the call made again.

        Raises Unusable, Refused (of response_format) or FatalError; none of them quotes the key.
        """
        learned = learned_of(self.chat)
        while True:
            sent = learned.adapt(request)
            problem = self._send(sent)
            if problem is None:
                return completion(unfence(self.text), self.served or self.chat.model)
            if not isinstance(problem, Refused) or problem.parameter == "response_format":
                raise problem from None
            if problem.parameter not in sent:
                raise Unusable(
                    "bad request", f"{self._where}: refuses {problem.parameter}, which was not sent"
                )
            with _LOCK:
                learned.refused |= {problem.parameter}

    def _send(self, sent: dict[str, Any]) -> Exception | None:
        import openai

        self.sent = {
            name: value for name, value in sent.items() if name not in ("messages", "response_format")
        }
        endpoint = client(self.chat.base_url, self.key, self.chat.timeout, self.chat.retries)
        try:
            raw = endpoint.chat.completions.with_raw_response.create(**sent)
        except openai.APIStatusError as error:
            return status_error(error.status_code, error.body, self._where, self.key, "llm")
        except openai.APITimeoutError:
            return Unusable("timeout", f"{self._where}: silent for {self.chat.timeout:g} s")
        except openai.APIConnectionError as error:
            return Unusable("connection", f"{self._where}: {mask(str(error.__cause__), self.key)[:200]}")
        if raw.retries_taken:
            self.notes["retries"] = self.notes.get("retries", 0) + raw.retries_taken
        return self._take(read_completion(raw.text), sent["messages"])

    def _take(self, said: Said, messages: list[Any]) -> Unusable | None:
        """Books one call: its tokens count even when its text cannot be used."""
        before = self.tokens or (0, 0)
        pairs = zip(before, (said.tokens_in, said.tokens_out), strict=True)
        total_in, total_out = (None if a is None or b is None else a + b for a, b in pairs)
        self.tokens, self.served, self.text = (total_in, total_out), said.model, said.text
        if prompt_was_cut(messages, said.tokens_in):
            self.notes["prompt_truncated"] = True
        return Unusable(said.problem) if said.problem else None

    @property
    def _where(self) -> str:
        return f"{self.chat.model} at {urlsplit(self.chat.base_url).hostname}"
