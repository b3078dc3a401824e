"""What a memory holds, for people: documents, questions, names, and the analyses."""
