"""A language model that says what a test wants it to say: the surface of `gsw_graph.models.chat.chat.Chat` that plans and answers use."""

from __future__ import annotations

from gsw_graph.errors import InvalidReplyError
from gsw_graph.models.chat.request import Reply, Request


class ScriptedChat:
    """Gives its replies in turn, text in pieces of three characters; one that does not pass its check is asked for once more."""

    model = "scripted"

    def __init__(self, *replies):
        self._replies = list(replies)
        self.requests: list[Request] = []
        self.told: list[str] = []  # what was said to be wrong

    def ask(self, request, check, *, on_text=None):
        self.requests.append(request)
        for _ in range(2):
            reply = self._replies.pop(0)
            if on_text is not None and isinstance(reply, str):
                for start in range(0, len(reply), 3):
                    on_text(reply[start : start + 3])
            try:
                return Reply(check(reply), False, 100, 10, 0.5)
            except ValueError as error:
                self.told.append(str(error))
        raise InvalidReplyError("the reply could not be used after a repair")
