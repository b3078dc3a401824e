"""`gswgraph doctor`: what is wrong, and the line that mends it."""

from __future__ import annotations

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.output import console, print_json
from gsw_graph.text.safe_text import one_line


@click.command()
@memory_option
@click.option(
    "--mend",
    is_flag=True,
    help="First make missing indexes, count again and delete orphaned nodes.",
)
@click.option("--deep", is_flag=True, help="Also compare every text with the hash of what was loaded.")
@json_option
@click.pass_obj
def doctor(url: str | None, mend: bool, deep: bool, as_json: bool) -> None:
    """Look for what is wrong, and say how to repair it. What is not gswgraph's is named and left alone.

    Exit code 1: something is wrong.

    \b
    Example:
      gswgraph doctor
      gswgraph doctor --mend
      gswgraph doctor --deep
      gswgraph doctor --json
    """
    with open_memory(url) as memory:
        findings = memory.doctor(mend=mend, deep=deep)
    well = all(finding.ok for finding in findings)
    if as_json:
        print_json({"ok": well, "findings": [finding.to_dict() for finding in findings]})
    else:
        from rich.text import Text

        screen = console()
        width = max((len(one_line(finding.check)) for finding in findings), default=0)
        for finding in findings:
            state = ("ok   ", "green") if finding.ok else ("WRONG", "bold red")
            screen.print(
                Text.assemble(state, f"  {one_line(finding.check):<{width}}  {one_line(finding.found)}"),
                soft_wrap=True,
            )
            if not finding.ok and finding.mend:
                screen.print(Text(f"       mend: {one_line(finding.mend)}"), soft_wrap=True)
    click.get_current_context().exit(0 if well else 1)
