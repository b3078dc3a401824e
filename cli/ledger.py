"""`gswgraph ledger`: what language models were asked, and what that took."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.options import json_option, settings
from gsw_graph.cli.text.output import counted, money, print_json, print_table
from gsw_graph.text.safe_text import short_source

if TYPE_CHECKING:
    from gsw_graph.models.chat.cache import Entry

SHOWN = 20  # documents listed for people


@click.command()
@json_option
def ledger(as_json: bool) -> None:
    """Show calls, tokens and money by stage and model, and the documents that took most: of all loads and questions with this user's cache.

    Tokens are as the servers counted them, dollars by list prices or GSWGRAPH_LLM_PRICE.

    \b
    Example:
      gswgraph ledger
      gswgraph ledger --json
    """
    from gsw_graph.models.chat.cache import stored, total

    rows = stored(settings())
    if as_json:
        print_json({"total": asdict(total(rows)), "rows": [asdict(row) for row in rows]})
        return
    if not rows:
        click.echo("No language model was asked yet.")
        return
    by_stage: dict[tuple[str, str], list[Entry]] = {}
    by_document: dict[str, list[Entry]] = {}
    for row in rows:
        by_stage.setdefault((row.stage, row.model), []).append(row)
        if row.document:
            by_document.setdefault(row.document, []).append(row)
    _print(["stage", "model"], dict(sorted(by_stage.items())))
    most = sorted(by_document.items(), key=lambda item: -total(item[1]).prompt_tokens)
    if most:
        click.echo(f"\n{counted(len(most), 'document')}, those that took most first:")
        _print(["document"], {(short_source(name),): found for name, found in most[:SHOWN]})


def _print(names: list[str], parts: dict[tuple[str, ...], list[Entry]]) -> None:
    from gsw_graph.model.results import Table
    from gsw_graph.models.chat.cache import total

    columns = [*names, "calls", "cached", "failed", "tokens in", "tokens out", "seconds", "cost"]
    rows = []
    for key, entries in parts.items():
        s = total(entries)
        unpriced = s.dollars is not None and any(entry.dollars is None and entry.calls for entry in entries)
        cost = f"at least {money(s.dollars)}" if unpriced else money(s.dollars)
        rows.append(
            [
                *key,
                s.calls,
                s.cached,
                s.failed,
                s.prompt_tokens,
                s.completion_tokens,
                round(s.seconds, 1),
                cost,
            ]
        )
    print_table(Table(columns, [dict(zip(columns, row, strict=True)) for row in rows]))
