"""Names of types after an article."""

import pytest

from mooncake_py import InvalidTangentError, vjp
from mooncake_py.words import with_article

WORDS = [
    "a list", "an int", "an Agent", "an object", "a uint8", "a ufunc", "a UniformGrid", "a Euler",
    "an unknown", "an ndarray", "a float64", "an _Inner", "an int64 array",
]  # fmt: skip


@pytest.mark.parametrize("words", WORDS)
def test_article(words: str) -> None:
    assert with_article(words.split(" ", 1)[1]) == words


def test_errors_use_it() -> None:
    with pytest.raises(InvalidTangentError, match="an iterator cannot have a tangent"):
        vjp(lambda i: next(i), type("iterator", (frozenset,), {})([1.0]))
