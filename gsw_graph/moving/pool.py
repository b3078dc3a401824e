"""Workers of a Ray cluster, and the way to it."""

from __future__ import annotations

import os
import re
import secrets
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gsw_graph.errors import EngineError, GswGraphError, InputError, ModelError
from gsw_graph.moving.fileset import Made
from gsw_graph.moving.place import Place
from gsw_graph.moving.worker import Piece, Worker

if TYPE_CHECKING:
    from gsw_graph.config import Settings
    from gsw_graph.inference.embed.embedder import Embedder

CPUS = 4  # of a worker without a GPU, at most: what an embedding model keeps busy
TRIES = 3  # times that what a worker did is done again because it died
TICK = 0.5  # seconds between looks at how far it is

Ref = Any  # of Ray


def needs_ray(address: str) -> None:
    """InputError where it is not installed, or the way to the cluster is one that cannot stream."""
    from importlib.util import find_spec

    if find_spec("ray") is None:
        raise InputError("a cluster needs Ray", hint="pip install 'gswgraph[ray]'")
    if address.startswith("ray://"):
        raise InputError(
            "Ray's client cannot hand on what is read as it comes",
            where=address,
            hint="Run it on a node of the cluster with --ray auto, as `ray job submit` does",
        )


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Connected to a cluster, or to one of this machine alone for as long; where this process is connected
    already it stays so. What Ray raises becomes ours."""
    environment = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    if address == "local":
        environment["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # so that it listens on loopback alone
        if "RAY_AUTH_MODE" not in os.environ:
            environment |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        import ray
        from ray.exceptions import RayError, RayTaskError

        connects = not ray.is_initialized()
        if connects:
            _connect(address)
        try:
            yield
        except RayTaskError as error:
            if (ours := _ours(error.cause)) is None:
                raise
            raise ours from error
        except RayError as error:
            lines = re.sub(r"\x1b\[\d+m", "", str(error)).strip().splitlines() or [type(error).__name__]
            raise ModelError(
                f"the cluster could not go on: {' ... '.join(dict.fromkeys((lines[0], lines[-1].strip())))}",
                where=address,
                hint="Nodes need the same gswgraph; a worker that dies each time has too little memory",
            ) from error
        finally:
            if connects:
                ray.shutdown()
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _connect(address: str) -> None:
    import ray

    try:
        local = {"include_dashboard": False} if address == "local" else {}
        ray.init(address=address, log_to_driver=False, logging_level="WARNING", **local)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise EngineError(
            f"there is no Ray cluster that can be used ({str(error).strip().partition(chr(10))[0]})",
            where=address,
            hint="Start one: ray start --head; or use this machine alone: --ray local",
        ) from error
    if address == "local" and any(not one["NodeManagerAddress"].startswith("127.") for one in ray.nodes()):
        ray.shutdown()
        raise EngineError(
            "Ray was imported before, and would listen beyond loopback",
            hint="Set RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 before that",
        )


def _ours(cause: Exception) -> GswGraphError | None:
    """What a task raised, as one machine says it; None where that is a fault of ours."""
    if isinstance(cause, FileNotFoundError):
        return InputError(
            f"a worker does not find {cause.filename}",
            hint="All nodes must see the corpus and --out: by a folder that they share, --out also by a url",
        )
    return cause if isinstance(cause, GswGraphError) else None


class Pool:
    """Workers, each with the part it makes and the next. on_part: told of each that is done what is added to
    the tally. made, shared: of those. model: name and dimension of the embedder, once the first worker has
    loaded it."""

    def __init__(
        self,
        place: Place,
        settings: Settings,
        extractor: str,
        embedder: Callable[[Settings], Embedder],
        workers: int | None,
        on_part: Callable[[dict[str, Any]], None],
    ) -> None:
        import ray

        room, resources = _room(settings)
        self.size = min(workers or room, room)
        self.made, self.shared, self._on_part = Made(), Made(), on_part
        self.model: tuple[str, int] = ("", 0)
        remote = ray.remote(max_restarts=-1, max_task_retries=TRIES, **resources)(Worker)
        self._workers = [remote.remote(place, settings, extractor, embedder) for _ in range(self.size)]
        self._under_way: dict[Ref, tuple[Any, bool]] = {
            worker.model.remote(): (worker, False) for worker in self._workers
        }
        self._free: deque[Any] = deque()

    def submit(self, number: int, pieces: list[Piece], report: Callable[[], None]) -> None:
        """Hand out a part as soon as a worker takes it."""
        while not self._free:
            self._take(report)
        worker = self._free.popleft()
        self._under_way[worker.part.remote(number, pieces)] = (worker, True)

    def finish(self, report: Callable[[], None]) -> None:
        """Wait for what is under way, and for one worker at least."""
        while not self.model[1] or any(part for _, part in self._under_way.values()):
            self._take(report)
        report()

    def end(self) -> None:
        import ray

        for worker in self._workers:
            ray.kill(worker)

    def _take(self, report: Callable[[], None]) -> None:
        import ray

        report()  # what is waited for
        done, _ = ray.wait(list(self._under_way), num_returns=1, timeout=TICK)
        for one in done:
            worker, is_part = self._under_way.pop(one)
            found = ray.get(one)
            self._free.append(worker)
            if is_part:
                self.made.add(found.made)
                self.shared.add(found.shared)
                self._on_part(found.tally)
            else:
                self.model = found
                self._free.append(worker)  # one part to make, one that waits


def _room(settings: Settings) -> tuple[int, dict[str, int]]:
    """How many workers a cluster has room for, and what each takes. EngineError: for none."""
    import ray

    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if settings.device in ("auto", "cuda") and (gpus := int(sum(one.get("GPU", 0) for one in nodes))):
        return gpus, {"num_gpus": 1, "num_cpus": 1}
    cpus = [int(one["CPU"]) for one in nodes if one.get("CPU", 0) >= 1]
    if not cpus:
        raise EngineError("no node of the cluster has a processor for a worker", hint="Add a node to it")
    each = min(CPUS, *cpus)
    return sum(one // each for one in cpus), {"num_cpus": each}
