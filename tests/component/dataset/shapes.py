"""Small files in the official shapes, written to disk, and the three readers as their YAML builds them."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from components.types import Dataset, Haystack

CONF = Path(__file__).parents[3] / "conf" / "dataset"
DATA = os.environ.get("CROSSJUDGE_DATA")


def built(name: str, data_dir: str | Path | None, **changes: Any) -> Any:
    """conf/dataset/<name>.yaml with some values changed."""
    config = OmegaConf.create({"data_dir": str(data_dir), "dataset": OmegaConf.load(CONF / f"{name}.yaml")})
    node: Any = OmegaConf.to_container(config.dataset, resolve=True)
    module, kind = node.pop("_target_").rsplit(".", 1)
    return getattr(import_module(module), kind)(**{**node, **changes})


def real_data(path: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        DATA is None or not (Path(DATA) / path).exists(), reason=f"CROSSJUDGE_DATA with {path} is not set"
    )


def written(folder: Path, items: Iterable[Any] | dict[str, Any], name: str = "a.json") -> Path:
    path = folder / name
    path.write_text(
        json.dumps(items if isinstance(items, dict) else list(items), ensure_ascii=False), "utf-8"
    )
    return path


def loaded(dataset: Dataset) -> list[Haystack]:
    return [dataset.load(place) for place in dataset.items()]


def notes(haystacks: Iterable[Haystack]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for haystack in haystacks:
        total.update(haystack.notes)
    return dict(total)


def seen_by_a_system(haystack: Haystack) -> str:
    """All that a memory or a model is given of a haystack, as one text."""
    return repr(haystack.documents) + repr([sample.question for sample in haystack.samples])


def chat(**changes: Any) -> dict[str, Any]:
    """One LongMemEval item: two sessions out of time order, one of them gold, one flagged turn."""
    return {
        "question_id": "q7",
        "question_type": "multi-session",
        "question": "What did I sell?",
        "answer": "a kayak",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["answer_1f_1", "chat_2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/19 (Fri) 10:00"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I sold the kayak.", "has_answer": True},
                {"role": "assistant", "content": "Good riddance.", "has_answer": False},
            ],
            [{"role": "user", "content": "Rain again."}],
        ],
        "answer_session_ids": ["answer_1f_1"],
        **changes,
    }


def talk(qa: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """One LoCoMo sample: sessions 1, 3 and 10, a date without a session, a caption, an annotator's query."""
    return {
        "sample_id": "t1",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_10_date_time": "9:00 am on 2 July, 2023",
            "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "Bye."}],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "I sold the kayak."},
                {
                    "speaker": "Ana",
                    "dia_id": "D1:2",
                    "text": "look!",
                    "blip_caption": "a red canoe on a beach",
                    "img_url": ["https://pictures.example/annotator.jpg"],
                    "query": "annotator canoe",
                },
            ],
            "session_3_date_time": "12:05 am on 1 June, 2023",
            "session_3": [{"speaker": "Ben", "dia_id": "D3:1", "text": "Hello."}],
            "session_9_date_time": "1:00 pm on 9 June, 2023",
            **changes,
        },
        "event_summary": {"x": "annotator summary"},
        "qa": qa,
    }


def qa(**changes: Any) -> dict[str, Any]:
    return {
        "question": "What did Ana sell?",
        "answer": "a kayak",
        "evidence": ["D1:1"],
        "category": 4,
        **changes,
    }
