"""What was sent by the Batch API and what came back, in the file of kept replies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gsw_graph.inference.chat.cache import Cache
from gsw_graph.inference.chat.wire import Received

_TABLES = (
    "CREATE TABLE IF NOT EXISTS batch (id TEXT PRIMARY KEY, host TEXT NOT NULL, model TEXT NOT NULL, ended "
    "INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS batched (key TEXT PRIMARY KEY, batch TEXT NOT NULL,
        stage TEXT NOT NULL, document TEXT NOT NULL, prompt_estimate INTEGER NOT NULL,
        text TEXT, finish TEXT, refusal TEXT, prompt_tokens INTEGER,
        completion_tokens INTEGER) WITHOUT ROWID""",
)


class BatchLog:
    """Batches by id and their requests by key; a request has a text once its batch ended with a reply to
    it."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        with cache.writing() as db:
            for table in _TABLES:
                db.execute(table)

    def sent(self, batch: str, host: str, model: str, requests: Iterable[tuple[str, str, str, int]]) -> None:
        """A batch with the key, stage, document and estimated prompt tokens of each request."""
        with self._cache.writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO batch (id, host, model) VALUES (?, ?, ?)", (batch, host, model)
            )
            rows = ((key, batch, *others) for key, *others in requests)
            db.executemany(
                "INSERT OR REPLACE INTO batched (key, batch, stage, document, prompt_estimate) VALUES (?, "
                "?, ?, ?, ?)",
                rows,
            )

    def requests(self, batch: str) -> list[tuple[str, str, str, int]]:
        """Of a batch, as `sent` got them."""
        with self._cache.reading() as db:
            return list(
                db.execute(
                    "SELECT key, stage, document, prompt_estimate FROM batched WHERE batch = ?", (batch,)
                )
            )

    def ended(self, batch: str, replies: Mapping[str, Received]) -> bool:
        """Keeps what came back and drops the requests without a reply; False where the batch had ended
        before."""
        with self._cache.writing() as db:
            if not db.execute("UPDATE batch SET ended = 1 WHERE id = ? AND ended = 0", (batch,)).rowcount:
                return False
            db.executemany(
                "UPDATE batched SET text = ?, finish = ?, refusal = ?, prompt_tokens = ?, "
                "completion_tokens = ? WHERE key = ? AND batch = ?",
                (
                    (r.text, r.finish, r.refusal, r.prompt_tokens, r.completion_tokens, key, batch)
                    for key, r in replies.items()
                ),
            )
            db.execute("DELETE FROM batched WHERE batch = ? AND text IS NULL", (batch,))
            return True

    def open(self, host: str, model: str) -> dict[str, int]:
        """The batches that have not ended, with how many requests each has."""
        with self._cache.reading() as db:
            rows = db.execute(
                "SELECT b.id, count(r.key) FROM batch b LEFT JOIN batched r ON r.batch = b.id WHERE "
                "b.ended = 0 AND b.host = ? AND b.model = ? GROUP BY b.id",
                (host, model),
            )
            return dict(rows)

    def batch(self, key: str, host: str) -> str | None:
        """The batch by which a request was sent to this server, or answered by any."""
        with self._cache.reading() as db:
            row = db.execute(
                "SELECT r.batch FROM batched r JOIN batch b ON b.id = r.batch WHERE r.key = ? AND (b.host "
                "= ? OR r.text IS NOT NULL)",
                (key, host),
            ).fetchone()
            return row[0] if row else None

    def open_batch(self, key: str, host: str) -> str | None:
        """The batch at this server that holds a request and was not seen to end."""
        with self._cache.reading() as db:
            row = db.execute(
                "SELECT b.id FROM batched r JOIN batch b ON b.id = r.batch WHERE r.key = ? AND b.host = ? "
                "AND b.ended = 0",
                (key, host),
            ).fetchone()
            return row[0] if row else None

    def reply(self, key: str) -> Received | None:
        """What a batch brought for a request."""
        with self._cache.reading() as db:
            row = db.execute(
                "SELECT text, finish, refusal, prompt_tokens, completion_tokens FROM batched WHERE key = ? "
                "AND text IS NOT NULL",
                (key,),
            ).fetchone()
            return Received(*row) if row else None

    def drop(self, key: str) -> None:
        """Forgets a reply: it is of no use, so that the request is sent anew, or it is kept elsewhere."""
        with self._cache.writing() as db:
            db.execute("DELETE FROM batched WHERE key = ? AND text IS NOT NULL", (key,))
