"""Read uploads as clients send them: names of files in every form that browsers and programs write."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from email.header import decode_header, make_header
from email.message import Message
from email.utils import collapse_rfc2231_value
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser

from gsw_graph.errors import InputError

MAX_NAME = 500  # characters of the name of an upload
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_ENCODED_WORDS = re.compile(r"=\?[^?\s]+\?[bqBQ]\?[^?]*\?=(\s+=\?[^?\s]+\?[bqBQ]\?[^?]*\?=)*")


class UploadRoute(APIRoute):
    """A route whose forms may name files by `filename*` too, which Starlette passes over."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what FastAPI's route does, with a request that reads such forms."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(_UploadRequest(request.scope, request.receive))

        return handle


class _UploadRequest(Request):
    """A request whose form is read by `_Parts`."""

    async def form(self, **limits: Any) -> FormData:  # type: ignore[override]
        if not self.headers.get("Content-Type", "").lower().startswith("multipart/form-data"):
            return await super().form(**limits)
        try:
            async with aclosing(self.stream()) as stream:
                return await _Parts(self.headers, stream, **limits).parse()
        except MultiPartException as error:
            raise HTTPException(400, error.message) from error


class _Parts(MultiPartParser):
    """Parts of a form, each with the name of its file as `filename`."""

    def on_headers_finished(self) -> None:
        part = self._current_part
        part.content_disposition = with_plain_name(part.content_disposition or b"")
        super().on_headers_finished()


def with_plain_name(disposition: bytes) -> bytes:
    """Return the header of a part with the name of its file in UTF-8 as the last `filename`, which counts.

    Programs send `filename*=utf-8''%E6%A6%82.md` (RFC 5987), alone or beside a name for old readers, or
    encoded words as in mail (RFC 2047).
    """
    message = Message()
    message["Content-Disposition"] = disposition.decode("latin-1")
    # A value is a text, or encoding, language and text.
    parameters: list[tuple[str, Any]] = message.get_params([], "Content-Disposition")
    values = [value for key, value in parameters if key == "filename"]
    extended = [value for value in values if isinstance(value, tuple)]
    plain = values[-1] if values else None
    if extended:
        name = collapse_rfc2231_value(extended[-1])
    elif isinstance(plain, str) and _ENCODED_WORDS.fullmatch(plain):
        name = _decoded_words(plain)
    else:
        return disposition
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return disposition + f'; filename="{quoted}"'.encode("utf-8", errors="replace")


def _decoded_words(text: str) -> str:
    try:
        return str(make_header(decode_header(text)))
    except (LookupError, ValueError):  # of an unknown encoding, or broken
        return text


def upload_name(name: str) -> str:
    """Return the relative name of an upload. Raises InputError if it has none."""
    plain = name.replace("%22", '"')  # browsers and curl write a quotation mark so
    parts = [part for part in plain.replace("\\", "/").split("/") if part not in ("", ".")]
    path = "/".join(parts)
    if not parts or ".." in parts or len(path) > MAX_NAME or _CONTROL.search(path):
        raise InputError("this is no name of a file", where=path[:100], hint="Send a name such as notes.md")
    return path
