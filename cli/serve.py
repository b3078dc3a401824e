"""`gswgraph serve`: the memory for others, by HTTP and the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.options import json_option, memory_option, settings
from gsw_graph.cli.text.output import print_json
from gsw_graph.errors import InputError

if TYPE_CHECKING:
    from gsw_graph.memory import Memory


@click.command()
@memory_option
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Where to listen; beyond this machine a token is needed.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8484, show_default=True, help="0: any that is free."
)
@click.option("--read-only", is_flag=True, help="Nothing is loaded or forgotten, and no question kept.")
@click.option(
    "--token-file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="What everybody must send stands here; made where it is missing. Or set GSWGRAPH_SERVE_TOKEN.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="A host name under which the server is asked; may be repeated.",
)
@click.option(
    "--asks",
    type=click.IntRange(min=1),
    help="Questions at once; more wait. By default two for each processor, at least 4 (8 with a language model), at most 16.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    default=120,
    show_default=True,
    metavar="SECONDS",
    help="How long a question or query may take, waiting too.",
)
@click.option(
    "--upload-limit",
    type=click.IntRange(min=1),
    default=256,
    show_default=True,
    metavar="MIB",
    help="What a request to load may send.",
)
@click.option("--llm", metavar="MODEL", help="The language model; wins over GSWGRAPH_LLM.")
@json_option
@click.pass_obj
def serve(
    url: str | None,
    host: str,
    port: int,
    read_only: bool,
    token_file: Path | None,
    names: tuple[str, ...],
    asks: int | None,
    timeout: float,
    upload_limit: int,
    llm: str | None,
    as_json: bool,
) -> None:
    """Serve the memory to others until Ctrl-C: HTTP under /api, the Model Context Protocol at /mcp, a page at /.

    A memory in a folder can then be asked and loaded by many at once, and `ask`, `load` and other verbs of this user go through the server.
    --json prints where it is, in one line, once it listens; `token` is where the token stands.

    \b
    Example:
      gswgraph serve
      gswgraph --memory notes.gswgraph serve --port 9000 --read-only
      gswgraph serve --host 0.0.0.0 --name notes.example.org
    """
    check_extra()
    from gsw_graph.memory import Memory
    from gsw_graph.serve.context import AppState, Limits, default_asks
    from gsw_graph.serve.server import BindAddress, listen, read_token
    from gsw_graph.serve.server import serve as run

    with Memory.open(url, settings=settings(llm=llm), models=["embedder", "llm"]) as memory:
        token, where = read_token(host, token_file, _folder(memory))
        with listen(BindAddress(host, port, names, token)) as (opened, address):
            limits = Limits(
                asks=asks or default_asks(model=memory.settings.llm is not None),
                seconds=timeout,
                upload=upload_limit * 2**20,
            )
            if as_json:
                listening = {
                    "memory": memory.url,
                    "address": address.url,
                    "read_only": read_only,
                    "token": where,
                }
                print_json(listening, lines=True)
            else:
                click.echo(f"{memory.url} is served at {address.url}" + (", read-only" if read_only else ""))
                if where:
                    click.echo(f"The token that everybody must send stands in {where}")
            run(AppState(memory, limits, read_only=read_only), opened, address)


def check_extra() -> None:
    """InputError where the extra `serve` is not installed."""
    from importlib.util import find_spec

    if not all(find_spec(name) for name in ("fastapi", "uvicorn", "mcp", "python_multipart")):
        raise InputError("serving needs more packages", hint="pip install 'gswgraph[serve]'")


def _folder(memory: Memory) -> Path:
    """Where a token is made that no file is named for."""
    return memory.settings.cache_dir if "://" in memory.url else Path(memory.url)
