"""Each tool takes what `grad` takes and refuses what it refuses."""

from __future__ import annotations

import array
import base64
import collections
import contextvars
import copy
import ctypes
import datetime
import enum
import hashlib
import importlib
import inspect
import io
import itertools
import json
import math
import os
import pathlib
import pickle
import queue
import random
import re
import statistics
import struct
import threading
import types
import uuid
import weakref
import zlib
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mooncake_py import (
    MooncakeError,
    checkpoint,
    grad,
    hvp,
    jvp,
    profile_gradient,
    show,
    tape_of,
    vjp,
)
from mooncake_py.coverage import refusals

pytestmark = pytest.mark.without_modes("the tools are tried here")

X = np.array([0.7, 1.3, -0.4])


class Colour(enum.Enum):
    RED = 2


def written_text():
    file = io.StringIO()
    file.write("ab")
    file.seek(0)
    return len(file.read())


def written_bytes():
    data = bytearray(b"abc")
    data[0] = 3
    return data[0]


def queued():
    waiting: Any = queue.Queue()
    waiting.put(2.0)
    return waiting.get()


def locked():
    with threading.Lock():
        return 2.0


def seen_by_name():
    y = 2.0
    return locals()["y"] * y


def in_a_record():
    return np.rec.array([(1.0, 2)], dtype=[("a", float), ("b", int)]).a[0]


def in_another_thread():
    thread = threading.Thread(target=seen_by_name)
    thread.start()
    thread.join()
    return 2.0


def with_a_callback():
    referent = Colour
    return 2.0 if weakref.ref(referent, lambda reference: None)() is Colour else 1.0


CONSTANTS = {
    "date": lambda: datetime.date(2020, 3, 1).day,
    "timedelta": lambda: datetime.timedelta(days=1).total_seconds(),
    "now": lambda: datetime.datetime.now().year > 0,
    "Decimal": lambda: float(Decimal("2.5") + 1),
    "Fraction": lambda: float(Fraction(1, 3)),
    "StringIO": written_text,
    "BytesIO": lambda: len(io.BytesIO(b"abc").read()),
    "memoryview": lambda: memoryview(b"abc")[1],
    "bytearray": written_bytes,
    "__import__": lambda: __import__("math").pi,
    "import_module": lambda: importlib.import_module("math").e,
    "array": lambda: array.array("d", [1.0, 2.0])[1],
    "struct": lambda: struct.unpack("d", struct.pack("d", 2.0))[0],
    "re": lambda: len(re.findall("a", "aab")),
    "json": lambda: json.loads("[1.5]")[0],
    "Counter": lambda: collections.Counter("aab")["a"],
    "Random": lambda: random.Random(3).random(),
    "default_rng": lambda: np.random.default_rng(3).normal(),
    "RandomState": lambda: np.random.RandomState(3).rand(),
    "md5": lambda: hashlib.md5(b"a").digest()[0],
    "Enum": lambda: Colour.RED.value,
    "Path": lambda: len(pathlib.Path("a/b").parts),
    "UUID": lambda: uuid.UUID(int=5).int,
    "zlib": lambda: len(zlib.compress(b"aaaa")),
    "base64": lambda: len(base64.b64encode(b"ab")),
    "deepcopy": lambda: copy.deepcopy({"a": [1.0]})["a"][0],
    "Queue": queued,
    "Lock": locked,
    "ContextVar": lambda: contextvars.ContextVar("v", default=2.0).get(),
    "SimpleNamespace": lambda: types.SimpleNamespace(a=2.0).a,
    "c_double": lambda: ctypes.c_double(2.0).value,
    "pickle": lambda: pickle.loads(pickle.dumps([1.0]))[0],
    "signature": lambda: len(inspect.signature(locked).parameters) + 1.0,
    "WeakValueDictionary": lambda: len(weakref.WeakValueDictionary()) + 1.0,
    "statistics": lambda: statistics.mean([1.0, 2.0]),
    "format": lambda: len(f"{3.0:.2f}"),
    "count": lambda: sum(itertools.islice(itertools.count(1), 3)),
    "datetime64": lambda: (np.datetime64("2020-01-02") - np.datetime64("2020-01-01")).astype(int),
    "Polynomial": lambda: np.polynomial.Polynomial([1.0, 2.0])(2.0),
    "environ": lambda: len(os.environ.get("NO_SUCH_NAME", "abc")),
    "locals": seen_by_name,
    "recarray": in_a_record,
    "masked": lambda: np.ma.array([1.0, 2.0], mask=[False, True]).sum(),
    "frombuffer": lambda: np.frombuffer(b"\0" * 8)[0],
    "frompyfunc": lambda: float(np.frompyfunc(abs, 1, 1)(np.array([1.0]))[0]),
    "Thread": in_another_thread,
    "eval": lambda: eval("2"),
    "callback": with_a_callback,
}
OF_ACTIVE = {
    "hex": lambda x: float(x[0].hex() != ""),
    "tobytes": lambda x: len(x.tobytes()),
    "digits": lambda x: int(math.frexp(x[0])[0] * 2.0**53) * 1e-16,
    "pack": lambda x: len(struct.pack("d", x[0])),
    "ratio": lambda x: x[0].as_integer_ratio()[0],
}


def surveyed(f: Any) -> None:
    for error in refusals(f, X.copy()):
        raise error


TOOLS = {
    "show": lambda f: show(f, X.copy()),
    "tape_of": lambda f: tape_of(f, X.copy()),
    "profile_gradient": lambda f: profile_gradient(f, X.copy()),
    "coverage": surveyed,
    "jvp": lambda f: jvp(f, (X.copy(),), (X,)),
    "vjp": lambda f: vjp(f, X.copy())[1](1.0),
    "debug": lambda f: grad(f, debug=True)(X.copy()),
    "hvp": lambda f: hvp(f, (X.copy(),), X),
    "checkpoint": lambda f: grad(lambda x: checkpoint(f, x))(X.copy()),
    "prepared": lambda f: grad(f).prepare(X.copy())(X.copy()),
}


def takes(tool: Any, f: Any) -> bool:
    try:
        tool(f)
    except MooncakeError:
        return False
    return True


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", [*CONSTANTS, *OF_ACTIVE])
def test_all_tools_decide_as_grad_does(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        factor = CONSTANTS[name]() if name in CONSTANTS else OF_ACTIVE[name](x)
        return np.sum(x * x) * factor

    expected = takes(lambda f: grad(f)(X.copy()), f)
    assert {tool: takes(run, f) for tool, run in TOOLS.items()} == dict.fromkeys(TOOLS, expected)
