"""Objects of pandas are read as constants; active data, writes and callbacks are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mooncake_py import MissingRuleError, NoTangent, SharedArgumentsError, checkpoint, grad, jvp

pd: Any = pytest.importorskip("pandas")
X = np.array([1.0, 2.0])


def frame() -> Any:
    return pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})


READS: dict[str, Callable[[Any, Any], Any]] = {
    "to_numpy": lambda df, x: np.sum(df["a"].to_numpy() * x),
    "values": lambda df, x: np.sum(df.a.values * x),
    "asarray": lambda df, x: np.sum(np.asarray(df["a"]) * x),
    "loc": lambda df, x: df.loc[1, "a"] * x[0],
    "iloc": lambda df, x: df["a"].iloc[1] * x[0],
    "sum": lambda df, x: df["a"].sum() * x[0],
    "len": lambda df, x: len(df) * x[0],
    "itertuples": lambda df, x: sum(row.a * x[0] for row in df.itertuples()),
    "iterrows": lambda df, x: sum(row["a"] * x[0] for _, row in df.iterrows()),
    "elements": lambda df, x: sum(v * x[0] for v in df["a"]),
    "groupby": lambda df, x: sum(g["b"].sum() * x[0] for _, g in df.groupby("a")),
    "copy of a column": lambda df, x: column_overwritten(df, x),
    "questions": lambda df, x: x[0] if pd.api.types.is_list_like(x) and not pd.isna(x[0]) else x[1],
    "questions of types": lambda df, x: x[0] * (not pd.api.types.is_integer_dtype(x)),
    "column of a copy": lambda df, x: changed(df.copy(), x),
    "column of a selection": lambda df, x: changed(df[["a", "b"]], x),
    "column of a new frame": lambda df, x: changed(pd.DataFrame({"a": [5.0, 6.0]}), x),
    "new frame": lambda df, x: pd.DataFrame({"c": [2.0]})["c"].item() * x[0],
}


def changed(df: Any, x: Any) -> Any:
    before = df["a"].to_numpy()
    s = np.sum(before * x)
    df["c"] = df["a"] * 2.0
    df.loc[0, "a"] = 7.0
    df.columns = [name.upper() for name in df.columns]
    df.insert(0, "D", 1.0)
    df += 1.0
    return s * np.sum(df["C"].to_numpy() * x) + df["A"].iloc[0] * x[1] + np.sum(before * x**2)


def column_overwritten(df: Any, x: Any) -> Any:
    v = df["a"].to_numpy().copy()
    v[0] = x[0]
    return np.sum(v * x)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", READS)
def test_constants_are_read(name: str) -> None:
    df, f = frame(), READS[name]
    gradient = grad(lambda x: f(df, x))(X)
    steps = 1e-6 * np.eye(2)
    expected = [(f(df, X + h) - f(df, X - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(gradient, expected, rtol=1e-8)
    tangents = [jvp(lambda x: f(df, x), (X,), (h,))[1] for h in np.eye(2)]
    np.testing.assert_allclose(tangents, gradient, rtol=1e-14)


def set_column(df: Any, x: Any) -> None:
    df["c"] = 1.0


def set_element(df: Any, x: Any) -> None:
    df.loc[0, "a"] = 1.5


def set_names(df: Any, x: Any) -> None:
    df.columns = ["u", "v"]


def add_in_place(df: Any, x: Any) -> None:
    df += 1.0


def sort_by_keyword(df: Any, x: Any) -> None:
    df.sort_values("a", ascending=False, inplace=True)


def pop(df: Any, x: Any) -> None:
    df.pop("a")


REFUSED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "set column": (set_column, "cannot be undone"),
    "set element": (set_element, "cannot be undone"),
    "set names": (set_names, "cannot be undone"),
    "add in place": (add_in_place, "cannot be undone"),
    "sort": (sort_by_keyword, "cannot be undone"),
    "pop": (pop, "cannot be undone"),
    "times active": (lambda df, x: df["a"] * x[0], "cannot hold a derivative"),
    "times array": (lambda df, x: df["a"] * x, "cannot hold a derivative"),
    "array times": (lambda df, x: x * df["a"], "take the data out first"),
    "active frame": (lambda df, x: pd.DataFrame({"a": x}), "cannot hold a derivative"),
    "active series": (lambda df, x: pd.Series([x[0], 1.0]), "cannot hold a derivative"),
    "callback": (lambda df, x: df["a"].map(lambda v: v * 2), "could not see"),
    "active callback": (lambda df, x: df["a"].map(lambda v: v * x[0]), "cannot hold a derivative"),
}


def test_a_table_over_memory_of_the_call_is_changed_in_sight() -> None:
    def f(x: Any) -> Any:
        memory = np.ones((2, 1))
        df = pd.DataFrame(memory, columns=["a"], copy=False)
        y = np.sum(memory[:, 0] * x)
        df.loc[0, "a"] = 3.0
        return y * np.sum(memory[:, 0] * x**2)

    expected = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-8)


def test_a_checkpoint_changes_no_table() -> None:
    with pytest.raises(MissingRuleError, match="cannot be undone"):
        grad(lambda x: checkpoint(lambda x: changed(frame().copy(), x), x))(X)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_followed_is_refused_and_leaves_the_frame_alone(name: str) -> None:
    df, (use, reason) = frame(), REFUSED[name]

    def f(x: Any) -> Any:
        use(df, x)
        return x[0]

    for derivative in (lambda: grad(f)(X), lambda: jvp(f, (X,), (X,))):
        with pytest.raises(MissingRuleError) as caught:
            derivative()
        assert reason in str(caught.value)
        assert caught.value.where is not None
        pd.testing.assert_frame_equal(df, frame())


def test_a_frame_over_the_memory_of_an_argument_is_constant() -> None:
    def f(x: Any, df: Any) -> Any:
        return df["a"].sum() * x[0, 0]

    def written(x: Any, df: Any) -> Any:
        x[0, 0] = 5.0
        return f(x, df)

    x = np.ones((2, 1))
    df = pd.DataFrame(x, columns=["a"], copy=False)
    if not np.shares_memory(df["a"].to_numpy(), x):
        pytest.skip("this version of pandas copies")
    np.testing.assert_array_equal(grad(lambda x: f(x, df))(x), [[2.0], [0.0]])
    with pytest.raises(SharedArgumentsError):
        grad(lambda x: written(x, df))(x)


def test_a_frame_among_parameters_is_constant() -> None:
    def f(p: Any) -> Any:
        return np.sum(p["data"]["a"].to_numpy() * p["w"] ** 2)

    p = {"w": X, "data": frame()}
    gradient = grad(f)(p)
    np.testing.assert_array_equal(gradient["w"], 2 * X * np.array([1.0, 2.0]))
    assert gradient["data"] == NoTangent()
    y, t = jvp(f, (p,), ({"w": X, "data": NoTangent()},))
    assert (y, t) == (f(p), np.sum(gradient["w"] * X))


def test_a_frame_over_active_memory_is_refused() -> None:
    memory = np.ones((2, 1))
    df = pd.DataFrame(memory, columns=["a"], copy=False)
    if not np.shares_memory(df["a"].to_numpy(), memory):
        pytest.skip("this version of pandas copies")

    def f(x: Any) -> Any:
        memory[...] = x
        return df["a"].sum() * x[0, 0]

    with pytest.raises(MissingRuleError, match="cannot be differentiated"):
        grad(f)(np.ones((2, 1)))
