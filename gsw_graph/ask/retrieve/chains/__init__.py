"""Chains of question-answer pairs along a plan: RICR (Panini, section 2.3 and appendix C). docs/ricr.md has
what departs from the published code, with reasons."""
