"""Names that mean the same thing become one, and several again."""
