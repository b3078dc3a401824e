"""What is typed at the prompt of `ask` and is no question: `/help`, `/trace`, `/k`, `/quit`."""

from __future__ import annotations

from typing import Any

import click

HELP = """\
A line is a question. Besides:
  /k N     how many passages, now {k}
  /trace   show how passages are found, now {trace}
  /help    this
  /quit    end; so do Ctrl-D and Ctrl-C"""


def obey(line: str, how: dict[str, Any]) -> bool:
    """Do what a line that begins with a slash says, `how` being the options of the questions that follow.
    False: the prompt ends."""
    word, _, rest = line.partition(" ")
    if word in ("/quit", "/exit"):
        return False
    if word == "/trace":
        how["trace"] = not how["trace"]
        _say(f"trace {_on(how)}")
    elif word == "/k" and rest.strip().isdecimal() and int(rest) > 0:
        how["k"] = int(rest)
        _say(f"{how['k']} passages")
    elif word == "/k":
        _say(f"/k takes a number of passages, such as /k 10; now {how['k']}")
    elif word == "/help":
        _say(HELP.format(k=how["k"], trace=_on(how)))
    else:
        _say(f"There is no {word}; /help says what there is")
    return True


def _on(how: dict[str, Any]) -> str:
    return "on" if how["trace"] else "off"


def _say(text: str) -> None:
    click.echo(text, err=True)
