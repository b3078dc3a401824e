"""One fact about one thing, without a language model: from a pair, else from a sentence."""
