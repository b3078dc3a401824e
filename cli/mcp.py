"""`gswgraph mcp`: the memory for one agent, by the Model Context Protocol over standard input and output."""

from __future__ import annotations

import click

from gsw_graph.cli.options import memory_option, open_memory
from gsw_graph.cli.serve import check_extra


@click.command()
@memory_option
@click.option("--read-only", is_flag=True, help="Nothing is added or forgotten, and no question kept.")
@click.option("--llm", metavar="MODEL", help="The language model; wins over GSWGRAPH_LLM.")
@click.pass_obj
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
