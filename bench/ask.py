"""How long a warm ask takes, stage by stage, against bare queries on the same memory in one run.

python bench/ask.py ricr [--memory URL] [--workspaces FILE] [--pairs 10000 100000] [--rounds 100]
python bench/ask.py linked [--memory URL] [--corpus FILE --questions FILE] [--passages 2000 20000 100000]
[--rounds 100]
"""

from __future__ import annotations

import sys

import ask_linked
import ask_ricr

if __name__ == "__main__":
    chosen = {"linked": ask_linked.main, "ricr": ask_ricr.main}.get(sys.argv[1] if len(sys.argv) > 1 else "")
    if chosen is None:
        sys.exit(__doc__)
    sys.argv[:2] = [f"{sys.argv[0]} {sys.argv[1]}"]
    chosen()
