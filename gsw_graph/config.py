"""One settings object. Nothing is read from the environment before `Settings.from_env()` is called."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from gsw_graph.errors import InputError

T = TypeVar("T")

DEFAULT_MEMORY = ".gswgraph"
ROLES = ("extract", "plan", "answer", "judge")
"""What a language model is asked for; each may have a model of its own."""
OPTIONS = ("temperature", "top_p", "max_tokens", "extra_body")
"""What `llm_options` may set of each request."""


def default_cache_dir(env: Mapping[str, str]) -> Path:
    """The folder of files that can be made again: exported models, matrices, private servers.

    Raises:
        InputError: No folder is named, and this user has no home.
    """
    if chosen := env.get("GSWGRAPH_CACHE"):
        return Path(chosen)
    try:
        if sys.platform == "win32":
            return Path(env.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "gswgraph"
        if sys.platform == "darwin":
            return Path.home() / "Library/Caches/gswgraph"
        return Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gswgraph"
    except RuntimeError as error:
        raise InputError(
            "this user has no home folder, so there is no place for the cache",
            hint="Set HOME, or name a folder in GSWGRAPH_CACHE",
        ) from error


def expanded(path: str | Path) -> Path:
    """Return a path with the home folder for `~`; as it is if there is no such folder."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def option(default: Any, description: str, **bounds: Any) -> Any:
    """Return a field of options.

    Args:
        default: What it is where nobody gives it.
        description: One sentence for the help of commands and for OpenAPI.
        bounds: What the server checks; arguments of pydantic's `Field`.
    """
    return field(default=default, metadata={"description": description, **bounds})


def _whole(env: Mapping[str, str], name: str, default: T) -> int | T:
    text = env.get(name)
    try:
        return int(text) if text else default
    except ValueError:
        raise InputError(
            f"{text!r} is not a whole number", where=name, hint="Give a number such as 100"
        ) from None


def _price(env: Mapping[str, str], name: str) -> tuple[float, float] | None:
    if not (text := env.get(name)):
        return None
    try:
        prompt, completion = map(float, text.split(","))
    except ValueError:
        raise InputError(
            f"{text!r} is no price",
            where=name,
            hint="Give dollars for a million prompt and a million completion tokens: 0.40,1.60",
        ) from None
    return prompt, completion


def _options(env: Mapping[str, str], name: str) -> dict[str, Any]:
    try:
        options = json.loads(env.get(name) or "{}")
    except ValueError:
        options = None
    if not isinstance(options, dict) or not options.keys() <= {*OPTIONS}:
        hint = f'Give a JSON object with some of {", ".join(OPTIONS)}: {{"temperature": 0.6}}'
        raise InputError("these are no request settings", where=name, hint=hint)
    return options


def _role(env: Mapping[str, str], role: str) -> dict[str, Any]:
    """Read what is set for one role alone: GSWGRAPH_LLM_PLAN, GSWGRAPH_LLM_URL_PLAN and so on."""
    end = role.upper()
    texts = {name: env.get(f"GSWGRAPH_{name.upper()}_{end}") for name in ("llm", "llm_url", "llm_key")}
    values = {
        **texts,
        "llm_price": _price(env, f"GSWGRAPH_LLM_PRICE_{end}"),
        "llm_options": _options(env, f"GSWGRAPH_LLM_OPTIONS_{end}"),
    }
    return {name: value for name, value in values.items() if value}


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the memory is and which models serve it.

    Attributes:
        memory: A folder (embedded engine) or a `bolt://` or `neo4j://` url, then with username, password and
            database.
        engine_heap: The most Java heap of the embedded engine, such as `2g`; left out, a quarter of the
            memory, 512 MB to 4 GB.
        embedder: A sentence-transformers model name or path; with embedder_url the name by which that
            OpenAI-compatible server knows it, asked with the key embedder_key for vectors of
            embedder_dimensions, if that is set.
        embedder_query_prompt: Text put before a question; left out, the model's own. So is
            embedder_document_prompt before a document.
        trust_remote_code: Whether code that a model of the hub brings may run.
        device: `auto`, `cpu`, `cuda` or `mps`.
        reranker: `cosine` (the embedder's vectors), a CrossEncoder model name or path, or the http(s) url of
            a /rerank endpoint, which is asked for the model reranker_model with the key reranker_key.
        fit: The file of `gswgraph eval fit`, with weights for these models.
        llm: The model that plans, answers and extracts, by the name its server knows; without one nothing
            asks a language model. llm_url and llm_key are of its OpenAI-compatible server; without a url it
            is OpenAI's.
        llm_timeout: Seconds in which the next part of a reply must come.
        llm_prompt: `long`, or `short` for small models.
        llm_price: Dollars for a million prompt tokens and for a million completion tokens, where ours is not
            known.
        llm_options: Of each request: temperature (0 unless set), top_p, max_tokens, and extra_body for what
            one server alone knows, such as a switch for thinking.
        llm_roles: By role (`extract`, `plan`, `answer`, `judge`) those of llm, llm_url, llm_key, llm_price
            and llm_options that differ for it.
        prompts: A folder of prompts that replace ours of the same name.
        concurrency: Calls at once.

    Raises:
        InputError: Nothing can be asked with these numbers.
    """

    memory: str = DEFAULT_MEMORY
    username: str = "neo4j"
    password: str | None = field(default=None, repr=False)
    database: str | None = None
    engine_heap: str | None = None
    embedder: str = "all-MiniLM-L6-v2"
    embedder_url: str | None = None
    embedder_key: str | None = field(default=None, repr=False)
    embedder_dimensions: int | None = None
    embedder_query_prompt: str | None = None
    embedder_document_prompt: str | None = None
    trust_remote_code: bool = False
    device: str = "auto"
    reranker: str = "cosine"
    reranker_model: str | None = None
    reranker_key: str | None = field(default=None, repr=False)
    fit: str | None = None
    llm: str | None = None
    llm_url: str | None = None
    llm_key: str | None = field(default=None, repr=False)
    llm_timeout: int = 120
    llm_prompt: str = "long"
    llm_price: tuple[float, float] | None = None
    llm_options: Mapping[str, Any] = field(default_factory=dict)
    llm_roles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    prompts: Path | None = None
    concurrency: int = 8
    cache_dir: Path = field(default_factory=lambda: default_cache_dir(os.environ))

    def __post_init__(self) -> None:
        for name, sound, rule in (
            (
                "embedder_dimensions",
                self.embedder_dimensions is None or 1 <= self.embedder_dimensions <= 4096,
                "a number from 1 to 4096",
            ),
            (
                "engine_heap",
                self.engine_heap is None or re.fullmatch(r"[1-9]\d*[mMgG]", self.engine_heap) is not None,
                "a size such as 512m or 4g",
            ),
            ("llm_timeout", self.llm_timeout > 0, "a time of more than 0 seconds"),
            ("llm_prompt", self.llm_prompt in ("long", "short"), "long or short"),
            (
                "llm_price",
                all(math.isfinite(dollars) and dollars >= 0 for dollars in self.llm_price or ()),
                "dollars of at least 0",
            ),
            ("concurrency", self.concurrency >= 1, "a number of at least 1"),
        ):
            if not sound:
                raise InputError(
                    f"{getattr(self, name)} will not do",
                    where=f"{name} (GSWGRAPH_{name.upper()})",
                    hint=f"Give {rule}",
                )

    @property
    def embedder_label(self) -> str:
        """The embedder as a memory stores it: its name, and the prompts that replace its own."""
        prompts = (("query", self.embedder_query_prompt), ("document", self.embedder_document_prompt))
        return self.embedder + "".join(
            f" with {kind} prompt {text!r}" for kind, text in prompts if text is not None
        )

    def for_role(self, role: str) -> Settings:
        """Return the settings with the language model of a role.

        A url of its own brings its own key or none, and a model of its own its own price.
        """
        own = dict(self.llm_roles.get(role, {}))
        if "llm_url" in own:
            own.setdefault("llm_key", None)
        if own.get("llm", self.llm) != self.llm:
            own.setdefault("llm_price", None)
        return replace(self, **own, llm_roles={})

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> Settings:
        """Settings from the usual names of Neo4j (NEO4J_URI, NEO4J_USERNAME, NEO4J_PASSWORD, NEO4J_DATABASE)
        and OpenAI (OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL), and our own (GSWGRAPH_*), which win.
        The key of OPENAI_API_KEY goes to no server of GSWGRAPH_LLM_URL."""
        env = os.environ if env is None else env
        url = env.get("GSWGRAPH_LLM_URL") or None
        return cls(
            memory=env.get("NEO4J_URI") or DEFAULT_MEMORY,
            username=env.get("NEO4J_USERNAME") or "neo4j",
            password=env.get("NEO4J_PASSWORD"),
            database=env.get("NEO4J_DATABASE") or None,
            engine_heap=env.get("GSWGRAPH_ENGINE_HEAP") or None,
            embedder=env.get("GSWGRAPH_EMBEDDER") or "all-MiniLM-L6-v2",
            embedder_url=env.get("GSWGRAPH_EMBEDDER_URL") or None,
            embedder_key=env.get("GSWGRAPH_EMBEDDER_KEY") or None,
            embedder_dimensions=_whole(env, "GSWGRAPH_EMBEDDER_DIMENSIONS", None),
            embedder_query_prompt=env.get("GSWGRAPH_EMBEDDER_QUERY_PROMPT"),
            embedder_document_prompt=env.get("GSWGRAPH_EMBEDDER_DOCUMENT_PROMPT"),
            trust_remote_code=env.get("GSWGRAPH_TRUST_REMOTE_CODE", "").lower() in ("1", "true", "yes"),
            device=env.get("GSWGRAPH_DEVICE") or "auto",
            reranker=env.get("GSWGRAPH_RERANKER") or "cosine",
            reranker_model=env.get("GSWGRAPH_RERANKER_MODEL") or None,
            reranker_key=env.get("GSWGRAPH_RERANKER_KEY") or None,
            fit=env.get("GSWGRAPH_FIT") or None,
            llm=env.get("GSWGRAPH_LLM") or env.get("OPENAI_MODEL") or None,
            llm_url=url or env.get("OPENAI_BASE_URL") or None,
            llm_key=env.get("GSWGRAPH_LLM_KEY") or (None if url else env.get("OPENAI_API_KEY")) or None,
            llm_timeout=_whole(env, "GSWGRAPH_LLM_TIMEOUT", 120),
            llm_prompt=env.get("GSWGRAPH_LLM_PROMPT") or "long",
            llm_price=_price(env, "GSWGRAPH_LLM_PRICE"),
            llm_options=_options(env, "GSWGRAPH_LLM_OPTIONS"),
            llm_roles={role: own for role in ROLES if (own := _role(env, role))},
            prompts=Path(env["GSWGRAPH_PROMPTS"]) if env.get("GSWGRAPH_PROMPTS") else None,
            concurrency=_whole(env, "GSWGRAPH_CONCURRENCY", 8),
            cache_dir=default_cache_dir(env),
        )
