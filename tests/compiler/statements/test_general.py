"""The ways that always work: code that calls the context, and writes by them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.statements.general import elsewhere, one_by_one, text_of, writing
from tests.compiler.statements.cores import read


class Recorder:
    """A context that notes what is called."""

    numbers = (int, float)

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        def called(*args: Any) -> Any:
            self.calls.append((name, *args))
            return f"<{name}>"

        return called


def statement(text: str) -> Any:
    found = read(text)
    assert found is not None
    return found[0].statement(found[1], frozenset())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a * x[i] + b", "C.add(C.mul(V[0], C.getitem(V[1], V[2])), V[3])"),
        ("-a / 2.0", "C.truediv(C.neg(V[0]), 2.0)"),
        ("np.sin(a)", "C.call_one(F[0], V[0])"),
        ("np.hypot(a, np.sin(b))", "C.call(F[1], V[0], C.call_one(F[0], V[1]))"),
        ("int(a) @ b", None),
        ("int(a) + b", "C.add(C.call_one(int, V[0]), V[1])"),
        ("a @ b", "C.matmul(V[0], V[1])"),
        ("a ** 2", "C.pow(V[0], 2)"),
    ],
)
def test_texts(text, expected):
    if expected is None:
        assert read(text) is None
        return
    given = statement(text)
    assert text_of(given.value, given.layout) == expected


def test_operations_run_in_the_order_of_the_text():
    ctx = Recorder()
    way = one_by_one(statement("a * x[i] + b"))
    assert way(ctx, (), (1.0, "x", 0, 2.0)) == "<add>"
    assert ctx.calls == [("getitem", "x", 0), ("mul", 1.0, "<getitem>"), ("add", "<mul>", 2.0)]


def test_elsewhere_does_nothing():
    assert elsewhere(Recorder(), (), ()) is Elsewhere  # type: ignore[arg-type]


def value(ctx: Any, functions: Any, values: Any) -> Any:
    ctx.calls.append("value")
    return 3.0


def test_stores_compute_first():
    ctx = Recorder()
    writing((0, 1), None, value)(ctx, (), ("x", 2))  # type: ignore[arg-type]
    assert ctx.calls == ["value", ("setitem", "x", 2, 3.0)]


def test_changes_of_arrays_are_one_call():
    ctx, x = Recorder(), np.ones(3)
    writing((0, 1), "iadd", value)(ctx, (), (x, 2))  # type: ignore[arg-type]
    assert ctx.calls[0] == "value"
    assert ctx.calls[1][:2] == ("augitem", "iadd")


@pytest.mark.parametrize("values", [("x", 2), (np.ones(3), 2, object())])
def test_changes_of_other_objects_and_by_them_read_first(values):
    ctx = Recorder()
    writing((0, 1), "iadd", value)(ctx, (), values)  # type: ignore[arg-type]
    assert [call if call == "value" else call[0] for call in ctx.calls] == [
        "getitem",
        "value",
        "iadd",
        "storeback",
    ]


@pytest.mark.parametrize(("old", "method"), [(1.0, "add"), ("object", "iadd")])
def test_names_of_numbers_are_bound_anew(old, method):
    ctx = Recorder()
    assert writing(0, "iadd", value)(ctx, (), (old,)) == f"<{method}>"  # type: ignore[arg-type]
    assert ctx.calls[-1] == (method, old, 3.0)
