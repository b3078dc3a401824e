"""Model libraries that neither print nor phone home."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def no_openvino_telemetry() -> Iterator[None]:
    """Imports of openvino in here find no telemetry.

    `import openvino` sends an event and creates files in the home folder, but takes its own stub where the
    package `openvino_telemetry`
    is missing. So that package is hidden for the moment of the import. (The documented ways are a consent
    file in the home folder, which
    is not ours to write, and `CI=true`, which others read too.)
    """
    hidden = "openvino_telemetry"
    kept = sys.modules.get(hidden)
    sys.modules[hidden] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        if kept is None:
            del sys.modules[hidden]
        else:
            sys.modules[hidden] = kept


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """No progress bars, reports or warnings of transformers, the hub client and torch in here; their
    settings are put back afterwards."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault(
        "TOKENIZERS_PARALLELISM", "true"
    )  # said outright, or tokenizers prints a warning when the process forks
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import transformers.utils.logging as transformers_logging
        from huggingface_hub.utils.tqdm import (
            are_progress_bars_disabled,
            disable_progress_bars,
            enable_progress_bars,
        )

        bars: list[Callable[[], None]] = []
        if not are_progress_bars_disabled():
            disable_progress_bars()
            bars.append(enable_progress_bars)
        if transformers_logging.is_progress_bar_enabled():
            transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
            bars.append(transformers_logging.enable_progress_bar)
        loggers = [
            logging.getLogger(name)
            for name in ("transformers", "huggingface_hub", "sentence_transformers", "torch", "openvino")
        ]
        levels = [logger.level for logger in loggers]
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
            for enable in bars:
                enable()
