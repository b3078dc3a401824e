"""The weights of scores and confidences, and the models that they were fitted to."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from gsw_graph.errors import InputError


@dataclass(frozen=True)
class Fit:
    """Weights that were fitted to an embedder and a reranker; the defaults to those of a fresh installation.

    pair: of the features of a pair (`pair_score`), then the bias. chains: by strategy, of the features of a
    chain (`answer.chains`), then the bias; a strategy that is missing has its own. mean, deviation: of the
    cosines among the candidates of a question, to which those of another embedder are scaled.
    """

    embedder: str = "all-MiniLM-L6-v2"
    reranker: str = "cosine"
    pair: tuple[float, ...] = (3.92, 1.97, 0.97, 2.88, 1.79, 1.05, 1.16, 0.36, 10.68)
    chains: dict[str, tuple[float, ...]] = field(default_factory=dict)
    mean: tuple[float, ...] = (0.46, 0.35, 0.2, 0.4)
    deviation: tuple[float, ...] = (0.18, 0.17, 0.18, 0.2)

    def fits_embedder(self, name: str) -> bool:
        """Return whether an embedder, by its name or path, is the one of the fit."""
        return name.rstrip("/").rpartition("/")[2] == self.embedder.rpartition("/")[2]


@cache
def read_fit(path: str | None) -> Fit:
    """Return the fit of a file that `gswgraph eval fit` wrote, without one the usual fit.

    Raises:
        InputError: The file cannot be read.
    """
    if path is None:
        return Fit()
    try:
        return TypeAdapter(Fit).validate_json(Path(path).read_bytes())
    except (OSError, ValidationError) as error:
        hint = "Write one: gswgraph eval fit QUESTIONS --out FILE"
        reason = " ".join(str(error).split("[type=")[0].split())
        raise InputError(f"the fit cannot be read ({reason})", where=path, hint=hint) from error
