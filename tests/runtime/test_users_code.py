"""Which classes have Python code that is part of the program: enumerations are given some."""

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad, jvp
from mooncake_py.application.seen_calls import runs_python
from mooncake_py.runtime.users_code import is_written_in_python


class Level(enum.Enum):
    LOW = 1.0
    HIGH = 3.0
    TOP = 4.0


class Count(enum.IntEnum):
    ONE = 1
    TWO = 2


class Name(enum.StrEnum):
    A = "a"


class Bits(enum.Flag):
    READ = 1
    WRITE = 2


class WithMethod(enum.Enum):
    LOW = 1.0

    def twice(self) -> float:
        return 2.0 * self.value


class WithMissing(enum.Enum):
    LOW = 1.0

    @classmethod
    def _missing_(cls, value: object) -> Any:
        return cls.LOW


class Meta(enum.EnumMeta):
    def __contains__(cls, value: object) -> bool:
        return True


class OfMeta(enum.Enum, metaclass=Meta):
    LOW = 1.0


@dataclass(frozen=True)
class Point:
    x: float


class OfPoints(enum.Enum):
    ORIGIN = Point(0.0)


class OfSequences(enum.Enum):
    PAIR = (Point(0.0), 1.0)


class Plain:
    x = 1.0


@pytest.mark.parametrize(
    ("cls", "answer"),
    [(Level, False), (Count, False), (Name, False), (Plain, False), (float, False),
     (Bits, True), (WithMethod, True), (WithMissing, True), (OfMeta, True), (Point, True),
     (OfPoints, True), (OfSequences, True)],
)  # fmt: skip
def test_which_classes_are_written_in_python(cls: type, answer: bool) -> None:
    assert is_written_in_python(cls) is answer
    assert runs_python(cls) is (answer and cls is not float)
    if issubclass(cls, enum.Enum):
        assert runs_python(next(iter(cls))) is answer


def total(x: Any) -> Any:
    s = 0.0 * x
    for level in Level:
        s = s + x * level.value
    if Level(4.0) is Level.TOP and Level.LOW in Level and Level["HIGH"].name == "HIGH":
        s = s * Count.TWO
    if Bits.READ in Bits.READ | Bits.WRITE:
        s = s + x * len(Name.A)
    return s * WithMethod.LOW.twice() + x * len(list(WithMissing))


def test_enumerations_give_the_derivative_and_are_as_before() -> None:
    before = {cls: dict(vars(cls)["_value2member_map_"]) for cls in (Level, Count, Bits, Name)}
    slope = ((1.0 + 3.0 + 4.0) * 2 + 1) * 2 + 1
    assert grad(total)(2.0) == slope
    assert grad(total, debug=True)(2.0) == slope
    assert jvp(total, (2.0,), (1.0,))[1] == slope
    assert np.isclose(total(2.0), 2.0 * slope)
    assert set(vars(Level)["_value2member_map_"]) == set(before[Level])
    assert set(vars(Count)["_value2member_map_"]) == set(before[Count])
