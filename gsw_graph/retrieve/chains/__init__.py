"""Chains of question-answer pairs, grown hop by hop."""
