"""The records that documents, answers and results are made of."""
