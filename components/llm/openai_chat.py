"""Any OpenAI-compatible chat endpoint: the SDK's transport, instructor's structured replies, our reading.

The SDK repeats what may pass (429 with its Retry-After, 5xx, timeouts, broken connections) `retries` times;
instructor asks again `validation_retries` times when a reply does not fit the schema. With a schema, modes
are tried in the order json_schema, md_json, text; what an endpoint refuses (a mode, a parameter) is
remembered for the process, so it costs one call. Whatever comes is read by `components.llm.wire`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from components.llm.exchange import MODES, TOKEN_PARAMETERS, Exchange, Mode
from components.types import Reply, Usage
from components.wire.errors import mask


@dataclass(frozen=True)
class OpenaiChat:
    """`temperature`, `max_tokens`, `seed`: None = not sent. `timeout`: seconds of silence, per attempt.

    `api_key_env`: the NAME of the variable that holds the key (read at each call), None where none is needed.
    `provider`: a name for the report ("openai"); nothing depends on it.
    Usage.sent: the parameters as sent, the mode, and where they apply retries (made by the SDK),
    prompt_truncated (the server counted far fewer tokens than the prompt has) and detail (of a failure).
    """

    model: str
    base_url: str
    api_key_env: str | None
    temperature: float | None
    max_tokens: int | None
    token_parameter: Literal["max_tokens", "max_completion_tokens"]
    timeout: float
    retries: int
    validation_retries: int
    mode: Mode
    seed: int | None
    provider: str

    def __post_init__(self) -> None:
        wrong = {
            "temperature": self.temperature is not None and not 0 <= self.temperature <= 2,
            "max_tokens": self.max_tokens is not None and self.max_tokens < 1,
            "token_parameter": self.token_parameter not in TOKEN_PARAMETERS,
            "timeout": self.timeout <= 0,
            "retries": self.retries < 0,
            "validation_retries": self.validation_retries < 0,
            "mode": self.mode not in MODES,
        }
        names = [f"{name}={getattr(self, name)!r}" for name, is_wrong in wrong.items() if is_wrong]
        if names:
            raise ValueError(f"llm {self.model}: out of range: {', '.join(names)}")

    def problems(self) -> list[str]:
        found = []
        if not self.model:
            found.append("llm: no model is named; set it, for example llm.model=gpt-4.1")
        address = urlsplit(self.base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            found.append(
                f"llm {self.model}: base_url is not an http(s) address; see OPENAI_BASE_URL and llm.base_url"
            )
        if self.api_key_env and not self._key:
            found.append(
                f"llm {self.model}: the environment variable {self.api_key_env} is not set; export it"
            )
        return found

    def ask(self, system: str, user: str, schema: Mapping[str, Any] | None) -> Reply:
        """`schema`: flat, of booleans, strings and numbers. Raises FatalError (key, quota, model)."""
        started = time.perf_counter()
        exchange = Exchange(self, self._key)
        messages = [{"role": "system", "content": system}] if system else []
        reason = exchange.run([*messages, {"role": "user", "content": user}], schema)
        tokens_in, tokens_out = exchange.tokens or (None, None)
        sent = {**exchange.sent, **exchange.notes}
        usage = Usage(tokens_in, tokens_out, time.perf_counter() - started, exchange.served, sent)
        return Reply("", usage, "invalid", reason) if reason else Reply(mask(exchange.text, self._key), usage)

    @property
    def _key(self) -> str:
        return os.environ.get(self.api_key_env, "").strip() if self.api_key_env else ""
