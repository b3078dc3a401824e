"""Unit vectors in one signed byte a dimension, as the graph holds those of edges and facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BYTE = 127


def pack_vector(vector: NDArray[np.float32]) -> bytes:
    """Pack a unit vector in one signed byte a dimension: a cosine is then off by some thousandths."""
    import numpy as np

    return np.rint(np.asarray(vector, dtype=np.float32) * _BYTE).astype(np.int8).tobytes()


def unpack_vectors(packed: Sequence[bytes]) -> NDArray[np.float32]:
    """Unpack vectors to float32 (n, dimension)."""
    import numpy as np

    if not packed:
        return np.zeros((0, 0), dtype=np.float32)
    numbers = np.frombuffer(b"".join(packed), dtype=np.int8).reshape(len(packed), -1)
    return np.asarray(numbers / np.float32(_BYTE), dtype=np.float32)
