"""Storing active data writes plain numbers; reading them back in the same call is an error."""

from __future__ import annotations

import csv
import io
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mooncake_py import DerivativeDropError, MissingRuleError, grad, jvp

X = np.array([1.0, 2.0])


def stores(store: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def cubes(x: Any) -> Any:
        store(x)
        return np.sum(x**3)

    return cubes


def test_files_hold_the_plain_numbers(tmp_path: Path) -> None:
    def store(x: Any) -> None:
        np.save(tmp_path / "array", 2 * x)
        np.save(tmp_path / "number", x[0] * 3)
        np.savez(tmp_path / "both", a=x * x, b=[x[0], 1.0])
        (x + 1).tofile(tmp_path / "raw")
        with open(tmp_path / "pickle", "wb") as file:
            pickle.dump({"a": x[1] * 2, "b": [x]}, file)

    np.testing.assert_array_equal(grad(stores(store))(X), 3 * X**2)
    np.testing.assert_array_equal(np.load(tmp_path / "array.npy"), 2 * X)
    assert np.load(tmp_path / "number.npy") == 3.0
    with np.load(tmp_path / "both.npz") as both:
        np.testing.assert_array_equal(both["a"], X * X)
        np.testing.assert_array_equal(both["b"], [1.0, 1.0])
    np.testing.assert_array_equal(np.fromfile(tmp_path / "raw"), X + 1)
    found = pickle.loads((tmp_path / "pickle").read_bytes())
    assert (type(found["a"]), found["a"]) == (np.float64, 4.0)
    np.testing.assert_array_equal(found["b"][0], X)


def test_files_that_are_written_as_text_hold_the_plain_numbers(tmp_path: Path) -> None:
    def store(x: Any) -> None:
        with open(tmp_path / "json", "w") as file:
            json.dump({"a": x[0] * 2, "b": [x], "c": 1}, file, default=lambda a: a.tolist())
        with open(tmp_path / "table", "w", newline="") as file:
            writer = csv.DictWriter(file, ["a", "b"])
            writer.writeheader()
            writer.writerow({"a": x[0], "b": x[1] * 2})
        with open(tmp_path / "raw", "wb") as file:
            file.write(3 * x)
        assert json.dumps([x[1]]) == "[2.0]"
        assert float.__repr__(x[1]) == "2.0"

    np.testing.assert_array_equal(grad(stores(store))(X), 3 * X**2)
    assert json.loads((tmp_path / "json").read_text()) == {"a": 2.0, "b": [[1.0, 2.0]], "c": 1}
    assert (tmp_path / "table").read_text().split() == ["a,b", "1.0,4.0"]
    np.testing.assert_array_equal(np.fromfile(tmp_path / "raw"), 3 * X)


def json_again(x: Any, path: Path) -> Any:
    with open(path, "w") as file:
        json.dump(x.tolist(), file)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def table_again(x: Any, path: Path) -> Any:
    with open(path, "w", newline="") as file:
        csv.writer(file).writerow(list(x))
    with open(path, newline="") as file:
        return [float(v) for v in next(iter(csv.reader(file)))]


def raw_again(x: Any, path: Path) -> Any:
    with open(path, "wb") as file:
        file.write(x)
    return np.fromfile(path)


def text_again(x: Any, path: Path) -> Any:
    return json.loads(json.dumps(list(x)))


def json_in_memory(x: Any, path: Path) -> Any:
    file = io.StringIO()
    json.dump({"a": x}, file, default=lambda a: a.tolist())
    file.seek(0)
    return json.load(file)["a"]


def table_in_memory(x: Any, path: Path) -> Any:
    file = io.StringIO()
    reader = csv.reader(file)
    csv.writer(file).writerow([x[0], x[1]])
    file.seek(0)
    return [float(v) for v in next(reader)]


def text_in_memory(x: Any, path: Path) -> Any:
    file = io.StringIO()
    json.dump(list(x), file)
    return json.loads("".join(["  ", *iter([file.getvalue()])]))


@pytest.mark.parametrize(
    "read", [text_again, json_in_memory, table_in_memory, text_in_memory], ids=lambda f: f.__name__
)
def test_text_is_not_read_again(read: Any, tmp_path: Path) -> None:
    f = lambda x: np.sum(x * read(1.5 * x, tmp_path))  # noqa: E731
    with pytest.raises(DerivativeDropError, match="active"):
        grad(f)(X)
    with pytest.raises(DerivativeDropError, match="active"):
        jvp(f, (X,), (X,))


def test_forward_mode_stores_too(tmp_path: Path) -> None:
    file = tmp_path / "array.npy"
    _, t = jvp(stores(lambda x: np.save(file, x)), (X,), (np.ones(2),))
    assert t == np.sum(3 * X**2)
    np.testing.assert_array_equal(np.load(file), X)


def load_again(x: Any, path: Path) -> Any:
    np.save(path, x)
    return np.load(path)


def load_with_the_ending(x: Any, path: Path) -> Any:
    np.save(path.with_suffix(""), x)
    return np.load(path)


def load_from_memory(x: Any, path: Path) -> Any:
    file = io.BytesIO()
    np.save(file, x)
    file.seek(0)
    return np.load(file)


def bytes_from_memory(x: Any, path: Path) -> Any:
    file = io.BytesIO()
    np.save(file, x)
    return np.frombuffer(file.getvalue()[128:])


def fromfile(x: Any, path: Path) -> Any:
    x.tofile(path)
    return np.fromfile(path)


def memory_map(x: Any, path: Path) -> Any:
    x.tofile(path)
    return np.memmap(path, float)


def unpickle(x: Any, path: Path) -> Any:
    with open(path, "wb") as file:
        pickle.dump(x, file)
    with open(path, "rb") as file:
        return pickle.load(file)


def read_bytes(x: Any, path: Path) -> Any:
    x.tofile(path)
    return np.frombuffer(path.read_bytes())


READINGS = (json_again, table_again, raw_again, load_again, load_with_the_ending, load_from_memory,
            bytes_from_memory, fromfile, memory_map, unpickle, read_bytes)  # fmt: skip


@pytest.mark.parametrize("read", READINGS, ids=lambda f: f.__name__)
def test_reading_back_is_refused(read: Any, tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        return np.sum(x * read(2 * x, tmp_path / "a.npy"))

    with pytest.raises(DerivativeDropError, match="active data were written") as caught:
        grad(f)(X)
    assert caught.value.where is not None
    with pytest.raises(DerivativeDropError, match="active data were written"):
        jvp(f, (X,), (np.ones(2),))


@pytest.mark.parametrize("read", READINGS, ids=lambda f: f.__name__)
def test_constants_are_read_back(read: Any, tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        return np.sum(x * read(np.array([3.0, 4.0]), tmp_path / "a.npy"))

    np.testing.assert_array_equal(grad(f)(X), [3.0, 4.0])


def test_other_files_are_read(tmp_path: Path) -> None:
    np.save(tmp_path / "constant.npy", X)

    def f(x: Any) -> Any:
        np.save(tmp_path / "active.npy", x)
        return np.sum(x * np.load(tmp_path / "constant.npy"))

    np.testing.assert_array_equal(grad(f)(X), X)


def test_what_an_outer_derivative_stored_is_not_read_by_an_inner_one(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"

    def outer(x: Any) -> Any:
        np.save(path, x)
        return np.sum(grad(lambda y: np.sum(np.load(path) * y * y))(x))

    with pytest.raises(DerivativeDropError, match="active data were written"):
        grad(outer)(X)


def test_files_of_the_users_own_are_refused() -> None:
    class File:
        def write(self, data: bytes) -> int:
            return len(data)

    with pytest.raises(MissingRuleError, match="calls methods of File"):
        grad(stores(lambda x: np.save(File(), x)))(X)
    with pytest.raises(MissingRuleError, match="calls methods of File"):
        grad(stores(lambda x: csv.writer(File()).writerow([x[0]])))(X)
