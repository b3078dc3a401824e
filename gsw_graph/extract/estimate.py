"""What extraction by a language model will take, before a call is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gsw_graph.results import Estimate

if TYPE_CHECKING:
    from gsw_graph.extract import Work
    from gsw_graph.extract.llm import Found
    from gsw_graph.inference.chat.cache import Cache, CachedReply
    from gsw_graph.inference.chat.chat import Chat
    from gsw_graph.model import Document


def estimate(work: Iterable[Work], chat: Chat, cache: Cache, *, second_pass: bool, batch: bool) -> Estimate:
    """Calls and tokens, each call counted as it would be sent; those with a reply in the cache, or ordered by
    a batch, cost nothing more.

    A second pass is one more call a passage, which also sends the first reply and what is wrong with it:
    where that is not kept, a reply of the usual length is counted. `cache` is read beside the chat, which
    would note each look in its ledger.
    """
    from gsw_graph.extract.llm import Found, faults_of, mend_request, request
    from gsw_graph.inference.costs import BATCH_SHARE

    calls = cached = 0
    first, second = [0, 0], [0, 0]  # prompt and completion tokens of the two passes
    for one in work:
        if one.workspace is not None:
            continue
        for position in range(len(one.document.passages)):
            asked = chat.chosen(request(one.document, position))
            if chat.known(asked):
                cached += 1
            else:
                calls += 1
                first = [first[0] + chat.estimate(asked), first[1] + chat.expect("extract")]
            if not second_pass:
                continue
            found = _kept(one.document, position, cache.get(cache.key(chat.model, asked)))
            faults = faults_of(one.document, position, found) if found else ()
            mend = mend_request(one.document, position, found or Found(), faults)
            if found and chat.known(mend):
                cached += 1
            else:
                calls += 1
                unseen = 0 if found else chat.expect("extract")  # of the first reply
                second = [second[0] + chat.estimate(mend) + unseen, second[1] + chat.expect("mend")]
    prices = chat.dollars(*first), chat.dollars(*second)
    dollars = (
        None if None in prices else (prices[0] or 0.0) * (BATCH_SHARE if batch else 1) + (prices[1] or 0.0)
    )
    return Estimate(chat.model, calls, cached, first[0] + second[0], first[1] + second[1], dollars)


def _kept(document: Document, position: int, kept: CachedReply | None) -> Found | None:
    """What the kept reply about a passage found; None without one that can be used."""
    from gsw_graph.extract.llm import check

    try:
        return check(document, position)(kept.content) if kept else None
    except ValueError:
        return None
