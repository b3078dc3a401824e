"""What extraction by a language model will take, before a call is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gsw_graph.results import Estimate

if TYPE_CHECKING:
    from gsw_graph.extract import Work
    from gsw_graph.inference.chat import Chat


def estimate(work: Iterable[Work], chat: Chat, *, second_pass: bool, batch: bool) -> Estimate:
    """Calls and tokens, each call of the first pass counted as it would be sent; those in the cache cost nothing.

    A second pass is one more call a passage, which also sends the first reply and what is wrong with it: that is counted with a reply of the usual length.
    """
    from gsw_graph.extract.llm import Found, mend_request, request
    from gsw_graph.inference.prices import BATCH_SHARE

    calls = cached = 0
    first, second = [0, 0], [0, 0]  # prompt and completion tokens of the two passes
    for one in work:
        if one.workspace is not None:
            continue
        for passage in one.document.passages:
            asked = request(one.document, passage.position)
            if chat.known(asked):
                cached += 1
            else:
                calls += 1
                first = [first[0] + chat.estimate(asked), first[1] + chat.expect("extract")]
            if second_pass:
                calls += 1
                mend = mend_request(one.document, passage.position, Found(), ())
                second = [second[0] + chat.estimate(mend) + chat.expect("extract"), second[1] + chat.expect("mend")]
    prices = chat.dollars(*first), chat.dollars(*second)
    dollars = None if None in prices else (prices[0] or 0.0) * (BATCH_SHARE if batch else 1) + (prices[1] or 0.0)
    return Estimate(chat.model, calls, cached, first[0] + second[0], first[1] + second[1], dollars)
