"""Triples by REBEL, a BART that writes the relations of a text as text (Huguet Cabot and Navigli, Findings of
EMNLP 2021). English, some 200 relations.

The code is free; the published weights are under CC BY-NC-SA 4.0, which forbids commercial use.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from sentencex import segment

from gsw_graph.errors import ModelError
from gsw_graph.extract import Work, with_names
from gsw_graph.model.assemble import Assembler
from gsw_graph.model.documents import Document, Failure, Workspace
from gsw_graph.models.embed.embedder import find_model
from gsw_graph.models.embed.torch_backend import choose_device, first_line, quiet_libraries

MODEL = "Babelscape/rebel-large"
LENGTH = 256
"""Tokens of a text and of what is written about it, as in the model's training."""

_DOCUMENTS = 32  # whose passages are read together
_BATCH = {"cpu": 8, "mps": 16, "cuda": 32}
_BEAMS = 3  # those of the authors' demo, and that longer readings are not preferred
_SPECIAL = re.compile(r"<s>|<pad>")
_END = "</s>"
_WORD = re.compile(r"\w+")
_OTHER = (
    "With a network the weights are fetched once; without, copy them into the cache of Hugging Face "
    "(HF_HOME), or use --extractor rules or llm"
)

Triple = tuple[str, str, str]  # subject, relation, object
Piece = tuple[int, int, str, int]  # document, passage, text that the model reads at once, its tokens


class Rebel:
    """REBEL on one device; an extractor, not for several threads. It is downloaded if it is nowhere on this
    machine.

    Args:
        device: As in the settings.
        model: Its name or folder.

    Raises:
        ModelError: It cannot be loaded.
        InputError: There is no such device.
    """

    name = "rebel"
    window = 256

    def __init__(self, device: str = "auto", model: str = MODEL) -> None:
        folder, self.device = find_model(model), choose_device(device)
        self.model: str | None = model
        self._batch = _BATCH[self.device]
        with quiet_libraries():
            import torch
            from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

            place = str(folder or model)
            options: dict[str, Any] = {"local_files_only": folder is not None, "trust_remote_code": False}
            kind = torch.float16 if self.device == "cuda" else torch.float32
            try:
                self._tokenizer = AutoTokenizer.from_pretrained(place, **options)
                network = AutoModelForSeq2SeqLM.from_pretrained(
                    place, weights_only=True, dtype=kind, **options
                )
                self._network = network.to(self.device).eval()
            except Exception as error:  # every library below raises its own kinds
                message = "no such model is here, nor could it be downloaded"
                if folder:
                    message = f"the extraction model cannot be loaded ({first_line(error)})"
                raise ModelError(message, where=model, hint=_OTHER) from error

    def run(self, work: Iterable[Work]) -> Iterator[Work]:
        """Fill in the workspaces of work as it comes, a few documents at a time."""
        iterator = iter(work)
        while tasks := list(islice(iterator, _DOCUMENTS)):
            new = [task for task in tasks if task.workspace is None]
            results = self.extract([task.document for task in new])
            for task, (workspace, faults) in zip(new, results, strict=True):
                task.workspace = replace(with_names(workspace), model=self.model)
                task.faults = [Failure(task.document.source, fault, part=True) for fault in faults]
            yield from tasks

    def extract(self, documents: Sequence[Document]) -> list[tuple[Workspace, list[str]]]:
        """Return the workspace of each document, and what was left out of it. Raises ModelError.

        The model makes up names now and then: a triple is kept only if its subject and its object occur in
        the passage.
        """
        assemblers = [Assembler(document) for document in documents]
        pieces: list[Piece] = []
        for number, document in enumerate(documents):
            pieces += self._pieces(number, document)
        replies = self._read(pieces)
        for piece in pieces:
            number, position, _, tokens = piece
            assembler, place = assemblers[number], f"passage {position + 1}"
            if tokens > LENGTH:
                assembler.faults.append(
                    f"a sentence of {tokens} tokens in {place} was read up to the {LENGTH}th"
                )
            text = f" {_words(assembler.document.passages[position].full_text)} "
            for triple in triples(replies[piece]):
                absent = [name for name in triple[::2] if f" {_words(name)} " not in text]
                if not absent:
                    assembler.triple(*triple, position)
                    continue
                written = repr(" / ".join(triple)[:120])
                assembler.faults.append(
                    f"the triple {written} was left out: {absent[0][:60]!r} is not in {place}"
                )
        return [(assembler.workspace("rebel"), assembler.faults) for assembler in assemblers]

    def _pieces(self, number: int, document: Document) -> Iterator[Piece]:
        """Yield the passages of a document, as many whole sentences at a time as the model reads."""
        for passage in document.passages:
            text, size = "", 2  # the marks of beginning and end
            for sentence in [*segment("en", passage.text), ""]:
                length = len(self._tokenizer(sentence, add_special_tokens=False)["input_ids"])
                if text.strip() and (not sentence or size + length > LENGTH):
                    yield number, passage.position, text.strip(), size
                    text, size = "", 2
                text, size = text + sentence, size + length

    def _read(self, pieces: Sequence[Piece]) -> dict[Piece, str]:
        """Return what the model writes about each piece; those of like length are read together."""
        ordered = sorted(pieces, key=lambda piece: -piece[3])
        replies: dict[Piece, str] = {}
        try:
            for begin in range(0, len(ordered), self._batch):
                batch = ordered[begin : begin + self._batch]
                replies.update(zip(batch, self._generate([piece[2] for piece in batch]), strict=True))
        except (RuntimeError, MemoryError) as error:
            message, hint = f"reading {len(batch)} texts failed ({error})", "Try GSWGRAPH_DEVICE=cpu"
            raise ModelError(message, where=self.model, hint=hint) from error
        return replies

    def _generate(self, texts: list[str]) -> list[str]:
        import torch

        with torch.inference_mode(), quiet_libraries():
            options = {"truncation": True, "padding": True, "return_tensors": "pt", "max_length": LENGTH}
            inputs = dict(self._tokenizer(texts, **options).to(self.device))
            inputs.pop("token_type_ids", None)
            beams = {"max_length": LENGTH, "num_beams": _BEAMS, "length_penalty": 0.0}
            written = self._tokenizer.batch_decode(
                self._network.generate(**inputs, **beams), skip_special_tokens=False
            )
        return list(written)


def triples(written: str) -> list[Triple]:
    """Read what the model wrote: `<triplet> subject <subj> object <obj> relation`, and of the same subject
    again `<subj> object <obj> relation`.

    Triples that lack a part are left out; so is the last one if the text was cut by its length, as its
    relation may go on.
    """
    text = _SPECIAL.sub("", written).strip()
    results = []
    for group in text.replace(_END, "").split("<triplet>")[1:]:
        subject, *rest = group.split("<subj>")
        for part in rest:
            object_, _, relation = part.partition("<obj>")
            relation = relation.partition("<obj>")[0]
            results.append((_flat(subject), _flat(relation), _flat(object_)))
    whole = results if text.endswith(_END) else results[:-1]
    return [triple for triple in dict.fromkeys(whole) if all(triple)]


def _flat(text: str) -> str:
    return " ".join(text.split())


def _words(text: str) -> str:
    """Return the words of a text, however they are written and parted."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
