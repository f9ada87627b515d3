"""Values of all types, shared by the tests of this folder as fixtures."""

import collections
import dataclasses
import enum
import functools
import threading
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from mooncake_py.tangents import MutableTangent, NoTangent, Tangent


@dataclasses.dataclass(frozen=True)
class Foo:
    x: float
    y: object
    z: int


@dataclasses.dataclass
class Bar:
    x: float
    y: object
    z: int


class Pair(NamedTuple):
    a: float
    b: NDArray[np.float64]


class Slotted:
    __slots__ = ("__hidden", "absent", "w")

    def __init__(self):
        self.w = np.ones(2)
        self.__hidden = 2.0


class SlottedChild(Slotted):
    def __init__(self):
        super().__init__()
        self.extra = 3.0


class Layer:
    def __init__(self):
        self.w = np.ones((2, 3))
        self.row = self.w[0]
        self.bias = 0.5
        self.index = np.arange(3)
        self.name = "layer"
        self.lock = threading.Lock()

    def apply(self, x):
        return self.w @ x


class Colour(enum.Enum):
    RED = 1.5


def closure():
    """A function that captures an array and a number."""
    w, b = np.ones(2), 3.0

    def f(x):
        return w @ x + b

    return f


def counter():
    total = 0.0

    def add(x):
        nonlocal total
        total += x

    def read():
        return total

    return add, read


def cyclic_list():
    items: list[Any] = [1.0, np.ones(2)]
    items.append(items)
    return items


def cyclic_object():
    node = Bar(1.0, None, 2)
    node.y = (node, [node])
    return node


def overlapping():
    x = np.arange(6.0)
    return x, x[1:], x[::-1], np.broadcast_to(x[2], (3,)), [x, x.reshape(2, 3).T]


def values():
    """Values that have a derivative, by name, each newly made."""
    layer = Layer()
    return {
        "float": 1.5,
        "complex": 1 + 2j,
        "float32": np.float32(1.5),
        "longdouble": np.longdouble(1.5),
        "complex64": np.complex64(1 + 2j),
        "array": np.arange(3.0),
        "array f32 F": np.asfortranarray(np.ones((2, 3), np.float32)),
        "array c64": np.ones(3, np.complex64),
        "array f16": np.ones(3, np.float16),
        "array 0-d": np.array(2.0),
        "array empty": np.zeros((0, 3)),
        "array strided": np.arange(12.0).reshape(3, 4)[::-1, ::2],
        "array broadcast": np.broadcast_to(np.arange(3.0), (2, 3)),
        "array big endian": np.ones(3, ">f8"),
        "complex parts": (c := np.arange(3) * (1 + 1j), c.real, c.imag[1:]),
        "tuple": (1.0, np.ones(2), 3),
        "nested tuple": (1.0, ("a", (2.0, 3))),
        "list": [1.0, [np.ones(2)], "a"],
        "dict": {"w": np.ones(2), 3: 1.0, None: "a"},
        "defaultdict": collections.defaultdict(float, a=1.0),
        "ordered dict": collections.OrderedDict(a=1.0),
        "deque": collections.deque([1.0, 2.0], maxlen=3),
        "frozen": Foo(1.0, np.ones(2), 3),
        "dataclass": Bar(1.0, np.ones(2), 3),
        "namedtuple": Pair(1.0, np.ones(2)),
        "slots": Slotted(),
        "slots and dict": SlottedChild(),
        "object": layer,
        "bound method": layer.apply,
        "method of array": np.ones(2).dot,
        "closure": closure(),
        "closures that share": counter(),
        "partial": functools.partial(max, 1.0, key=abs),
        "overlapping": overlapping(),
        "same twice": (layer, layer.w, [layer]),
        "cyclic list": cyclic_list(),
        "cyclic object": cyclic_object(),
        "tangent": Tangent(x=1.0, y=NoTangent(), z=MutableTangent(w=np.ones(2))),
        "empty list": [],
        "list of ints": [1, 2],
    }


NOTHING = {
    "int": 3,
    "bool": True,
    "str": "a",
    "bytes": b"a",
    "None": None,
    "Ellipsis": ...,
    "class": Foo,
    "module": np,
    "slice": slice(1, 2),
    "range": range(3),
    "dtype": np.dtype(float),
    "numpy int": np.int64(3),
    "numpy bool": np.bool_(True),
    "int array": np.arange(3),
    "bool array": np.ones(2, bool),
    "str array": np.array(["a"]),
    "datetime array": np.array(["2000-01-01"], "M8[D]"),
    "function": closure,
    "lambda": lambda x: x,
    "builtin": len,
    "ufunc": np.add,
    "numpy function": np.sum,
    "ufunc method": np.add.reduce,
    "class method": dict.fromkeys,
    "enum": Colour.RED,
    "tuple of ints": (1, (2, "a")),
    "empty tuple": (),
    "set of ints": {1, 2},
    "generator of random numbers": np.random.default_rng(0),
    "frozen of ints": Foo(1, 2, 3),
    "cached function": functools.lru_cache(len),
}


@pytest.fixture(params=values())
def value(request):
    return values()[request.param]


@pytest.fixture(params=NOTHING)
def constant(request):
    return NOTHING[request.param]


@pytest.fixture
def rng():
    return np.random.default_rng(20)
