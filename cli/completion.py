"""`gswgraph completion`: the script that completes verbs and options in a shell."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.option("--json", "as_json", is_flag=True, help="Print the script as one JSON document.")
def completion(shell: str, as_json: bool) -> None:
    """Print the completion script of a shell.

    \b
    Install, for bash in ~/.bashrc and for zsh in ~/.zshrc:
      eval "$(gswgraph completion bash)"
      eval "$(gswgraph completion zsh)"

    \b
    Example:
      gswgraph completion fish > ~/.config/fish/completions/gswgraph.fish
    """
    from click.shell_completion import get_completion_class

    from gsw_graph.cli.text.output import print_json

    root = click.get_current_context().find_root().command
    made = get_completion_class(shell)
    if made is None:  # click knows all three
        raise click.UsageError(f"There is no completion for {shell}.")
    source = made(root, {}, "gswgraph", "_GSWGRAPH_COMPLETE").source()
    if as_json:
        print_json({"shell": shell, "script": source})
    else:
        click.echo(source)
