"""What a program writes to streams appears once, whoever writes: also native code."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import pickle
import pprint
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad

pytestmark = pytest.mark.without_modes("the modes are those of the test")

X = np.array([0.7, 1.2])
TEXT: Any = None  # streams that exist before a call
BYTES: Any = None
FILE: Any = None
TABLE: Any = None
NAMED: Any = None


def raises_and_prints(x: Any) -> None:
    try:
        raise ValueError(x[0])
    except ValueError:
        traceback.print_exc(file=TEXT)


def redirects(x: Any) -> None:
    with contextlib.redirect_stdout(TEXT):
        print("within")
        pprint.pprint([1])


def redirects_to_its_own(x: Any) -> None:
    with contextlib.redirect_stdout(io.StringIO()) as own:
        print("within")
        pprint.pprint([1])
    TEXT.write(own.getvalue())


def writes_to_its_own(x: Any) -> None:
    own = io.StringIO()
    json.dump([1], own)
    pprint.pprint([2], stream=own)
    TEXT.write(own.getvalue())


WRITERS: dict[str, Callable[[Any], Any]] = {
    "pprint": lambda x: pprint.pprint({"a": 1}),
    "pprint to a stream": lambda x: pprint.pprint({"a": 1}, stream=TEXT),
    "json": lambda x: json.dump({"x": [1.0, 2]}, TEXT),
    "json of a number": lambda x: json.dump({"x": float(x[0])}, TEXT),
    "json to a file": lambda x: json.dump([1], FILE),
    "csv": lambda x: csv.writer(TEXT).writerow([1, float(x[0])]),
    "csv before": lambda x: TABLE.writerows([[1], [2]]),
    "csv of a text before": lambda x: TABLE.writerow("ab"),
    "csv of a range before": lambda x: TABLE.writerow(range(2)),
    "csv by name": lambda x: csv.DictWriter(TEXT, ["a"]).writerow({"a": 1}),
    "csv by name before": lambda x: NAMED.writerow({"a": 1}),
    "rows by name before": lambda x: NAMED.writerows([{"a": 1}, {"a": float(x[0])}]),
    "header before": lambda x: NAMED.writeheader(),
    "savetxt": lambda x: np.savetxt(TEXT, np.ones(2)),
    "savetxt of a number": lambda x: np.savetxt(TEXT, x),
    "method": lambda x: list(map(TEXT.write, ["a", "b"])),
    "pickle": lambda x: pickle.dump([1, 2], BYTES),
    "save": lambda x: np.save(BYTES, np.ones(2)),
    "save of a number": lambda x: np.save(BYTES, x),
    "traceback": raises_and_prints,
    "redirected": redirects,
    "redirected to its own": redirects_to_its_own,
    "its own": writes_to_its_own,
}
MODES: dict[str, Callable[[Any], Any]] = {
    "plain": lambda f: f(X),
    "reverse": lambda f: grad(f)(X),
    "debug": lambda f: grad(f, debug=True)(X),
    "checkpoint": lambda f: grad(lambda x: checkpoint(f, x) * 1.0)(X),
    "nested": lambda f: grad(lambda x: grad(f)(x).sum())(X),
}


def written(call: Callable[[], Any], path: Path) -> tuple[Any, ...]:
    """Return the output of a call to all the streams."""
    global TEXT, BYTES, FILE, TABLE, NAMED
    TEXT, BYTES = io.StringIO(), io.BytesIO()
    TABLE, NAMED = csv.writer(TEXT), csv.DictWriter(TEXT, ["a"])
    with path.open("w") as FILE, contextlib.redirect_stdout(io.StringIO()) as standard:
        call()
    for stream in (TEXT, BYTES, standard):
        assert "write" not in vars(stream)
    return TEXT.getvalue(), BYTES.getvalue(), standard.getvalue(), path.read_text()


@pytest.mark.parametrize("name", WRITERS)
def test_it_is_written_once(name: str, tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        WRITERS[name](x)
        return (x * x).sum()

    found = {mode: written(lambda m=m: m(f), tmp_path / mode) for mode, m in MODES.items()}
    assert any(found["plain"])
    assert found == dict.fromkeys(MODES, found["plain"])


@pytest.mark.parametrize("mode", MODES)
def test_the_number_of_standard_output(mode: str, capfd: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        os.write(1, b"text\n")
        return (x * x).sum()

    MODES[mode](f)
    assert capfd.readouterr().out == "text\n"


def test_a_stream_that_is_read_is_not_taken_for_written() -> None:
    stream = io.StringIO("[1, 2]")

    def f(x: Any) -> Any:
        stream.seek(0)
        return x[0] * sum(json.load(stream))

    assert list(grad(lambda x: checkpoint(f, x) * 1.0)(X)) == [3.0, 0.0]


def test_the_standard_stream_is_the_same_object() -> None:
    def f(x: Any) -> Any:
        pprint.pprint(1)
        return x[0] * (sys.stdout is before)

    with contextlib.redirect_stdout(io.StringIO()) as before:
        assert list(grad(lambda x: checkpoint(f, x) * 1.0)(X)) == [1.0, 0.0]


class Tee:
    """A standard stream of a library, or of the program, that is none of `io`."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def write(self, text: str) -> int:
        self.texts.append(text)
        return len(text)


@pytest.mark.parametrize("mode", MODES)
def test_a_standard_stream_of_another_class(mode: str) -> None:
    tee: Any = Tee()

    def f(x: Any) -> Any:
        pprint.pprint({"a": 1})
        return (x * x).sum()

    with contextlib.redirect_stdout(tee):
        MODES[mode](f)
    assert vars(tee) == {"texts": tee.texts}
    assert "".join(tee.texts) == "{'a': 1}\n"
