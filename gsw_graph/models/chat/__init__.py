"""Language models: what others use, calls and their limits, the protocol, kept replies."""
