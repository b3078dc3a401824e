"""From a question to its answer: plan, retrieve, answer."""
