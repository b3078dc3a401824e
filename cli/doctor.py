"""`gswgraph doctor`: what is wrong, and the line that mends it."""

from __future__ import annotations

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.output import console, counted, print_json
from gsw_graph.cli.text.safe_text import one_line, short_source

SHOWN = 20  # documents listed before they are forgotten


@click.command()
@memory_option
@click.option(
    "--mend", is_flag=True, help="Make missing indexes, count again and remove what hangs loose, then look."
)
@click.option(
    "--deep",
    is_flag=True,
    help="Read everything, and compare it with what was loaded; takes time. With --mend: load broken "
    "documents again.",
)
@click.option(
    "--yes", "-y", is_flag=True, help="Do not ask before broken documents without a file are forgotten."
)
@json_option
@click.pass_obj
def doctor(url: str | None, mend: bool, deep: bool, yes: bool, as_json: bool) -> None:
    """Look for what is wrong, and say how to mend it.

    With --deep every text is held against its hash, every question-answer pair and vector is read, counts are counted, indexes asked for what is there;
    broken documents are named. With --deep --mend these are loaded again from their files; those without a file are forgotten, after asking.

    Exit code 1: something is wrong.

    \b
    Example:
      gswgraph doctor
      gswgraph doctor --mend
      gswgraph doctor --deep
      gswgraph doctor --json
    """
    with open_memory(url) as memory:
        findings = memory.doctor(mend=mend, deep=deep, may_forget=lambda sources: yes or _agreed(sources))
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


def _agreed(sources: list[str]) -> bool:
    """Whether broken documents may go that cannot be loaded again; nobody there to ask is no."""
    for source in sources[:SHOWN]:
        click.echo(f"Broken, and no file to load it from: {short_source(source)}", err=True)
    if more := len(sources[SHOWN:]):
        click.echo(f"... and {more:,} more", err=True)
    try:
        return click.confirm(f"Forget {counted(len(sources), 'document')}?", err=True)
    except click.Abort:
        return False
