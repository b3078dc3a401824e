"""A server under load: real HTTP clients that ask and load at the same time, then one that is killed.

    python bench/serve.py --help
    python bench/serve.py --seconds 60 --clients 32
    python bench/serve.py --seconds 180 --clients 16 --loaders 2 --forgetters 1    # each does one thing
    python bench/serve.py --memory bolt://localhost:7687    # an empty database: all that is in it goes

Says how long a warm question takes one client alone and each of many, in rounds of the queue it waits in: so many
clients over so many questions at once. Every document whose load was acknowledged is looked for at the end, and
again after a `kill -9` in the middle of loads. With loaders or forgetters the clients ask alone, and what is stored
right after it is compared with what was acknowledged, and looked at by `gswgraph doctor --deep`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx

from gsw_graph.serve.context import default_asks

CORPUS = Path(__file__).parent.parent / "examples" / "corpus"
QUESTIONS = (
    "Who founded Port Aldous?",
    "With which opera did the theatre designed by Ottilie Grau open?",
    "In what disaster did the architect of the Vellmouth Observatory die?",
    "In which town was the master of the woman who built the Great Tide Engine born?",
    "Where was the director of the Tidewater Theatre born?",
    "Who built the Marrow Bridge?",
)


@dataclass
class Seen:
    """What clients saw."""

    asks: list[float] = field(default_factory=list)
    loads: list[float] = field(default_factory=list)
    acknowledged: set[str] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)


class Server:
    """`gswgraph serve` as a process of its own. command: what starts it, for tests with another embedder."""

    def __init__(self, memory: str, *options: str, command: tuple[str, ...] | None = None) -> None:
        port = 12_000 + secrets.randbelow(20_000)  # not one that a system gives to a client meanwhile
        self.url = f"http://127.0.0.1:{port}"
        command = command or (sys.executable, "-m", "gsw_graph.cli")
        self._log = Path(tempfile.mkdtemp(prefix="gswgraph-serve-")) / "log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, "--memory", memory, "serve", "--port", str(port), *options],
                stderr=log,
                stdout=log,
            )
        end = time.monotonic() + 120
        while True:
            try:
                httpx.get(f"{self.url}/api/about", timeout=5)
            except httpx.HTTPError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(self.log()) from None
                time.sleep(0.2)
            else:
                return

    def log(self) -> str:
        """What it said."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def megabytes(self) -> float:
        """Memory that the process has."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def end(self, how: int = signal.SIGTERM) -> int:
        """End it; its exit code."""
        self.process.send_signal(how)
        return self.process.wait(60)


def text(number: int) -> str:
    """A document that is like no other, about the things that are asked."""
    rng = random.Random(number)
    names = [
        f"{rng.choice('BDFGKLMPRST')}{rng.choice('aeiou')}{rng.choice('lmnrst')}{rng.randrange(10**6)}"
        for _ in range(8)
    ]
    return "\n\n".join(
        f"{name} visited Port Aldous in {rng.randrange(1700, 2000)} and met {other} at the Tidewater Theatre."
        for name, other in pairwise(names)
    )


async def ask(client: httpx.AsyncClient, seen: Seen, question: str) -> None:
    """Ask one question."""
    start = time.perf_counter()
    reply = await client.post("/api/ask", json={"question": question, "llm": False})
    if reply.status_code != 200 or not reply.json()["passages"]:
        seen.errors.append(f"ask {reply.status_code} {reply.text[:200]}")
    seen.asks.append(time.perf_counter() - start)


async def load(client: httpx.AsyncClient, seen: Seen, name: str, number: int) -> None:
    """Load one document; it counts once the server says that it is loaded."""
    start = time.perf_counter()
    reply = await client.post("/api/load", files={"files": (name, text(number).encode())})
    if reply.status_code == 200 and reply.json()["documents"]["new"] == 1:
        seen.acknowledged.add(f"upload:{name}")
    else:
        seen.errors.append(f"load {reply.status_code} {reply.text[:200]}")
    seen.loads.append(time.perf_counter() - start)


async def forget(client: httpx.AsyncClient, seen: Seen, source: str) -> None:
    """Forget one document that was loaded; it counts once the server says that it is forgotten."""
    reply = await client.post("/api/forget", json={"sources": [source]})
    if reply.status_code == 200 and reply.json()["forgotten"] == [source]:
        seen.forgotten.add(source)
    else:
        seen.errors.append(f"forget {reply.status_code} {reply.text[:200]}")


@asynccontextmanager
async def client_of(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=server.url, timeout=120, limits=limits, trust_env=False) as client:
        yield client


async def mixed(
    server: Server, clients: int, seconds: float, share: float, prefix: str, seen: Seen | None = None
) -> Seen:
    """Clients that ask and, for a share of their turns, load. seen: gets what they saw as they see it."""
    seen, end = seen or Seen(), time.monotonic() + seconds

    async def run_client(number: int) -> None:
        rng = random.Random(number)
        async with client_of(server) as client:
            turn = 0
            while time.monotonic() < end:
                turn += 1
                try:
                    if rng.random() < share:
                        await load(client, seen, f"{prefix}{number}-{turn}.md", number * 100_000 + turn)
                    else:
                        await ask(client, seen, rng.choice(QUESTIONS))
                except httpx.HTTPError as error:
                    if time.monotonic() < end:
                        seen.errors.append(f"{type(error).__name__} {error}")
                    return

    await asyncio.gather(*(run_client(number) for number in range(clients)))
    return seen


async def roles(
    server: Server, askers: int, loaders: int, forgetters: int, seconds: float, least: int = 0
) -> Seen:
    """Clients that ask, load or forget alone, all at the same time, until the seconds are over and `least` documents
    are forgotten."""
    seen, end = Seen(), time.monotonic() + seconds

    def goes_on() -> bool:
        return time.monotonic() < end or (len(seen.forgotten) < least and not seen.errors)

    async def run_asker(number: int) -> None:
        rng = random.Random(number)
        async with client_of(server) as client:
            while goes_on():
                await ask(client, seen, rng.choice(QUESTIONS))

    async def run_loader(number: int) -> None:
        turn = 0
        async with client_of(server) as client:
            while goes_on():
                turn += 1
                await load(client, seen, f"loader{number}-{turn}.md", number * 100_000 + turn)

    async def run_forgetter(number: int) -> None:
        rng = random.Random(number)
        taken: set[str] = set()
        async with client_of(server) as client:
            while goes_on():
                mine = [source for source in seen.acknowledged - taken if hash(source) % forgetters == number]
                if len(mine) < 2:  # some documents stay
                    await asyncio.sleep(0.1)
                    continue
                source = rng.choice(sorted(mine))
                taken.add(source)
                await forget(client, seen, source)

    await asyncio.gather(
        *(run_asker(number) for number in range(askers)),
        *(run_loader(number) for number in range(loaders)),
        *(run_forgetter(number) for number in range(forgetters)),
    )
    return seen


def wrong(memory: str, command: tuple[str, ...] | None = None) -> list[str]:
    """What `gswgraph doctor --deep` finds wrong with a memory that no server has open."""
    command = command or (sys.executable, "-m", "gsw_graph.cli")
    call = [*command, "--memory", memory, "doctor", "--deep", "--json"]
    found = subprocess.run(call, capture_output=True, text=True, check=False)
    try:
        findings = json.loads(found.stdout)["findings"]
    except ValueError:
        return [found.stdout + found.stderr]
    return [f"{one['check']}: {one['result']}" for one in findings if not one["ok"]]


def sources(server: Server) -> set[str]:
    """The documents that the memory shows."""
    reply = httpx.get(f"{server.url}/api/documents", params={"limit": 10**6}, timeout=60).json()
    return {document["source"] for document in reply["documents"] if document["status"] == "ready"}


def p95(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1] if len(seconds) > 1 else (seconds or [0.0])[0]


def main() -> None:
    """Run all of it and print one JSON document."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memory", help="a folder that is made, or the url of an empty database")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument(
        "--asks", type=int, default=default_asks(model=False), help="questions at once, as of `serve`"
    )
    parser.add_argument("--share", type=float, default=0.1, help="of turns that load")
    parser.add_argument("--loaders", type=int, default=0, help="clients that only load")
    parser.add_argument("--forgetters", type=int, default=0, help="clients that only forget what was loaded")
    parser.add_argument("--fake", action="store_true", help="with the embedder of the tests")
    arguments = parser.parse_args()
    command = None
    if arguments.fake:
        command = (sys.executable, str(Path(__file__).parent.parent / "tests" / "serve_runner.py"))
    with tempfile.TemporaryDirectory() as folder:
        memory = arguments.memory or f"{folder}/memory"
        measure = run_roles if arguments.loaders or arguments.forgetters else run
        print(json.dumps(measure(memory, arguments, command), indent=2))


def load_corpus(server: Server) -> None:
    files = [("files", (file.name, file.read_bytes())) for file in sorted(CORPUS.iterdir())]
    reply = httpx.post(f"{server.url}/api/load", files=files, timeout=300)
    assert reply.status_code == 200, reply.text


def run_roles(memory: str, arguments: argparse.Namespace, command: tuple[str, ...] | None) -> dict[str, Any]:
    """The figures of clients that each do one thing, and what is stored right after it."""
    server = Server(memory, "--asks", str(arguments.asks), command=command)
    try:
        load_corpus(server)
        before = sources(server)
        clients = (arguments.clients, arguments.loaders, arguments.forgetters)
        seen = asyncio.run(roles(server, *clients, arguments.seconds))
        stored, expected = sources(server), before | (seen.acknowledged - seen.forgotten)
        megabytes = round(server.megabytes())
    finally:
        code = server.end() if server.process.poll() is None else server.process.returncode
    return {
        "memory": "neo4j" if "://" in memory else "embedded",
        "cpus": os.cpu_count(),
        "askers, loaders, forgetters": clients,
        "questions": len(seen.asks),
        "p95 of a question": round(p95(seen.asks), 4),
        "loads": len(seen.loads),
        "p95 of a load": round(p95(seen.loads), 3),
        "forgotten": len(seen.forgotten),
        "errors": len(seen.errors),
        "first errors": seen.errors[:3],
        "lost": len(expected - stored),
        "not forgotten": len(stored - expected),
        "doctor finds wrong": wrong(memory, command),
        "tracebacks of the server": server.log().count("Traceback"),
        "exit code at the end": code,
        "megabytes": megabytes,
    }


def run(memory: str, arguments: argparse.Namespace, command: tuple[str, ...] | None) -> dict[str, Any]:
    """The figures."""
    server = Server(memory, "--asks", str(arguments.asks), command=command)
    try:
        load_corpus(server)
        asyncio.run(mixed(server, 1, 3, 0, "warm"))
        alone = asyncio.run(mixed(server, 1, arguments.seconds / 6, 0, "alone"))
        alone_mixed = asyncio.run(mixed(server, 1, arguments.seconds / 6, arguments.share, "one"))
        many = asyncio.run(mixed(server, arguments.clients, arguments.seconds, arguments.share, "many"))
        lost = (alone_mixed.acknowledged | many.acknowledged) - sources(server)
        queue, ratio = arguments.clients / arguments.asks, p95(many.asks) / p95(alone.asks)
        result: dict[str, Any] = {
            "memory": "neo4j" if "://" in memory else "embedded",
            "cpus": os.cpu_count(),
            "clients": arguments.clients,
            "questions at once": arguments.asks,
            "p95 of a question, one client that only asks": round(p95(alone.asks), 4),
            "p95 of a question, one client that asks and loads": round(p95(alone_mixed.asks), 4),
            "p95 of a question, all clients": round(p95(many.asks), 4),
            "rounds of the line": queue,
            "times one client, for each client in the queue": round(ratio / arguments.clients, 2),
            "times one client, for each round of the line": round(ratio / queue, 2),
            "questions": len(many.asks),
            "loads": len(many.loads),
            "p95 of a load": round(p95(many.loads), 3),
            "errors": len(alone.errors + alone_mixed.errors + many.errors),
            "first errors": (alone.errors + alone_mixed.errors + many.errors)[:3],
            "lost": len(lost),
            "megabytes": round(server.megabytes()),
        }
        result["killed"] = asyncio.run(killed(server, arguments.clients))
        server = Server(memory, command=command)
        result["lost by kill -9"] = len(result["killed"].pop("acknowledged") - sources(server))
    finally:
        if server.process.poll() is None:
            result["exit code at the end"] = server.end()
    return result


async def killed(server: Server, clients: int) -> dict[str, Any]:
    """Loads by all clients, and the server killed when as many documents are loaded as there are clients."""
    seen = Seen()
    task = asyncio.create_task(mixed(server, clients, 60, 1.0, "killed", seen))
    while len(seen.acknowledged) < clients and not task.done():
        await asyncio.sleep(0.05)
    server.process.kill()
    await task
    server.process.wait()
    return {"documents acknowledged before": len(seen.acknowledged), "acknowledged": seen.acknowledged}


if __name__ == "__main__":
    main()
