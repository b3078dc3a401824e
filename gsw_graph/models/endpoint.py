"""A server that is asked over HTTP: a url that is safe to send a key to, its client, its refusals."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from gsw_graph.errors import ModelError, StoppedError

CONNECT = 10.0  # seconds


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A checked url.

    Attributes:
        host: With its port; safe to show.
        here: It is on this machine.
        name: Such as "the reranker".
        hint: On the url.
    """

    url: httpx.URL
    host: str
    here: bool
    key: str = field(repr=False)
    name: str
    hint: str

    @property
    def is_openai(self) -> bool:
        """Return whether this is OpenAI's own server."""
        return self.url.host == "api.openai.com"

    @classmethod
    def check(cls, name: str, url: str, key: str | None, *, whole: str, key_name: str) -> Endpoint:
        """Return the url and key of a server if the key can travel safely.

        Args:
            name: Such as "the reranker".
            url: Of the server.
            key: None where it needs none.
            whole: The hint on the url.
            key_name: The setting of the key.

        Raises:
            ModelError: They cannot be used.
        """
        key = (key or "").strip()
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL:  # whose message may show a password
            raise ModelError(f"the url of {name} cannot be read", hint=whole) from None
        host, here = parsed.netloc.decode(), is_loopback(parsed.host)
        for wrong, message, hint in (
            (
                parsed.scheme not in ("http", "https"),
                f"the url of {name} is neither http:// nor https://",
                whole,
            ),
            (not host, f"the url of {name} has no host", whole),
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
        return cls(parsed, host, here, key, name, whole)

    def client(self, timeout: float, retries: int) -> Any:
        """Return a client of the openai SDK, which sends the key to this url alone and follows no redirect.

        Args:
            timeout: Seconds in which the next part of a reply must come.
            retries: Of a request that fails in passing; they wait as long as Retry-After says.
        """
        import openai

        limits = openai.Timeout(timeout, connect=CONNECT)
        # trust_env: a proxy named in the environment must not see what is meant for this machine.
        http = openai.DefaultHttpxClient(timeout=limits, follow_redirects=False, trust_env=not self.here)
        client = openai.OpenAI(
            api_key=self.key or "none",  # the SDK insists on one
            base_url=str(self.url),
            max_retries=retries,
            timeout=limits,
            http_client=http,
        )
        if not self.is_openai:  # of the environment, and for OpenAI alone
            client.organization = client.project = None
        return client

    def refusal(self, error: Any, hints: Mapping[int, str], hint: str) -> StoppedError:
        """Return what to raise for an error of the SDK.

        Args:
            error: An `openai.OpenAIError`.
            hints: By status of the reply.
            hint: For every other status.
        """
        import openai

        if isinstance(error, openai.APITimeoutError):
            return StoppedError(f"{self.name} did not answer in time", where=self.host, hint=self.hint)
        if not isinstance(error, openai.APIStatusError):
            detail = self.short(str(error.__cause__ or error))
            return StoppedError(f"{self.name} cannot be reached ({detail})", where=self.host, hint=self.hint)
        detail = self.short(error.response.text)
        return StoppedError(
            f"{self.name} answered {error.status_code}{': ' if detail else ''}{detail}",
            where=self.host,
            hint=hints.get(error.status_code, hint),
        )

    def short(self, text: str) -> str:
        """Return a server's text in one line; never with the key, which some repeat."""
        line = " ".join(text.split())
        return (line.replace(self.key, "***") if self.key else line)[:200].rstrip(".")


def is_loopback(host: str) -> bool:
    """Return whether this is the machine itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds to wait as a server asks; 0 where it asks for none."""
    try:
        seconds = float(headers.get("retry-after", 0))
    except ValueError:  # a date
        return 0.0
    return seconds if seconds > 0 else 0.0
