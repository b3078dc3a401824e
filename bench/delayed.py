"""A port of this machine whose connections reach another port late, as over a network."""

from __future__ import annotations

import asyncio
import threading
from asyncio import Queue, StreamReader, StreamWriter


def delayed(port: int, seconds: float) -> int:
    """Listen on a free port, in a thread that ends with the program, and return it.

    Args:
        port: Where what is sent goes.
        seconds: How late it arrives, in each direction.
    """
    ports: list[int] = []
    is_listening = threading.Event()

    async def serve() -> None:
        async def connect(reader: StreamReader, writer: StreamWriter) -> None:
            there, back = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.gather(_send_late(reader, back, seconds), _send_late(there, writer, seconds))

        server = await asyncio.start_server(connect, "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
        is_listening.set()
        await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
    is_listening.wait()
    return ports[0]


async def _send_late(reader: StreamReader, writer: StreamWriter, seconds: float) -> None:
    queue: Queue[tuple[float, bytes]] = Queue()
    loop = asyncio.get_running_loop()

    async def send() -> None:
        while True:
            due, data = await queue.get()
            await asyncio.sleep(max(0, due - loop.time()))
            if not data:
                writer.close()
                return
            writer.write(data)
            await writer.drain()

    sender = asyncio.create_task(send())
    data = b"begin"
    while data:
        data = await reader.read(65_536)
        await queue.put((loop.time() + seconds, data))
    await sender
