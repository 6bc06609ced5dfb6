"""Bodies of any shape, and the key that is never shown."""

import json

from hypothesis import given
from hypothesis import strategies as st

from components.llm.wire import read_completion
from components.types import FatalError
from components.wire.errors import mask, status_error

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "text", "usage", "prompt_tokens", "model", "refusal"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_body_is_read(body: object) -> None:
    said = read_completion(json.dumps(body))
    assert bool(said.text) != bool(said.problem)


@given(st.text())
def test_any_text_body_is_read(body: str) -> None:
    assert read_completion(body).problem


def test_content_in_parts_is_joined() -> None:
    parts = [{"type": "text", "text": "Os"}, {"type": "image"}, {"type": "text", "text": "lo"}]
    body = {"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}
    assert read_completion(json.dumps(body)).text == "Oslo"


@given(st.text(alphabet="abcdefgh0123456789-", min_size=8, max_size=60), st.text(), st.data())
def test_no_eight_letters_of_a_key_are_seen_in_a_row(key: str, text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(key) - 8))
    seen = mask(f"{text}{key[start:]}{text}{key}", key)
    assert len(seen) == 2 * len(text) + 2 * len(key) - start
    assert not any(key[i : i + 8] in seen for i in range(len(key) - 7))


@given(st.integers(400, 599), JSON)
def test_any_error_body_has_a_meaning(status: int, body: object) -> None:
    error = status_error(status, body, "model at host", "sk-test-not-a-real-key", "llm")
    assert isinstance(error, FatalError) == (status in (401, 402, 403, 404))
