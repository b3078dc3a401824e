"""How a node of each label looks: the one place for pictures, for the style of Neo4j Browser, and for
whatever shows the graph later.

Fills are light enough for dark text in light and dark surroundings, and neighbours in the graph differ in
lightness as well as in hue. An Entity looks like its Concept, only paler: it is that name in one document.
"""

TEXT = "#1d1f24"  # on every fill

COLOURS = {
    "Question": "#f5c451",
    "QAPair": "#f59d7e",
    "Concept": "#5cc5a8",
    "Entity": "#b5e3d6",
    "Role": "#d3b7e8",
    "VerbPhrase": "#f2b8d0",
    "Proposition": "#c6d96f",
    "Relation": "#e8c9a0",
    "Run": "#9fd8e8",
    "Passage": "#8fbcf0",
    "Document": "#b9c3d0",
    "Memory": "#d9d4c7",
}
OTHER = "#dadde2"  # a label of somebody else's

CAPTIONS = {  # the property that says what a node is
    "Question": "question",
    "QAPair": "question",
    "Concept": "name",
    "Entity": "name",
    "Role": "name",
    "VerbPhrase": "phrase",
    "Proposition": "text",
    "Relation": "name",
    "Run": "title",
    "Passage": "title",
    "Document": "title",
    "Memory": "id",
}

FOUND = {  # what pictures show that is no node of the graph
    "Sub-question": "#fae3a8",
    "Finding": "#e3e5ea",
    "Answer": "#fff3cf",
}
