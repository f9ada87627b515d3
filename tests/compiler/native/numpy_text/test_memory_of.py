"""Elements of arrays in their memory, for text of loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.native.numpy_text.helpers import cells, memory_of


@pytest.mark.parametrize("dtype", [float, np.float32, int, bool])
def test_arrays_over_memory_of_ctypes_name_the_order_of_their_bytes(dtype: type) -> None:
    a = np.ctypeslib.as_array(np.ctypeslib.as_ctypes(np.arange(4).astype(dtype)))
    memory: Any = memory_of(a)
    assert memory.tolist() == a.tolist()
    memory[1] = memory[2]
    assert a[1] == a[2]
    assert list(cells(a, 0)) == a.tolist()


def test_other_arrays_are_read_as_they_are() -> None:
    a = np.arange(3.0)
    memory: Any = memory_of(a)
    memory[0] = 5.0
    assert a.tolist() == [5.0, 1.0, 2.0]
