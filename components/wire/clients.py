"""The SDK's clients: one per process and endpoint, closed together."""

from __future__ import annotations

import atexit
import ipaddress
import threading
from typing import Any
from urllib.parse import urlsplit

_CLIENTS: dict[tuple[str, str, float, int], Any] = {}
_LOCK = threading.Lock()


def client(base_url: str, key: str, timeout: float, retries: int) -> Any:
    """The SDK's client, one per process and endpoint; no proxy between us and this machine."""
    import openai

    wanted = (base_url, key, timeout, retries)
    with _LOCK:
        if wanted not in _CLIENTS:
            http = openai.DefaultHttpxClient(trust_env=False) if _is_loopback(base_url) else None
            _CLIENTS[wanted] = openai.OpenAI(
                api_key=key or "none",
                base_url=base_url.rstrip("/"),
                timeout=timeout,
                max_retries=retries,
                http_client=http,
            )
        return _CLIENTS[wanted]


@atexit.register
def close_clients() -> None:
    """Closes every connection of this process; the next question opens new ones."""
    with _LOCK:
        for one in _CLIENTS.values():
            one.close()
        _CLIENTS.clear()


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
