"""The IR and the text of some statements, in files: a change is seen in review.

``pytest tests/compiler --update-golden`` rewrites the files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from mooncake_py.compiler.statements.array_adjoint import adjoint_of, checks
from mooncake_py.compiler.statements.array_forms import ArrayForm
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.forward_forms import ForwardForm, Pattern
from mooncake_py.compiler.statements.general import elsewhere
from mooncake_py.compiler.statements.kinds import ELEMENT
from mooncake_py.compiler.statements.scalars import scalar_form
from mooncake_py.runtime.active import Active
from tests.compiler.statements.cores import core_of, plan_of, text_of, texts

FOLDER = Path(__file__).parent / "golden"


class Case(NamedTuple):
    """A statement, with what is known of its operands.

    Attributes
    ----------
    text, target : str
        Of an expression, or of a change of a target.
    kinds : str
        Of the operands as they are read, the target of a change first.
    active : str
        The operands that are active arrays.
    whole : bool or None
        Whether the value has the shape of the result; None for a number.
    out : bool
        Whether the value is written by ``out=``.
    """

    text: str
    kinds: str
    active: str
    target: str = ""
    whole: bool | None = True
    out: bool = False


CASES = {
    "product": Case("a * b", "array, array", "0,1"),
    "signs": Case("-(a - b) * a", "array, array", "0,1"),
    "quotient": Case("a / (b + 2.0)", "array, array", "0,1"),
    "constant_beside_active": Case("a * b + c", "array, array, array", "1"),
    "function": Case("np.tanh(a) * b", "array, float", "0"),
    "number_beside_array": Case("a * b - a", "Active, array", "1"),
    "broadcast": Case("a * b + b", "array, broadcast array", "0,1"),
    "choice": Case("np.minimum(a, b + c)", "array, array, array", "0,1"),
    "choice_by_comparison": Case("np.where(a > b, a * b, 0.0)", "array, array", "0,1"),
    "powers": Case("a * a * a + a ** 2", "array", "0"),
    "matrix_vector": Case("a @ b - c", "matrix, vector, array", "0,1,2"),
    "outer": Case("np.outer(a, b)", "vector, vector", "0,1"),
    "slices": Case("x[i] * w[j] + x[j]", "array, array, array", "0,1,2"),
    "views": Case("np.flip(x[i]) * x.T - a", "array, array, array", "0,1"),
    "reductions": Case(
        "np.sum(a * b, axis=1) + np.sum(c, axis=0)",
        "array of any shape, array of any shape, array of any shape",
        "0,2",
    ),
    "sum_of_products": Case("np.sum(a * b)", "array, array", "0,1", whole=None),
    "mean_by_method": Case("((a - b) ** 2).mean() / c", "array, array, float", "0,1", whole=None),
    "sum_beside_array": Case("a - b * (a * b).sum()", "array, array", "0,1"),
    "sum_of_squares": Case("np.sum(a * a) * 0.5", "array", "0", whole=None),
    "inner_product": Case("a @ b * c", "vector, vector, float", "0,1", whole=None),
    "element_less_inner_product": Case(
        "-= x[j] @ y[j]", "element, vector, vector", "0,2", "x[i]", whole=None
    ),
    "add_in_place": Case("+= b * c", "array, array, array", "0,1,2", "a"),
    "subtract_number": Case("-= b", "array, Active", "0", "a", False),
    "multiply_in_place": Case("*= np.sin(b)", "array, array", "0,1", "a"),
    "divide_in_place": Case("/= b", "array, broadcast array", "0,1", "a", False),
    "mask": Case("= x[h] ** 2 + w[h] * b", "array, array, float", "0,1", "x[h]"),
    "choice_by_out": Case("np.maximum(a, b)", "array, array", "0,1", "c", out=True),
    "numbers": Case("a * b - np.sin(a)", "Active, float", "", whole=None),
    "elements": Case("x[i] * a + y[i, j]", "element, Active, element", "0,2", whole=None),
}


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str, golden: Callable[[Path, str], None]) -> None:
    text = described(CASES[name])
    golden(FOLDER / f"{name}.txt", text)


def described(case: Case) -> str:
    """Return the code made of a statement."""
    core = core_of(case.text, case.target, case.out)
    kinds = [kind.strip() for kind in case.kinds.split(",")]
    moving = {int(k) for k in case.active.split(",") if k}
    moving |= {k for k, kind in enumerate(kinds) if kind == "Active"}
    value = [*texts(core.lets), f"value {text_of(core.root)}"]
    on_arrays = any("array" in kind or kind in ("vector", "matrix") for kind in kinds)
    reverse = of_arrays(core, case) if on_arrays else of_numbers(core, kinds)
    forward = of_forward_mode(expression(core), kinds, moving)
    parts = {"its value": "\n".join(value) + "\n", **reverse, "with its tangent": forward}
    return "\n".join(f"# {title}\n\n{text}" for title, text in parts.items())


def of_arrays(core: Core, case: Case) -> dict[str, str]:
    """Return the cotangents of the operands, and the form."""
    plan = plan_of(core, case.kinds, case.active, case.whole)
    received = adjoint_of(plan)
    lines = texts(received.lets)
    lines += [f"v{k} receives {text_of(e)}" for k, e in received.totals.items()]
    lines.append(f"looks at {', '.join(checks(received)) or 'nothing'}")
    text, _ = ArrayForm(plan).printed()
    return {"what its operands receive": "\n".join(lines) + "\n", "its form": text}


def of_numbers(core: Core, kinds: list[str]) -> dict[str, str]:
    """Return the form; all elements are those of active arrays."""
    types: dict[str, type] = {"Active": Active, "float": float, "float64": np.float64}
    named = {k: types[kind] for k, kind in enumerate(kinds) if kind != ELEMENT}
    on = {base: True for base, _ in core.statement.pairs}
    form: Any = scalar_form(core, named, on, elsewhere, elsewhere)
    return {"its form": form.text}


def of_forward_mode(core: Core, kinds: list[str], moving: set[int]) -> str:
    """Return the form in forward mode where nothing is active below."""
    statement = core.statement
    types: dict[str, type] = {"Active": Active, "float": float}
    named = tuple(types.get(kinds[k], np.ndarray) for k in statement.names)
    places = [part[0] if isinstance(part, tuple) else part for part in statement.layout]
    pattern = Pattern(named, frozenset(places[k] for k in moving))
    form: Any = ForwardForm(statement, core, "", pattern, elsewhere, elsewhere).made()
    return form.text


def expression(core: Core) -> Core:
    """Return the value alone, as forward mode reads it."""
    return Core(core.statement._replace(target=None, augments=False, into=False), core.functions)
