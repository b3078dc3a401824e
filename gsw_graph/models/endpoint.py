"""A server that is asked over HTTP: a url that is safe to send a key to, its client, its refusals."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import proxy_bypass

import httpx

from gsw_graph.errors import ModelError
from gsw_graph.values import single_spaced

CONNECT = 10.0  # seconds
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")  # of the environment, which the HTTP library reads
SOCKS_HINT = "pip install 'httpx[socks]' lets it be used; or name a proxy of http://, or the host in NO_PROXY"
PROXY_HINT = "Check it, or name the host in NO_PROXY, which has it asked without a proxy"
CERTIFICATE_HINT = "Name a file of certificates (PEM) in SSL_CERT_FILE, or unset it"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Hold a checked url.

    Attributes:
        host: Host and port, safe to show.
        here: Whether the host is this machine.
        name: Name of the service, such as "the reranker".
        hint: Hint about the url.
    """

    url: httpx.URL
    host: str
    here: bool
    key: str = field(repr=False)
    name: str
    hint: str

    @classmethod
    def check(cls, name: str, url: str, key: str | None, *, whole: str, key_name: str) -> Endpoint:
        """Return the url and key of a server if the key can travel safely.

        Args:
            name: Name of the service, such as "the reranker".
            url: The url of the server.
            key: The key; None if no key is needed.
            whole: Hint about the url.
            key_name: The setting of the key.

        Raises:
            ModelError: The url or the key cannot be used.
        """
        key = (key or "").strip()
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL:  # whose message may show a password
            raise ModelError(f"the url of {name} cannot be read", hint=whole) from None
        host, here = parsed.netloc.decode(), is_loopback(parsed.host)
        message, hint = "", whole
        if parsed.scheme not in ("http", "https"):
            message = f"the url of {name} is neither http:// nor https://"
        elif not host:
            message = f"the url of {name} has no host"
        elif parsed.userinfo:
            message, hint = "a password in the url would be shown in messages", f"Give the key in {key_name}"
        elif not (key.isascii() and key.isprintable()):
            message, hint = "the key has characters that no key has", f"Check {key_name}"
        elif key and parsed.scheme == "http" and not here:
            message, hint = "the key would travel unencrypted", "Use https://, or no key"
        if message:
            raise ModelError(message, where=host or None, hint=hint)
        return cls(parsed, host, here, key, name, whole)

    def error(self, message: str, hint: str) -> ModelError:
        """Return what to raise for a failure of this server."""
        return ModelError(message, where=self.host, hint=hint)

    def client(self, timeout: float, retries: int) -> Any:
        """Return a client of the openai SDK, which sends the key to this url alone and follows no redirect.

        Args:
            timeout: Seconds in which the next part of a reply must come.
            retries: Of a request that fails in passing; they wait as long as Retry-After says.

        Raises:
            ModelError: A proxy or a file of certificates that the environment names cannot be used.
        """
        import openai

        limits = openai.Timeout(timeout, connect=CONNECT)
        if self.url.scheme == "https" and not self.here and (missing := _missing_certificates()):
            raise self.error(missing, CERTIFICATE_HINT)
        try:
            # trust_env: a proxy named in the environment must not see what is meant for this machine.
            http = openai.DefaultHttpxClient(timeout=limits, follow_redirects=False, trust_env=not self.here)
        except Exception as error:  # the HTTP library raises its own kinds, ImportError and those of ssl
            raise self._unusable_environment(error) from error
        client = openai.OpenAI(
            api_key=self.key or "none",  # the SDK insists on one
            base_url=str(self.url),
            max_retries=retries,
            timeout=limits,
            http_client=http,
        )
        if self.url.host != "api.openai.com":  # of the environment, and for OpenAI alone
            client.organization = client.project = None
        return client

    @property
    def proxy(self) -> str:
        """Return the variable of the environment that names the proxy of this url; "" if none does."""
        if self.here or proxy_bypass(self.url.host):
            return ""
        scheme = f"{self.url.scheme}_proxy"
        for name in (scheme, scheme.upper(), "all_proxy", "ALL_PROXY"):
            if os.environ.get(name):
                return name
        return ""

    def unreached(self, detail: str) -> tuple[str, str]:
        """Return why the server was not reached, for people, and the hint: both name what the environment has
        to do with it.

        Args:
            detail: What the HTTP library says.
        """
        detail = self.short(detail)
        if "CERTIFICATE_VERIFY_FAILED" in detail:
            named = _named_certificates()
            by_those = f" by those of {' and '.join(named)}" if named else ""
            reason = f"its certificate cannot be verified{by_those} ({detail})"
            return f"cannot be trusted, as {reason}", CERTIFICATE_HINT
        if self.proxy:
            return f"cannot be reached through the proxy of {self.proxy} ({detail})", PROXY_HINT
        return f"cannot be reached ({detail})", self.hint

    def _unusable_environment(self, error: Exception) -> ModelError:
        """Return what to raise if no client can be made with what the environment sets."""
        if missing := _missing_certificates():
            return self.error(missing, CERTIFICATE_HINT)
        reason = self.short(str(error) or type(error).__name__)
        if isinstance(error, OSError):
            named = " and ".join(_named_certificates()) or "the system"
            return self.error(f"the certificates of {named} cannot be read ({reason})", CERTIFICATE_HINT)
        proxies = {name: url for name, url in os.environ.items() if url and name.lower().endswith("_proxy")}
        socks = [name for name, url in proxies.items() if url.lower().startswith("socks")]
        if isinstance(error, ImportError) and socks:
            message = f"{' and '.join(socks)} names a SOCKS proxy, for which a package is missing"
            return self.error(message, SOCKS_HINT)
        message = f"the proxy settings {', '.join(proxies) or 'of the system'} cannot be used"
        return self.error(message, f"Check them, or unset the one that is wrong ({reason})")

    def refusal(self, error: Any, hints: Mapping[int, str], hint: str) -> ModelError:
        """Return what to raise for an error of the SDK.

        Args:
            error: An `openai.OpenAIError`.
            hints: By status of the reply.
            hint: For every other status.
        """
        import openai

        if isinstance(error, openai.APITimeoutError):
            return self.error(f"{self.name} did not answer in time", self.hint)
        if not isinstance(error, openai.APIStatusError):
            reason, hint = self.unreached(str(error.__cause__ or error))
            return self.error(f"{self.name} {reason}", hint)
        message = f"{self.name} answered {error.status_code}"
        if detail := self.short(error.response.text):
            message = f"{message}: {detail}"
        return self.error(message, hints.get(error.status_code, hint))

    def short(self, text: str) -> str:
        """Return a server's text in one line; never with the key, which some repeat."""
        line = single_spaced(text)
        return (line.replace(self.key, "***") if self.key else line)[:200].rstrip(".")


def _named_certificates() -> list[str]:
    """Return the variables of the environment that name certificates."""
    return [name for name in CERTIFICATES if os.environ.get(name)]


def _missing_certificates() -> str:
    """Return what is wrong if the certificates that the environment names are not there; "" if nothing is."""
    named = _named_certificates()
    if not named:
        return ""
    name = named[0]
    value = os.environ[name]
    places = value.split(os.pathsep) if name == "SSL_CERT_DIR" else [value]
    if any(Path(place).exists() for place in places):
        return ""
    return f"{name} names {value}, which does not exist"


def is_loopback(host: str) -> bool:
    """Return whether this is the machine itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds to wait as a server asks; 0 if it asks for none."""
    try:
        seconds = float(headers.get("retry-after", 0))
    except ValueError:  # a date
        return 0.0
    return seconds if seconds > 0 else 0.0
