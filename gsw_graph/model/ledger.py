"""What calls of a language model took."""

from __future__ import annotations

from dataclasses import dataclass, fields

from gsw_graph.values import Fields

KEY = ("document", "stage", "model")


@dataclass(frozen=True, slots=True)
class Entry:
    """Counts the calls for one document, stage and model.

    Attributes:
        calls: Requests sent to the server, repairs among them.
        failed: Calls that gave no usable reply.
        cached: Replies from the cache, which took no call.
        prompt_tokens: As the server counted them; like `completion_tokens` estimates for `estimated` calls.
        prompt_estimate: The same prompts as `estimate_messages` counts them.
        seconds: Of the calls, without waiting for limits.
        dollars: None if no price is known.
    """

    document: str = ""
    stage: str = ""
    model: str = ""
    calls: int = 0
    failed: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_estimate: int = 0
    estimated: int = 0
    seconds: float = 0.0
    dollars: float | None = None

    def __add__(self, other: Entry) -> Entry:
        """Return the sum; of document, stage and model what both have in common."""
        values: Fields = {}
        for field in fields(self):
            mine, its = getattr(self, field.name), getattr(other, field.name)
            if field.name in KEY:
                values[field.name] = mine if mine == its else ""
            elif mine is None or its is None:
                values[field.name] = its if mine is None else mine
            else:
                values[field.name] = mine + its
        return Entry(**values)
