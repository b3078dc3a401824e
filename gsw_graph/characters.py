"""Characters that no database, file or server takes: halves of surrogate pairs, as JSON and models write."""


def without_halves(text: str) -> str:
    """Pairs joined to the characters that they stand for; a single half becomes U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
