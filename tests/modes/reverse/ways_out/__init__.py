"""Programs in which active data passes into something that holds no derivative, and often back.

Each is right or refused, in every mode.  They take a vector of two numbers, and return a number.
"""

from tests.modes.reverse.ways_out import (
    memory,  # noqa: F401
    numbers,  # noqa: F401
    objects,  # noqa: F401
    records,  # noqa: F401
    text,  # noqa: F401
    text_written,  # noqa: F401
)
from tests.modes.reverse.ways_out.collecting import WAYS_OUT

__all__ = ["WAYS_OUT"]
