"""Triples by REBEL, a BART that writes the relations of a text as text (Huguet Cabot and Navigli, Findings of
EMNLP 2021). English, some 200 relations.

The code is free; the published weights are under CC BY-NC-SA 4.0, which forbids commercial use.
"""

from __future__ import annotations

import atexit
import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentencex import segment

from gsw_graph.errors import ModelError
from gsw_graph.load.assemble import Assembler
from gsw_graph.model.documents import Document, Workspace
from gsw_graph.models.embed.embedder import find_model
from gsw_graph.models.embed.torch_backend import choose_device, quiet_libraries

MODEL = "Babelscape/rebel-large"
LENGTH = 256
"""Tokens of a text and of what is written about it, as in the model's training."""

_BATCH = {"cpu": 8, "mps": 16, "cuda": 64}
_BEAMS = 3  # those of the authors' demo, and that longer readings are not preferred
_SPECIAL = re.compile(r"<s>|<pad>")
_END = "</s>"
_WORD = re.compile(r"\w+")
_ELSE = (
    "With a network the weights are fetched once; without, copy them into the cache of Hugging "
    "Face "
    "(HF_HOME), or use --extractor rules or llm"
)

Triple = tuple[str, str, str]  # subject, relation, object


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of a passage that the model reads at once: whose it is, its text and its length in tokens."""

    document: int
    passage: int
    text: str
    tokens: int


class Rebel:
    """REBEL on one device. `name` is the model's; not for several threads."""

    def __init__(self, name: str, folder: Path | None, device: str) -> None:
        self.name, self.device = name, device
        self._tokenizer, self._model = _load(name, folder, device)
        self._batch = _BATCH[device]
        # A load that is interrupted leaves the thread behind that reads, and a program that ends while it is
        # inside torch or the tokenizer is aborted.
        self._reading = threading.Lock()
        atexit.register(self._reading.acquire)

    def extract(self, documents: Sequence[Document]) -> list[tuple[Workspace, list[str]]]:
        """The workspace of each document, and what was left out of it. Raises ModelError.

        The model makes up names now and then: a triple is kept only where its subject and its object stand
        in the passage.
        """
        assemblers = [Assembler(document) for document in documents]
        pieces = [
            piece for number, document in enumerate(documents) for piece in self._pieces(number, document)
        ]
        for piece, written in zip(pieces, self._written(pieces), strict=True):
            assembler = assemblers[piece.document]
            if piece.tokens > LENGTH:
                assembler.faults.append(
                    f"a sentence of {piece.tokens} tokens in passage {piece.passage + 1} was read up to "
                    f"the {LENGTH}th"
                )
            text = _words(assembler.document.passages[piece.passage].full_text)
            for subject, relation, object_ in triples(written):
                if absent := [name for name in (subject, object_) if f" {_words(name)} " not in f" {text} "]:
                    told = f"{subject} / {relation} / {object_}"
                    assembler.faults.append(
                        f"the triple {told[:120]!r} was left out: {absent[0][:60]!r} is not in passage "
                        f"{piece.passage + 1}"
                    )
                else:
                    assembler.triple(subject, relation, object_, piece.passage)
        return [(assembler.workspace("rebel"), assembler.faults) for assembler in assemblers]

    def _pieces(self, number: int, document: Document) -> Iterator[_Piece]:
        """The passages, as many whole sentences at a time as the model reads."""
        for passage in document.passages:
            held, size = "", 2  # the marks of beginning and end
            for sentence in segment("en", passage.text):
                with self._reading:
                    length = len(self._tokenizer(sentence, add_special_tokens=False)["input_ids"])
                if held.strip() and size + length > LENGTH:
                    yield _Piece(number, passage.position, held.strip(), size)
                    held, size = "", 2
                held, size = held + sentence, size + length
            if held.strip():
                yield _Piece(number, passage.position, held.strip(), size)

    def _written(self, pieces: Sequence[_Piece]) -> list[str]:
        """What the model writes about each piece, in their order; those of like length are read together."""
        import torch

        order = sorted(range(len(pieces)), key=lambda n: -pieces[n].tokens)
        written = [""] * len(pieces)
        start = 0
        while start < len(order):
            some = order[start : start + self._batch]
            try:
                for place, text in zip(some, self._generate([pieces[n].text for n in some]), strict=True):
                    written[place] = text
                start += len(some)
                continue
            except torch.OutOfMemoryError as error:
                if self._batch == 1:
                    raise self._failed(f"one text does not fit into the memory of {self.device}") from error
                self._batch //= 2
            except (RuntimeError, MemoryError) as error:
                raise self._failed(f"reading {len(some)} texts failed ({error})") from error
            torch.cuda.empty_cache()
        return written

    def _generate(self, texts: list[str]) -> list[str]:
        import torch

        # Held until the last tensor is gone: to free one is torch's work too.
        with self._reading, torch.inference_mode(), quiet_libraries():
            options = {"truncation": True, "padding": True, "return_tensors": "pt", "max_length": LENGTH}
            inputs = dict(self._tokenizer(texts, **options).to(self.device))
            inputs.pop("token_type_ids", None)
            beams = {"max_length": LENGTH, "num_beams": _BEAMS, "length_penalty": 0.0}
            written = self._tokenizer.batch_decode(
                self._model.generate(**inputs, **beams), skip_special_tokens=False
            )
            del inputs
        return list(written)

    def _failed(self, what: str) -> ModelError:
        return ModelError(what, where=self.name, hint="Try GSWGRAPH_DEVICE=cpu")


def load(device: str = "auto", name: str = MODEL) -> Rebel:
    """REBEL by name or folder, downloaded only if it is nowhere on this machine. `device` as in the
    settings. Raises ModelError, InputError (device)."""
    return Rebel(name, find_model(name), choose_device(device))


def triples(written: str) -> list[Triple]:
    """The triples of what the model wrote: `<triplet> subject <subj> object <obj> relation`, and of the same
    subject again `<subj> object <obj> relation`.

    Triples that lack a part are left out; so is the last one where the text was cut by its length, as its
    relation may go on.
    """
    text = _SPECIAL.sub("", written).strip()
    whole = text.endswith(_END)
    found: list[Triple] = []
    for group in text.replace(_END, "").split("<triplet>")[1:]:
        subject, *rest = group.split("<subj>")
        for part in rest:
            object_, mark, relation = part.partition("<obj>")
            found.append(
                (_plain(subject), _plain(relation.partition("<obj>")[0]) if mark else "", _plain(object_))
            )
    if found and not whole:
        found.pop()
    return [triple for triple in dict.fromkeys(found) if all(triple)]


def _plain(text: str) -> str:
    return " ".join(text.split())


def _words(text: str) -> str:
    """The words of a text, however they are written and parted."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _load(name: str, folder: Path | None, device: str) -> tuple[Any, Any]:
    with quiet_libraries():
        import torch
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        place, local = (name, False) if folder is None else (str(folder), True)
        try:
            tokenizer = AutoTokenizer.from_pretrained(place, local_files_only=local, trust_remote_code=False)
            kind = torch.float16 if device == "cuda" else torch.float32
            model = AutoModelForSeq2SeqLM.from_pretrained(
                place, local_files_only=local, trust_remote_code=False, weights_only=True, dtype=kind
            )
            model = model.to(device).eval()
        except Exception as error:  # every library below raises its own kinds
            reason = next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".")
            what = (
                f"the extraction model cannot be loaded ({reason})"
                if folder
                else "no such model is here, nor could it be downloaded"
            )
            raise ModelError(what, where=name, hint=_ELSE) from error
    if missing := [
        mark
        for mark in ("<triplet>", "<subj>", "<obj>")
        if tokenizer.convert_tokens_to_ids(mark) in (None, tokenizer.unk_token_id)
    ]:
        raise ModelError(f"this is no REBEL: its vocabulary has no {missing[0]}", where=name, hint=_ELSE)
    return tokenizer, model
