"""A server under bad input: bodies that are too large, bodies that come too slowly, connections that say nothing.
Meanwhile another client asks, each question by a connection of its own.

    python bench/serve_bad.py --help
    python bench/serve_bad.py --connections 10000 --body 1024

Says what was answered to the bad ones, how many of the other client's questions were answered, were told to come back,
or failed, and how much memory the server took at most. Opens two files for each connection, one here and one there.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
from serve import CORPUS, QUESTIONS, Server, p95

from gsw_graph.serve.connections import enough_files

HEAD = b"POST /api/%s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
FORM = "multipart/form-data; boundary=b"
PART = b'--b\r\nContent-Disposition: form-data; name="files"; filename="large.md"\r\n\r\n'


class Others:
    """A client that asks while something else is done."""

    def __init__(self, server: Server) -> None:
        self._server, self._over = server, threading.Event()
        self.seconds: list[float] = []
        self.replies: Counter[str] = Counter()
        self.megabytes = server.megabytes()
        self._before = self.megabytes

    def during(self, bad: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The figures of something bad, with those of this client."""
        asks, looks = threading.Thread(target=self._ask), threading.Thread(target=self._look)
        asks.start()
        looks.start()
        try:
            found = bad()
        finally:
            self._over.set()
            asks.join()
            looks.join()
        return {
            **found,
            "others' questions": dict(self.replies),
            "p95 of one": round(p95(self.seconds), 3),
            "server's megabytes before, at most": [round(self._before), round(self.megabytes)],
        }

    def _ask(self) -> None:
        while not self._over.is_set():
            start = time.perf_counter()
            body = {"question": QUESTIONS[len(self.seconds) % len(QUESTIONS)], "llm": False}
            try:
                status = httpx.post(f"{self._server.url}/api/ask", json=body, timeout=60, trust_env=False).status_code
            except httpx.HTTPError as error:
                self.replies[type(error).__name__] += 1
            else:
                self.replies[str(status)] += 1
            self.seconds.append(time.perf_counter() - start)
            time.sleep(0.1)

    def _look(self) -> None:
        while not self._over.wait(0.05):
            self.megabytes = max(self.megabytes, self._server.megabytes())


def nothing() -> dict[str, Any]:
    """Five seconds of the other client alone."""
    time.sleep(5)
    return {}


def flood(server: Server, connections: int) -> dict[str, Any]:
    """Connections that say nothing, opened as fast as it goes and held for ten seconds."""
    place, opened = ("127.0.0.1", int(server.url.rpartition(":")[2])), []
    start = time.perf_counter()
    for _ in range(connections):
        one = socket.socket()
        one.settimeout(20)
        try:
            one.connect(place)
        except OSError:
            one.close()
            continue
        opened.append(one)
    took = time.perf_counter() - start
    time.sleep(10)
    said = Counter(_said(one) for one in opened)
    for one in opened:
        one.close()
    return {"connections": len(opened), "seconds to open them": round(took, 1), "they were told": dict(said)}


def slow(server: Server, connections: int) -> dict[str, Any]:
    """Bodies of which a byte comes every half second, to a question and to a load."""
    place, opened = ("127.0.0.1", int(server.url.rpartition(":")[2])), []
    for number in range(connections):
        one = socket.create_connection(place, 20)
        load = number % 2
        one.sendall(HEAD % ((b"load", FORM.encode(), 10**8) if load else (b"ask", b"application/json", 10**6)) + (PART if load else b""))
        opened.append(one)
    said: Counter[str] = Counter()
    end = time.monotonic() + 30
    while opened and time.monotonic() < end:
        time.sleep(0.5)
        for one in list(opened):
            if (answer := _said(one)) != "nothing":
                said[answer] += 1
                one.close()
                opened.remove(one)
                continue
            with contextlib.suppress(OSError):
                one.send(b" ")
    said["nothing"] += len(opened)
    for one in opened:
        one.close()
    return {"connections": connections, "they were told": dict(said)}


def large(server: Server, megabytes: int, at_once: int, told: bool) -> dict[str, Any]:
    """Uploads of so many megabytes, some at once. told: whether their length is said first."""
    said: Counter[str] = Counter()
    start = time.perf_counter()

    def body() -> Any:
        yield PART
        for _ in range(megabytes):
            yield b"x" * 2**20

    def send(_: int) -> None:
        head = {"Content-Type": FORM} | ({"Content-Length": str(len(PART) + megabytes * 2**20)} if told else {})
        try:
            said[str(httpx.post(f"{server.url}/api/load", content=body(), headers=head, timeout=120, trust_env=False).status_code)] += 1
        except httpx.HTTPError as error:
            said[type(error).__name__] += 1

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(send, range(at_once)))
    return {"uploads": at_once, "megabytes": megabytes, "length said": told, "seconds": round(time.perf_counter() - start, 1), "they were told": dict(said)}


def _said(one: socket.socket) -> str:
    one.setblocking(False)
    try:
        answer = one.recv(64)
    except BlockingIOError:
        return "nothing"
    except OSError:
        return "closed"
    finally:
        one.setblocking(True)
    return answer.split(b" ")[1].decode() if answer else "closed"


def main() -> None:
    """Run all of it and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--slow", type=int, default=500, help="connections that send slowly")
    parser.add_argument("--body", type=int, default=1024, help="megabytes of a body that is too large")
    parser.add_argument("--fake", action="store_true", help="with the embedder of the tests")
    given = parser.parse_args()
    command = None
    if given.fake:
        command = (sys.executable, str(Path(__file__).parent.parent / "tests" / "serve_runner.py"))
    enough_files(given.connections + 1000)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(f"{folder}/memory", command=command)
        try:
            files = [("files", (file.name, file.read_bytes())) for file in sorted(CORPUS.iterdir())]
            assert httpx.post(f"{server.url}/api/load", files=files, timeout=300).status_code == 200
            for question in QUESTIONS:
                httpx.post(f"{server.url}/api/ask", json={"question": question, "llm": False}, timeout=60)
            found: dict[str, Any] = {
                "nothing bad": Others(server).during(nothing),
                "large, its length said": Others(server).during(lambda: large(server, given.body, 1, told=True)),
                "large": Others(server).during(lambda: large(server, given.body, 1, told=False)),
                "many uploads": Others(server).during(lambda: large(server, 200, 8, told=False)),
                "slow": Others(server).during(lambda: slow(server, given.slow)),
                "flood": Others(server).during(lambda: flood(server, given.connections)),
            }
            found["exit code at the end"] = server.end()
        finally:
            if server.process.poll() is None:
                server.end()
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
