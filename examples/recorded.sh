#!/bin/sh
# Runs a command with a language model whose replies are recorded in replies.jsonl and agents.jsonl: no model is asked and nothing is paid.
#   examples/recorded.sh gswgraph --memory build/model-memory load examples/corpus
set -eu
here=$(cd "$(dirname "$0")" && pwd)
said=$(mktemp)
"${PYTHON:-python3}" "$here/replay.py" "$here/replies.jsonl" "$here/agents.jsonl" >"$said" &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null || true; rm -f "$said"' EXIT
until grep -q '^export OPENAI_MODEL' "$said"; do
    kill -0 $server # ended: its message stands above
    sleep 0.1
done
GSWGRAPH_LLM_URL=$(sed -n 's/^export OPENAI_BASE_URL=//p' "$said")
GSWGRAPH_LLM=recorded
export GSWGRAPH_LLM_URL GSWGRAPH_LLM
unset GSWGRAPH_LLM_KEY OPENAI_API_KEY
"$@"
