"""A scripted OpenAI-compatible server on a real loopback socket.

    with Loopback([say("Oslo"), Fault(status=429, headers={"Retry-After": "0"}), say("Bergen")]) as server:
        llm = OpenaiChat(base_url=server.url, ...)

Each request takes the next step of the script; the last step is repeated. A step may be a function of the
request's body. `server.requests` holds the bodies, `server.paths` and `server.keys` what came with them.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from components.wire.clients import close_clients


@dataclass(frozen=True)
class Step:
    """One reply. `cut`: send only so many bytes, then close (0: close at once); `reset`: hang up hard."""

    status: int = 200
    body: Any = None  # text is sent as it is, anything else as JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    reset: bool = False


Script = Sequence[Step | Callable[[dict[str, Any]], Step]]


def say(content: str | None, **changes: Any) -> Step:
    """A chat completion. Changes: finish_reason, model, usage (None = left out), message (more fields),
    and the fields of Step (delay, cut ...)."""
    message = {"role": "assistant", "content": content, **changes.pop("message", {})}
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": changes.pop("model", "test-model-2026"),
        "choices": [{"index": 0, "message": message, "finish_reason": changes.pop("finish_reason", "stop")}],
    }
    usage = changes.pop("usage", {"prompt_tokens": 300, "completion_tokens": 7, "total_tokens": 307})
    if usage is not None:
        body["usage"] = usage
    return Step(body=body, **changes)


def embeddings(vectors: Sequence[Sequence[float]], **changes: Any) -> Step:
    """An embeddings reply. Changes: order (of the items), usage, and the fields of Step."""
    order = changes.pop("order", range(len(vectors)))
    data = [{"object": "embedding", "index": n, "embedding": list(vectors[n])} for n in order]
    usage = changes.pop("usage", {"prompt_tokens": 5 * len(vectors), "total_tokens": 5 * len(vectors)})
    body = {"object": "list", "data": data, "model": "test-embedder-2026", "usage": usage}
    return Step(body=body, **changes)


def refuse(status: int, message: str, **fields: Any) -> Step:
    """An error body as OpenAI words it; fields: code, param, type, headers."""
    headers = fields.pop("headers", {})
    return Step(
        status, {"error": {"message": message, "type": None, "param": None, "code": None, **fields}}, headers
    )


class Loopback:
    """The server: starts in __enter__, ends in __exit__; `url` is its base URL, with /v1."""

    def __init__(self, script: Script) -> None:
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        close_clients()
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _next(self, path: str, key: str, body: dict[str, Any]) -> Step:
        with self._lock:
            self.paths.append(path)
            self.keys.append(key)
            self.requests.append(body)
            step = self.script[min(len(self.requests), len(self.script)) - 1]
        return step if isinstance(step, Step) else step(body)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                step = owner._next(self.path, self.headers.get("Authorization", ""), json.loads(data))
                owner._closing.wait(step.delay)  # a closing server waits for nobody
                try:
                    self._send(step)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True  # the client gave up first

            def _send(self, step: Step) -> None:
                if step.reset:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.close_connection = True
                    self.connection.close()
                    return
                text = step.body if isinstance(step.body, str) else json.dumps(step.body)
                payload = text.encode()
                self.send_response(step.status)
                headers = {"Content-Type": "application/json", **step.headers}
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload if step.cut is None else payload[: step.cut])
                self.wfile.flush()
                self.close_connection = self.close_connection or step.cut is not None

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing: a test's server is silent."""

        return Handler


def wait_until(check: Callable[[], bool], seconds: float = 5.0) -> bool:
    """True as soon as `check()` is true; False when it never became so."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if check():
            return True
        time.sleep(0.01)
    return check()
