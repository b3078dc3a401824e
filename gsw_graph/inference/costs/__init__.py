"""What language models cost: prices, a budget, the ledger."""
