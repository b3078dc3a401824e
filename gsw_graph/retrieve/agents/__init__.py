"""What strategies share that search with a language model: an agent with its steps, and several at once."""
