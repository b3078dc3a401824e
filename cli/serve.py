"""`gswgraph serve` and `mcp`: the memory for others, by HTTP and the Model Context Protocol."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from gsw_graph.cli.options import (
    POSITIVE,
    check_unserved,
    flag,
    json_option,
    open_memory,
    settings,
    with_memory,
)
from gsw_graph.cli.text.output import print_json
from gsw_graph.errors import InputError


@click.command()
@with_memory
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Where to listen; beyond this machine a token is needed.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8484, show_default=True, help="0: any that is free."
)
@flag("--read-only", help="Nothing is loaded or forgotten, and no question kept.")
@click.option(
    "--token-file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file of the token that everybody must send; made where it is missing. Or set GSWGRAPH_SERVE_TOKEN.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="A host name under which the server is asked; may be repeated.",
)
@click.option(
    "--origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="Another site whose pages may ask: https://notes.example.org; may be repeated.",
)
@click.option(
    "--asks",
    type=POSITIVE,
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
    type=POSITIVE,
    default=256,
    show_default=True,
    metavar="MIB",
    help="What a request to load may send.",
)
@click.option("--llm", metavar="MODEL", help="The language model; wins over GSWGRAPH_LLM.")
@json_option
def serve(
    url: str | None,
    host: str,
    port: int,
    read_only: bool,
    token_file: Path | None,
    names: tuple[str, ...],
    origins: tuple[str, ...],
    asks: int | None,
    timeout: float,
    upload_limit: int,
    llm: str | None,
    as_json: bool,
) -> None:
    """Serve the memory to others until Ctrl-C: HTTP under /api, the Model Context Protocol at /mcp, a page at /.

    A memory in a folder can then be asked and loaded by many at once, and `ask`, `load` and other verbs of this user go through the server.
    --json prints where it is, in one line, once it listens; `token` is the file of the token.

    \b
    Example:
      gswgraph serve
      gswgraph --memory notes.gswgraph serve --port 9000 --read-only
      gswgraph serve --host 0.0.0.0 --name notes.example.org
    """
    check_extra()
    from gsw_graph.engine.address import split_address
    from gsw_graph.memory import Memory
    from gsw_graph.serve.app import BindAddress, listen, read_token
    from gsw_graph.serve.app import serve as run
    from gsw_graph.serve.context import AppState, Limits, default_asks

    check_unserved(url, "serve")
    with Memory.open(url, settings=settings(llm=llm), models=["embedder", "llm"]) as memory:
        place, _ = split_address(memory.url)
        folder = memory.settings.cache_dir if "://" in place else Path(place)
        token, where = read_token(host, token_file, folder)
        with listen(BindAddress(host, port, names, token, origins)) as (opened, address):
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
                    click.echo(f"The token that everybody must send is in {where}")
            run(AppState(memory, limits, read_only=read_only), opened, address)


def check_extra() -> None:
    """Raise InputError where the extra `serve` is not installed."""
    if not all(find_spec(name) for name in ("fastapi", "uvicorn", "mcp", "python_multipart")):
        raise InputError("serving needs more packages", hint="pip install 'gswgraph[serve]'")


@click.command()
@with_memory
@flag("--read-only", help="Nothing is added or forgotten, and no question kept.")
@click.option("--llm", metavar="MODEL", help="The language model; wins over GSWGRAPH_LLM.")
def mcp(url: str | None, read_only: bool, llm: str | None) -> None:
    """Serve the memory to the program that started this, by the Model Context Protocol over standard input and output.

    For the configuration of an agent. A memory in a folder that `gswgraph serve` has open is asked through it, so that several agents and people share it.

    \b
    Example:
      gswgraph mcp
      gswgraph --memory notes.gswgraph mcp --read-only
    """
    check_extra()
    import anyio

    from gsw_graph.serve.context import AppState
    from gsw_graph.serve.mcp_server import Server

    with open_memory(url, create=True, models=["embedder", "llm"], llm=llm) as memory:
        server = Server(AppState(memory, read_only=read_only))
        anyio.run(server.run_stdio_async)
