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
from typing import Any

from gsw_graph.errors import InputError
from gsw_graph.values import Fields

Env = Mapping[str, str]

DEFAULT_MEMORY = ".gswgraph"
ROLES = ("extract", "plan", "answer", "judge")
"""What a language model is asked for; each may have a model of its own."""
OPTIONS = ("temperature", "top_p", "max_tokens", "extra_body")
"""What `llm_options` may set of each request."""
_VARIABLES = {"memory": "NEO4J_URI"}
for _name in ("username", "password", "database"):
    _VARIABLES[_name] = f"NEO4J_{_name.upper()}"
for _name in (
    "engine_heap embedder embedder_url embedder_key embedder_dimensions embedder_query_prompt device fit "
    "embedder_document_prompt reranker reranker_model reranker_key llm llm_url llm_key llm_timeout "
    "llm_prompt concurrency"
).split():
    _VARIABLES[_name] = f"GSWGRAPH_{_name.upper()}"
_MAY_BE_EMPTY = ("password", "embedder_query_prompt", "embedder_document_prompt")


def default_cache_dir(env: Env) -> Path:
    """Return the folder of files that can be made again: exported models, matrices, private servers.

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
        message = "this user has no home folder, so there is no place for the cache"
        raise InputError(message, hint="Set HOME, or name a folder in GSWGRAPH_CACHE") from error


def expanded(path: str | Path) -> Path:
    """Return a path with the home folder for `~`; as it is if there is no such folder."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def option(default: Any, description: str, **bounds: Any) -> Any:
    """Return a field of options.

    Args:
        default: What it is if nobody gives it.
        description: One sentence for the help of commands and for OpenAPI.
        bounds: What the server checks; arguments of pydantic's `Field`.
    """
    return field(default=default, metadata={"description": description, **bounds})


def _whole(text: str, name: str) -> int:
    try:
        return int(text)
    except ValueError:
        message = f"{text!r} is not a whole number"
        raise InputError(message, where=name, hint="Give a number such as 100") from None


def _price(env: Env, name: str) -> tuple[float, float] | None:
    if not (text := env.get(name)):
        return None
    try:
        prompt, completion = map(float, text.split(","))
    except ValueError:
        hint = "Give dollars for a million prompt and a million completion tokens: 0.40,1.60"
        raise InputError(f"{text!r} is no price", where=name, hint=hint) from None
    return prompt, completion


def _options(env: Env, name: str) -> Fields:
    try:
        options = json.loads(env.get(name) or "{}")
    except ValueError:
        options = None
    if not isinstance(options, dict) or not options.keys() <= {*OPTIONS}:
        hint = f'Give a JSON object with some of {", ".join(OPTIONS)}: {{"temperature": 0.6}}'
        raise InputError("these are no request settings", where=name, hint=hint)
    return options


def _role(env: Env, role: str) -> Fields:
    """Read what is set for one role alone: GSWGRAPH_LLM_PLAN, GSWGRAPH_LLM_URL_PLAN and so on."""
    end = role.upper()
    values: Fields = {}
    for name in ("llm", "llm_url", "llm_key"):
        values[name] = env.get(f"GSWGRAPH_{name.upper()}_{end}")
    values["llm_price"] = _price(env, f"GSWGRAPH_LLM_PRICE_{end}")
    values["llm_options"] = _options(env, f"GSWGRAPH_LLM_OPTIONS_{end}")
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
        llm_price: Dollars for a million prompt tokens and for a million completion tokens, if ours is not
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
        dimensions, heap = self.embedder_dimensions, self.engine_heap
        prices = self.llm_price or ()
        if dimensions is not None and not 1 <= dimensions <= 4096:
            self._refuse("embedder_dimensions", "a number from 1 to 4096")
        if heap is not None and not re.fullmatch(r"[1-9]\d*[mMgG]", heap):
            self._refuse("engine_heap", "a size such as 512m or 4g")
        if self.llm_timeout <= 0:
            self._refuse("llm_timeout", "a time of more than 0 seconds")
        if self.llm_prompt not in ("long", "short"):
            self._refuse("llm_prompt", "long or short")
        if not all(math.isfinite(price) and price >= 0 for price in prices):
            self._refuse("llm_price", "dollars of at least 0")
        if self.concurrency < 1:
            self._refuse("concurrency", "a number of at least 1")

    def _refuse(self, name: str, rule: str) -> None:
        message = f"{getattr(self, name)} will not do"
        raise InputError(message, where=f"{name} (GSWGRAPH_{name.upper()})", hint=f"Give {rule}")

    @property
    def embedder_label(self) -> str:
        """Return the embedder as a memory stores it: its name, and the prompts that replace its own."""
        label = self.embedder
        if self.embedder_query_prompt is not None:
            label += f" with query prompt {self.embedder_query_prompt!r}"
        if self.embedder_document_prompt is not None:
            label += f" with document prompt {self.embedder_document_prompt!r}"
        return label

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
    def from_env(cls, env: Env | None = None) -> Settings:
        """Return settings from variables of the environment.

        Those of Neo4j are NEO4J_URI, NEO4J_USERNAME, NEO4J_PASSWORD and NEO4J_DATABASE, those of OpenAI
        OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL. Our own (GSWGRAPH_*) win. The key of OPENAI_API_KEY
        goes to no server of GSWGRAPH_LLM_URL.
        """
        env = os.environ if env is None else env
        values: Fields = {}
        for name, variable in _VARIABLES.items():
            text = env.get(variable)
            if text or (text is not None and name in _MAY_BE_EMPTY):
                values[name] = text
        if "llm_url" not in values:
            values["llm_url"] = env.get("OPENAI_BASE_URL") or None
            values.setdefault("llm_key", env.get("OPENAI_API_KEY") or None)
        values.setdefault("llm", env.get("OPENAI_MODEL") or None)
        for name in ("embedder_dimensions", "llm_timeout", "concurrency"):
            if name in values:
                values[name] = _whole(values[name], _VARIABLES[name])
        trust = env.get("GSWGRAPH_TRUST_REMOTE_CODE", "").lower()
        roles = {role: _role(env, role) for role in ROLES}
        return cls(
            **values,
            trust_remote_code=trust in ("1", "true", "yes"),
            llm_price=_price(env, "GSWGRAPH_LLM_PRICE"),
            llm_options=_options(env, "GSWGRAPH_LLM_OPTIONS"),
            llm_roles={role: own for role, own in roles.items() if own},
            prompts=Path(env["GSWGRAPH_PROMPTS"]) if env.get("GSWGRAPH_PROMPTS") else None,
            cache_dir=default_cache_dir(env),
        )
