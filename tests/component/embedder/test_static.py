from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from components.embedder.static import Static
from components.types import ComponentError
from tests.component.retrieval import conf

STATIC = Static(**conf("embedder", "static"))


def test_unit_length_and_meaning() -> None:
    made = STATIC.embed(["a dog ran", "a puppy was running", "quarterly tax revenue"], "document")
    assert made.shape == (3, 256) and made.dtype == np.float32
    assert np.linalg.norm(made, axis=1) == pytest.approx(np.ones(3), abs=1e-6)
    near, far = made[0] @ made[1], made[0] @ made[2]
    assert near > far + 0.2


def test_the_mean_of_the_tokens_vectors() -> None:
    """Oracle: the two files read here by hand."""
    from safetensors import safe_open
    from tokenizers import Tokenizer

    folder = STATIC._folder()
    assert folder is not None
    with safe_open(folder / STATIC.weights, "numpy") as file:
        table = file.get_tensor("embedding.weight").astype(np.float64)
    tokenizer = Tokenizer.from_file(str(folder / STATIC.tokenizer))
    for text in ("Where did Ana sell the kayak?", "日本 🎉"):
        mean = table[tokenizer.encode(text, add_special_tokens=False).ids].mean(axis=0)
        assert STATIC.embed([text], "query")[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


def test_a_batch_changes_nothing() -> None:
    texts = [f"turn {n} about {'kayaks ' * (n % 9)}" for n in range(50)]
    small = replace(STATIC, batch=3)
    assert np.array_equal(STATIC.embed(texts, "document"), small.embed(texts, "document"))
    assert np.array_equal(STATIC.embed(texts, "document")[17], STATIC.embed([texts[17]], "query")[0])


def test_the_head_only() -> None:
    cut = replace(STATIC, max_chars=5)
    assert np.array_equal(cut.embed(["kayak and more"], "document"), STATIC.embed(["kayak"], "document"))


def test_no_token_is_an_error() -> None:
    with pytest.raises(ComponentError, match="embed: zero vector"):
        STATIC.embed(["kayak", ""], "document")
    assert STATIC.embed(["broken \ud83c emoji"], "document").shape == (1, 256)
    assert STATIC.embed([], "document").shape[0] == 0


def test_the_package_is_not_imported() -> None:
    """Its loader would try to download, and it sets up logging."""
    code = (
        "import sys; from tests.component.embedder.test_static import STATIC; STATIC.embed(['a'], 'query');"
        "assert 'wordllama' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_problems() -> None:
    assert STATIC.problems() == []
    assert "not installed" in replace(STATIC, package="no_such_package").problems()[0]
    assert "weights/x" in replace(STATIC, weights="weights/x").problems()[0]
    with pytest.raises(ComponentError, match="no model"):
        replace(STATIC, package="no_such_package").embed(["a"], "query")


def test_its_weights_are_part_of_a_runs_identity() -> None:
    files = Static(**conf("embedder", "static")).model_files()
    assert set(files) == {"l2_supercat_256.safetensors", "l2_supercat_tokenizer_config.json"}
    assert all(len(digest) == 64 for digest in files.values())


def test_runs_of_blanks_are_not_lost() -> None:
    """Oracle: every text tokenised whole. Blanks at the edges and in runs are tokens of their own."""
    tokenizer, table = STATIC._model
    texts = ["a  kayak", " kayak", "kayak ", "a kayak", "\n a\tkayak", "kayak  ", "日本  🎉 x"]
    made = STATIC.embed(texts, "document")
    for text, row in zip(texts, made, strict=True):
        total = table[tokenizer.encode(text, add_special_tokens=False).ids].sum(axis=0)
        assert row == pytest.approx(total / np.linalg.norm(total), abs=1e-6), text
