"""The rerankers of the settings, and a CrossEncoder made here."""

from __future__ import annotations

import numpy as np
import pytest

from gsw_graph.config import Settings
from gsw_graph.errors import InputError, ModelError
from gsw_graph.models.embed.torch_backend import quiet_libraries
from gsw_graph.models.rerank import CrossEncoderReranker, HttpReranker, load

WORDS = (
    "who wrote the trial novel by kafka river flows from mountain to sea blue was born in prague a".split()
)
PAIRS = [
    ("who wrote the trial", "the trial a novel by kafka"),
    ("who wrote the trial", "the river flows from the mountain to the blue sea " * 3),
    ("who was born in prague", "kafka was born in prague"),
    ("who wrote the trial", "the trial a novel by kafka"),
    ("who was born in prague", ""),
    ("", "sea"),
]
KEY = "sk-very-secret"


def make_cross_encoder(folder, labels=1, activation="torch.nn.modules.linear.Identity", head=True):
    with quiet_libraries():
        import torch
        from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizerFast

        torch.manual_seed(5)
        folder.mkdir()
        (folder / "vocab.txt").write_text(
            "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "?", *WORDS]), encoding="utf-8"
        )
        BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=32).save_pretrained(folder)
        config = BertConfig(
            vocab_size=6 + len(WORDS),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=32,
            initializer_range=1.0,  # large enough that other texts give other scores
            num_labels=labels,
        )
        if activation:
            config.sentence_transformers = {"activation_fn": activation}
        (BertForSequenceClassification if head else BertModel)(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_cross_encoder(tmp_path_factory.mktemp("cross") / "model")


@pytest.fixture(scope="module")
def cross(folder):
    loaded = load(Settings(reranker=str(folder), device="cpu"))
    assert isinstance(loaded, CrossEncoderReranker)
    return loaded


def plain_logits(folder, pairs):
    """By hand: what the model gives for one pair after the other."""
    with quiet_libraries():
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(folder)
        model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
        with torch.inference_mode():
            return np.array(
                [
                    model(
                        **tokenizer([pair], truncation=True, max_length=32, return_tensors="pt")
                    ).logits.item()
                    for pair in pairs
                ]
            )


def expected(logits):
    return 1 / (1 + np.exp(-logits))


def test_settings():
    assert Settings().reranker == Settings.from_env({"GSWGRAPH_RERANKER": ""}).reranker == "cosine"
    assert load(Settings()) is None
    set_ = Settings.from_env(
        {
            "GSWGRAPH_RERANKER": "https://h/rerank",
            "GSWGRAPH_RERANKER_MODEL": "m",
            "GSWGRAPH_RERANKER_KEY": KEY,
        }
    )
    assert set_.reranker == "https://h/rerank"
    assert set_.reranker_model == "m"
    assert set_.reranker_key == KEY
    assert KEY not in repr(set_)
    loaded = load(set_)
    assert isinstance(loaded, HttpReranker)
    assert loaded.name == "m at h"
    assert KEY not in repr(loaded)


def test_cross_encoder_scores(cross, folder):
    scores = cross.score(PAIRS)
    assert scores.dtype == np.float32
    assert np.abs(scores - expected(plain_logits(folder, PAIRS))).max() < 1e-5
    assert scores.min() >= 0
    assert scores.max() <= 1
    assert np.ptp(scores) > 0.1  # or the tests of the order below could not fail
    assert cross.name == str(folder)
    assert cross.device == "cpu"


@pytest.mark.parametrize("activation", ["torch.nn.modules.activation.Sigmoid", None])
def test_sigmoid_is_taken_once(folder, tmp_path, activation):
    same = CrossEncoderReranker(str(make_cross_encoder(tmp_path / "model", activation=activation)), "cpu")
    assert np.abs(same.score(PAIRS) - expected(plain_logits(folder, PAIRS))).max() < 1e-5


def test_sigmoid_in_the_model_itself_is_the_only_one(tmp_path):
    with quiet_libraries():
        import torch
        from sentence_transformers import CrossEncoder
        from sentence_transformers.models import Dense, Pooling, Transformer

        body = make_cross_encoder(tmp_path / "body", activation=None, head=False)
        dense = Dense(16, 1, activation_function=torch.nn.Sigmoid(), module_output_name="scores")
        dense.linear.weight.data *= 5
        modules = [Transformer(str(body), max_seq_length=32), Pooling(16), dense]
        CrossEncoder(modules=modules, activation_fn=torch.nn.Identity(), device="cpu").save_pretrained(
            str(tmp_path / "model")
        )
        plain = CrossEncoder(str(tmp_path / "model"), device="cpu", local_files_only=True)
    wanted = plain.predict(PAIRS, show_progress_bar=False)
    assert wanted.min() < 0.3  # a second sigmoid would not go below 0.5
    assert np.abs(CrossEncoderReranker(str(tmp_path / "model"), "cpu").score(PAIRS) - wanted).max() < 1e-5


def test_models_that_are_no_rerankers(tmp_path):
    for name, options, said in (
        ("several", {"labels": 3}, "gives 3 labels"),
        ("embedder", {"head": False}, "not a CrossEncoder: it was saved as BertModel"),
        ("tanh", {"activation": "torch.nn.modules.activation.Tanh"}, "end in Tanh"),
    ):
        with pytest.raises(ModelError, match=said) as caught:
            CrossEncoderReranker(str(make_cross_encoder(tmp_path / name, **options)), "cpu")  # type: ignore[arg-type]
        assert caught.value.hint is not None
        assert "cross-encoder/" in caught.value.hint


def test_missing_models(folder, tmp_path, monkeypatch, capfd):
    for name in ("/no/such/folder", str(tmp_path)):
        with pytest.raises(ModelError, match=r"config\.json"):
            load(Settings(reranker=name, device="cpu"))
    (tmp_path / "config.json").write_text((folder / "config.json").read_text())
    with pytest.raises(ModelError, match="the model cannot be loaded"):
        load(Settings(reranker=str(tmp_path), device="cpu"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match=r"nor could it be downloaded.*GSWGRAPH_RERANKER=cosine") as caught:
        load(Settings(reranker="nobody/no-such-model", device="cpu"))
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="no device"):
        load(Settings(reranker=str(folder), device="gpu"))
    assert capfd.readouterr() == ("", "")


def test_half_precision(folder, monkeypatch):
    """On a GPU: float16, and bfloat16 for a model whose activations are too large for it."""
    import torch

    cross = CrossEncoderReranker(str(folder), "cpu")
    exact = cross.score(PAIRS)
    cross._halve()
    assert {weight.dtype for weight in cross.model.parameters()} == {torch.float16}
    assert np.abs(cross.score(PAIRS) - exact).max() < 0.02
    cross = CrossEncoderReranker(str(folder), "cpu")
    monkeypatch.setattr(cross, "_predict", lambda pairs: np.array([np.inf]))
    cross._halve()
    assert {weight.dtype for weight in cross.model.parameters()} == {torch.bfloat16}
    with pytest.raises(ModelError, match="not numbers"):
        cross.score(PAIRS[:1])
