"""A model server for tests: it speaks as OpenAI's does, runs on this machine, needs no key, and says what it
was told to.

Test your own code against it, with real requests and no bill:

    from openai import OpenAI
    from gsw_graph.testing import ModelServer

    def test_my_code():
        replies = [{"when": {"contains": ["capital of France"]}, "reply": "Paris."}]
        with ModelServer(replies) as server:
            client = OpenAI(base_url=server.url, api_key="any")
            said = client.chat.completions.create(model="any", messages=[{"role": "user", "content": "What is
            the capital of France?"}])
            assert said.choices[0].message.content == "Paris."
            assert server.count() == 1

Replies come from a JSONL file (`ModelServer("replies.jsonl")`), one line each, or from a function:

    {"when": {"stage": "extract", "contains": ["Ada Quill built the Great Tide Engine"]}, "reply":
    {"entities": [], "verb_phrases": [], "propositions": []}}
    {"when": {"stage": "answer", "contains": ["Who built the Great Tide Engine?"]}, "reply": "Answer: Ada
    Quill\\nSources: 1"}

`stage` is the name of the JSON schema asked for, or of the prompt of gswgraph that was sent: extract, mend,
plan, answer. A text of `contains` stands in the user messages; `key` in its place is a whole passage as
gswgraph marks it. Of several lines that fit, the one with the longest texts is taken. A line without `when`
answers all that no other does.

What goes wrong with real models goes wrong here when you say so, the same in every run:

    ModelServer(replies, faults=0.3)                                                 # three of ten requests:
    429, 500, 503, time-outs, cut JSON ...
    ModelServer(replies, faults=[Fault("rate_limit", calls=(3,), seconds=0)])        # the third call
    ModelServer(replies, faults=[Fault("refusal", contains=("Great Tide Engine",))]) # whatever concerns this
    ModelServer(replies, accepts="plain", refuses=["temperature"])                   # a server that knows no
    schema
    ModelServer(replies, delay=1, limit=32)                                          # one second a call, 32
    at once

Chat completions (JSON schema, JSON mode, streams), files and batches, embeddings, rerank and the list of
models are there. `server.calls`, `count()`, `in_flight` and `fault_counts()` tell what came. From a shell,
for gswgraph itself or any other client:

    python -m gsw_graph.testing replies.jsonl --port 8089 --delay 1 --limit 32 --faults 0.3

Where somebody else is to say what the model says, a person or a model without a server, each request becomes
a file that waits for its reply (`recorder.py`, `recording.py`), and the replies become scripted ones:

    python -m gsw_graph.testing --record FOLDER --timeout 7200
    python -m gsw_graph.testing --record FOLDER --note    # wait for none: note all that is open at once
    python -m gsw_graph.testing --open FOLDER             # and print it
    python -m gsw_graph.testing --lines FOLDER --written-by "a strong model" > replies.jsonl
"""

from gsw_graph.testing.calls import Call
from gsw_graph.testing.faults import Fault
from gsw_graph.testing.recorder import Recorder
from gsw_graph.testing.recording import recorded, unanswered
from gsw_graph.testing.replies import Reply
from gsw_graph.testing.server import ModelServer

__all__ = ["Call", "Fault", "ModelServer", "Recorder", "Reply", "recorded", "unanswered"]
