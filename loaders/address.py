"""Fetch the page or file at an `http://` or `https://` address, for the person who names it: never for a
client of a server.

Private addresses are refused: the name is resolved once, what it resolves to is checked, and that very
address is connected to, for each redirect anew. No proxy is used, as a proxy resolves the name itself.
"""

from __future__ import annotations

import io
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from pathlib import Path
from time import monotonic

import httpx

from gsw_graph.loaders.files import UnusableError, decode
from gsw_graph.values import unique
from gsw_graph.version import __version__

MOST = 100 * 2**20  # bytes
_REDIRECTS = 5
_SECONDS = 300.0  # for one address
_TIMEOUT = httpx.Timeout(30, connect=10)
_KEPT = ("content-type", "etag", "last-modified")
_IF_CHANGED = {"etag": "If-None-Match", "last_modified": "If-Modified-Since"}
# What a type of content adds to the name, which decides where the content does not.
_ENDINGS = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "application/json": ".json",
    "application/x-ndjson": ".jsonl",
    "message/rfc822": ".eml",
    "image/svg+xml": ".svg",
}
_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")


class Page(io.BytesIO):
    """Hold the content of an address, and the headers that are kept."""

    def __init__(self, data: bytes, headers: Mapping[str, str]) -> None:
        super().__init__(data)
        self.headers: dict[str, str] = {}
        for name in _KEPT:
            value = headers.get(name, "")
            if value and value.isascii():
                self.headers[name] = value

    def path(self, address: str) -> Path:
        """Return the name of a file of this kind for an address."""
        plain = address.partition("?")[0].rstrip("/")
        kind = self.headers.get("content-type", "").partition(";")[0]
        ending = _ENDINGS.get(kind.strip().lower(), "")
        if not plain.lower().endswith(ending):
            plain += ending
        return Path(plain)

    @property
    def meta(self) -> dict[str, str | None]:
        """Return what the next load asks the server with, as metadata."""
        return {name: self.headers.get(name.replace("_", "-")) for name in _IF_CHANGED}


def is_address(name: str) -> bool:
    """Return whether a name is the address of a page, and no path."""
    return name.lower().startswith(("http://", "https://"))


def fetch(address: str, known: Mapping[str, object], *, allow_private: bool = False) -> Page | None:
    """Fetch an address; return None if its content has not changed.

    Args:
        address: Address of a page or a file.
        known: The metadata of the document in the memory.
        allow_private: Whether to fetch from this machine and from private networks.

    Raises:
        UnusableError: The address cannot be fetched, or is not allowed.
    """
    headers = {name: str(known[key]) for key, name in _IF_CHANGED.items() if known.get(key)}
    try:
        with httpx.Client(timeout=_TIMEOUT, trust_env=False, verify=httpx.create_ssl_context()) as client:
            return _followed(client, _checked(address), headers, allow_private=allow_private)
    except httpx.TimeoutException as error:
        raise UnusableError("the server does not answer in time") from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError, OverflowError) as error:
        raise UnusableError(f"cannot be fetched: {str(error) or type(error).__name__}") from error


def _followed(
    client: httpx.Client, url: httpx.URL, headers: Mapping[str, str], *, allow_private: bool
) -> Page | None:
    """Return what is at the end of the redirects of a url."""
    end = monotonic() + _SECONDS
    for _ in range(_REDIRECTS + 1):
        reply = _reply(client, url, headers, _places(url, allow_private=allow_private))
        try:
            if reply.status_code == httpx.codes.NOT_MODIFIED and headers:
                return None
            if reply.is_success:
                return Page(_body(reply, end), reply.headers)
            if not reply.has_redirect_location:
                raise UnusableError(f"the server answers {reply.status_code} {reply.reason_phrase}".rstrip())
            target = _checked(str(url.join(reply.headers["location"])))
        finally:
            reply.close()
        if target.scheme != url.scheme:
            raise UnusableError(f"it leads to another scheme; load {target} if that is meant")
        url = target
    raise UnusableError(f"it leads on more than {_REDIRECTS} times")


def _checked(address: str) -> httpx.URL:
    url = httpx.URL(address).copy_with(fragment=None)
    if url.userinfo:
        raise UnusableError(
            "an address with a user or password is not fetched; download the file and load it"
        )
    if url.scheme not in ("http", "https") or not url.host:
        raise UnusableError("it leads to no http:// or https:// address")
    return url


def _places(url: httpx.URL, *, allow_private: bool) -> list[str]:
    """Return the IP addresses of a host, each of them checked."""
    host = url.raw_host.decode("ascii").strip("[]")
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnusableError(f"there is no host {host} ({error})") from error
    places = unique(str(entry[4][0]) for entry in found)
    for place in places:
        if not allow_private and not is_public(place):
            reason = "which is this machine or in a private network; it is fetched with --allow-private alone"
            raise UnusableError(f"it leads to {place}, {reason}")
    return places


def is_public(place: str) -> bool:
    """Return whether an IP address is of the public Internet, also one that carries another within."""
    address = ip_address(place)
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped or address in _NAT64:
            return is_public(str(IPv4Address(int(address) & 0xFFFFFFFF)))
        if address.sixtofour:
            return is_public(str(address.sixtofour))
        if address not in _UNICAST:
            return False
    return address.is_global and not address.is_multicast


def _reply(
    client: httpx.Client, url: httpx.URL, headers: Mapping[str, str], places: Sequence[str]
) -> httpx.Response:
    """Return the reply of the first of the places of a host that can be connected to."""
    named = {
        "Host": url.netloc.decode("ascii"),
        "User-Agent": f"gswgraph/{__version__}",
        "Accept-Encoding": "identity",
    }
    extensions = {"sni_hostname": url.raw_host.decode("ascii")}

    def send(place: str) -> httpx.Response:
        target = url.copy_with(host=place)
        request = client.build_request("GET", target, headers={**named, **headers}, extensions=extensions)
        return client.send(request, stream=True)

    for place in places[:-1]:
        with suppress(httpx.ConnectError, httpx.ConnectTimeout):
            return send(place)
    return send(places[-1])


def _body(reply: httpx.Response, end: float) -> bytes:
    """Return what a reply brings, a text in UTF-8 with a mark if the server names its encoding."""
    data = b"".join(_bounded(reply.iter_bytes(), end))
    kind = reply.headers.get("content-type", "").lower()
    if not kind.startswith(("text/", "application/xhtml")) or not reply.charset_encoding:
        return data
    text = decode(data, reply.charset_encoding)
    return data if text is None else text.encode("utf-8-sig", "surrogatepass")


def _bounded(chunks: Iterator[bytes], end: float) -> Iterator[bytes]:
    length = 0
    for chunk in chunks:
        length += len(chunk)
        if length > MOST:
            raise UnusableError(f"more than {MOST // 2**20} MiB; download it and load the file")
        if monotonic() > end:
            raise UnusableError(f"it takes more than {_SECONDS:.0f} s; download it and load the file")
        yield chunk
