"""The other direction: a workspace as Panini's bare GSW, which its searcher reads from
`networks/doc_<i>/gsw_<i>_<c>.json`."""

from __future__ import annotations

from itertools import count

from gsw_graph.model import Workspace


def bare(workspace: Workspace, position: int, chunk_id: str | None = None) -> dict[str, object]:
    """The GSW of one passage: entities that stand in it or answer one of its questions, and its verb phrases.

    An answer that is no entity is a "TEXT:", and no answer is "None". Propositions have no place in this
    format.
    """
    verbs = [verb for verb in workspace.verb_phrases if verb.passage == position]
    answers = {answer for verb in verbs for pair in verb.pairs for answer in pair.answers}
    entities = [
        entity for entity in workspace.entities if position in entity.passages or entity.name in answers
    ]
    ids = {entity.name: f"e{n}" for n, entity in enumerate(entities, 1)}
    number = count(1)
    return {
        "entity_nodes": [
            {
                "id": ids[entity.name],
                "name": entity.name,
                "roles": [
                    {"role": role, "states": list(states), "chunk_id": chunk_id}
                    for role, states in entity.roles
                ],
                "chunk_id": chunk_id,
                "summary": None,
            }
            for entity in entities
        ],
        "verb_phrase_nodes": [
            {
                "id": f"v{n}",
                "phrase": verb.phrase,
                "chunk_id": chunk_id,
                "questions": [
                    {
                        "id": f"q{next(number)}",
                        "text": pair.question,
                        "answers": [ids.get(answer, f"TEXT:{answer}") for answer in pair.answers] or ["None"],
                        "chunk_id": chunk_id,
                    }
                    for pair in verb.pairs
                ],
            }
            for n, verb in enumerate(verbs, 1)
        ],
    }
