"""What every model that is asked over HTTP needs: a url that is safe to send a key to, and how long its
server wants to be left alone."""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

import httpx

from gsw_graph.errors import ModelError


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A checked url. host: with its port, safe to show. here: it is on this machine."""

    url: httpx.URL
    host: str
    here: bool
    key: str = field(repr=False)

    @classmethod
    def check(cls, what: str, url: str, key: str | None, *, whole: str, key_name: str) -> Endpoint:
        """The url and key of `what`, such as "the reranker", if the key can travel safely. `whole` is the
        hint on the url. Raises ModelError."""
        key = (key or "").strip()
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL:  # whose message may show a password
            raise ModelError(f"the url of {what} cannot be read", hint=whole) from None
        host, here = parsed.netloc.decode(), is_loopback(parsed.host)
        for wrong, message, hint in (
            (
                parsed.scheme not in ("http", "https"),
                f"the url of {what} is neither http:// nor https://",
                whole,
            ),
            (not host, f"the url of {what} has no host", whole),
            (
                parsed.userinfo,
                "a password in the url would be shown in messages",
                f"Give the key in {key_name}",
            ),
            (
                not (key.isascii() and key.isprintable()),
                "the key has characters that no key has",
                f"Check {key_name}",
            ),
            (
                key and parsed.scheme == "http" and not here,
                "the key would travel unencrypted",
                "Use https://, or no key",
            ),
        ):
            if wrong:
                raise ModelError(message, where=host or None, hint=hint)
        return cls(parsed, host, here, key)

    def short(self, said: str) -> str:
        """One line of what a server said; never the key, which some repeat."""
        line = " ".join(said.split())
        return (line.replace(self.key, "***") if self.key else line)[:200].rstrip(".")


def is_loopback(host: str) -> bool:
    """Whether this is the machine itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds to wait as a server asks, given as such or as a date; 0 without."""
    said = headers.get("Retry-After", "")
    try:
        seconds = float(said)
        return 0.0 if math.isnan(seconds) else seconds
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(said).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return 0.0
