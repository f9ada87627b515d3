"""Statements on numbers of which none is active: Python computes them, and nothing is recorded."""

from __future__ import annotations

from collections.abc import Mapping

from mooncake_py.compiler.printing.emit_scalar import Emitter
from mooncake_py.compiler.printing.text import define
from mooncake_py.compiler.regions.ir import Call, Op, walk
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.general import Way
from mooncake_py.compiler.statements.lines import function
from mooncake_py.runtime.values import is_of_math

__all__ = ["form_on_constants"]

OPERATORS = frozenset({"add", "sub", "mul", "truediv", "neg", "pow"})


def form_on_constants(
    core: Core, kinds: Mapping[int, type], choose: Way, otherwise: Way
) -> Way | None:
    """Return the form for ints and floats of Python, or None; for others NumPy may warn.

    Parameters
    ----------
    kinds : dict of int to type
        Of each operand, by its number.
    choose, otherwise : callable
        The way that finds the form for other kinds, and the one that always works.
    """
    statement = core.statement
    if not all(t is int or t is float for t in kinds.values()) or statement.has_complex:
        return None
    for e in walk(core.value):
        of_python = isinstance(e, Call) and (is_of_math(e.function) or e.function in (max, min))
        if not of_python if isinstance(e, Call) else isinstance(e, Op) and e.op not in OPERATORS:
            return None
    fits = ["(C.fuses or C.pushes or C.several)"]
    fits += [f"type(v{k}) is {t.__name__}" for k, t in kinds.items()]
    fits += [f"F[{i}] is f{i}" for i in range(len(core.functions))]
    emitter = Emitter()
    names = {p: f"v{k}" for k, p in statement.names.items()}
    given = "".join(f"{names.get(p, '_')}, " for p in range(statement.passed))
    lines = [f"({given}) = V", f"if not ({' and '.join(fits)}):", "    return choose(C, F, V)"]
    lines += ["try:", f"    return {emitter.text(core.value)}", "except Exception:"]
    lines += ["    return otherwise(C, F, V)"]
    scope = {f"f{i}": f for i, f in enumerate(core.functions)} | emitter.scope
    text = function("run", "C, F, V", lines)
    form = define(text, {**scope, "choose": choose, "otherwise": otherwise})["run"]
    form.text = text  # for those who want to see it
    return form
