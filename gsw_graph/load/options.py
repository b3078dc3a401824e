"""Options of a load. A file of its own, as the command line shows them without loading anything else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

from gsw_graph.config import Settings, option
from gsw_graph.errors import InputError
from gsw_graph.extract import BY_MODEL, EXTRACTORS
from gsw_graph.model.documents import Value, metadata, typed


@dataclass(frozen=True, kw_only=True)
class LoadOptions:
    """How to load; the options of `Memory.load`, `gswgraph load` and the server.

    A new option is a field here and a line in `cli/load.py`; help and OpenAPI show its description.
    """

    extractor: str = option("auto", "What finds facts; auto: llm where one is set, else rules.")
    replace: bool = option(False, "Load documents again though their content is unchanged.")
    upgrade: bool = option(
        False, "Read documents again that another extractor or model read; their passages and questions stay."
    )
    second_pass: bool = option(
        False, "Have the language model repair and complete what it found; twice the calls."
    )
    batch: bool = option(False, "Send the first pass by the Batch API, at half price; run again to go on.")
    dry_run: bool = option(
        False, "Say what would be loaded and what it would take; call nothing, write nothing."
    )
    budget: str | None = option(
        None, "Stop before this is exceeded: 2.00 (dollars) or 1Mtok; what was paid for is kept."
    )
    near: float = option(
        0.0, "Afterwards join names as merge --near does: those whose vectors have this cosine, as 0.93."
    )
    meta: tuple[str, ...] = option(
        (), "Metadata of all that is loaded, key=value; kept by later loads until key= removes it."
    )
    part: str | None = option(
        None, "Load a part of the documents, as 3/8; eight loads of 1/8 to 8/8 load all of them."
    )
    follow_links: bool = option(False, "Follow links that lead out of a folder; else they are skipped.")

    def metadata(self) -> dict[str, Value | None]:
        """Return the metadata that all documents get, None for a key that is removed; InputError where it is
        not `key=value`."""
        pairs = []
        for text in self.meta:
            key, equals, value = text.partition("=")
            if not equals or not key.strip():
                raise InputError(f"{key!r} is no metadata", hint="Give key=value, as in --meta project=tide")
            pairs.append((key, value))
        values = metadata((key, typed(value)) for key, value in pairs)
        return {key: values.get(key) for key in metadata((key, key) for key, _ in pairs)}

    def takes(self, source: str) -> bool:
        """Tell whether what a source names is in the part that is loaded; InputError if it is no part."""
        if self.part is None:
            return True
        match = re.fullmatch(r"([1-9]\d{0,4})/([1-9]\d{0,4})", self.part)
        if match is None or int(match[1]) > int(match[2]):
            raise InputError(f"{self.part!r} is no part", hint="Give number and count, as 3/8")
        digest = sha256(source.encode("utf-8", "replace")).digest()
        return int.from_bytes(digest[:8], "big") % int(match[2]) == int(match[1]) - 1

    def chosen(self, settings: Settings) -> str:
        """Return the extractor's name; InputError where an option does not fit."""
        if self.extractor not in ("auto", *EXTRACTORS):
            raise InputError(
                f"there is no extractor {self.extractor!r}", hint=f"Use one of auto, {', '.join(EXTRACTORS)}"
            )
        name = self.extractor
        if name == "auto":
            name = "llm" if settings.for_role("extract").llm else "rules"
        asks_model = name in BY_MODEL
        # Embeddings of a server cost too.
        unfit = [
            ("budget", self.budget and not asks_model and not settings.embedder_url),
            ("second pass", self.second_pass and name != "llm"),
            ("batch", self.batch and not asks_model),
        ]
        for option_name, is_unfit in unfit:
            if is_unfit:
                raise InputError(
                    f"{name} has no {option_name}, which is for what a language model is asked",
                    hint="Name one: --llm or GSWGRAPH_LLM, and with --extractor llm",
                )
        return name
