"""Python functions that compiled code calls, read like whole functions and printed separately.

Where arrays are passed it is one of `systems`, which returns whether it came to its end::

    i8 mc_alone_entry(ptr, i64, i64, ptr, i64, ...)     1 if so, 0 if not
    i8 mc_alone_entry(double, i64, ..., ptr)            and its result behind the last address

and -1 where there is no memory.  A partial derivative may name a function of real numbers, as
``of_reals``, that stands for it here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from types import FunctionType
from typing import Any

from mooncake_py.compiler.native.building.findings import reread
from mooncake_py.compiler.native.building.types import ArrayType, NumberType, Type
from mooncake_py.compiler.native.building.values import Unfit
from mooncake_py.compiler.native.llvm.module import are_numbers, as_passed
from mooncake_py.compiler.native.llvm.numbers import REGISTER
from mooncake_py.compiler.native.llvm.printer import Printer
from mooncake_py.compiler.native.llvm.signature import Foreign, Signature
from mooncake_py.compiler.native.lowering.lower import lowered
from mooncake_py.compiler.native.machine.by_numba import is_ours, require_steady
from mooncake_py.compiler.native.reading.outputs import Output
from mooncake_py.compiler.native.reading.reader import FunctionReader, Reading
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT
from mooncake_py.compiler.regions.ir import Assign, Const, Count, Expr, Name
from mooncake_py.compiler.sites.callees import Callee, has_rule
from mooncake_py.jitted import is_its_python, is_jitted, python_function
from mooncake_py.overriding import override

__all__ = ["ENTRY", "printed_alone"]

ENTRY = "mc_alone_entry"
RESULT = "r.given"
"""The result as one of the kind that is wanted."""


TEXT = """\
define i8 @mc_alone_entry({parameters}) nounwind {{
  %in = alloca [{slots} x i64]
  %out = alloca i64
{stores}
  %code = call i32 @{symbol}(ptr %in, ptr %out)
  %fine = icmp eq i32 %code, 0
  br i1 %fine, label %done, label %left
left:
  %none = icmp slt i32 %code, 0
  %how = select i1 %none, i8 -1, i8 0
  ret i8 %how
done:
{end}
}}
"""
DONE = """\
  %yes = load i64, ptr %out
  %truth = trunc i64 %yes to i8
  ret i8 %truth"""
TRUTH = """\
  %yes = load i64, ptr %out
  %truth = trunc i64 %yes to i8
  store i8 %truth, ptr %result
  ret i8 1"""


class AnyReader(FunctionReader):
    """Reads a function that has a rule, or is one of ours."""

    top: FunctionType
    may_call = False  # nothing would hold what is called

    @override
    def is_readable(self, named: Any) -> bool:
        f = python_function(named)
        if f is None:
            return False
        if not is_jitted(named):  # whose globals are constants
            require_steady(f)
        return f is self.top or is_ours(f) or super().is_readable(named)


@cache
def printed_alone(foreign: Foreign) -> tuple[str, Printer]:
    """Return the text of a function with its entry, and what else printed it.

    Raises
    ------
    Unfit
        It cannot be read.
    CannotCompile
        It reads what may change.
    """
    named = getattr(foreign.function, "of_reals", foreign.function)
    f = python_function(named)
    if f is None:
        raise Unfit("a function that is not written in Python")
    if is_jitted(named) and not is_its_python(named):
        raise Unfit("compiled code that does something else than its Python")
    # Partial derivatives are those of NumPy, which does not raise where there is none.
    wide = "float" if has_rule(named) and not is_ours(f) else "float64"
    reading = read(f, [type_of_passed(kind, axes, wide) for kind, axes in foreign.kinds])
    ints = [k for k, (kind, _) in enumerate(foreign.kinds) if kind == INT]
    if Callee(named, f).may_overflow(frozenset(f.__code__.co_varnames[k] for k in ints)):
        raise Unfit("ints that wrap around in code compiled by Numba")
    region = lowered(reading.region)
    if reading.captured or reading.set_after or reading.grown or region.lists:
        raise Unfit("a function that does more than compute")
    kinds = region.kinds | {RESULT: foreign.result}
    printer = Printer(kinds, region.arrays)
    value = result_of(reading.output)
    last = Assign if foreign.result in (FLOAT, FLOAT32) else Count
    target: Any = Name(RESULT) if last is Assign else RESULT
    printer.alone((*region.body, last(target, value)), region.inputs, (RESULT,))
    signature = printer.functions["alone"]
    return printer.text + entry(foreign, signature), printer


def read(f: FunctionType, types: Sequence[Type]) -> Reading:
    """Read a function for arguments of some types."""

    def whole(findings: Any) -> Reading:
        reader = AnyReader(findings)
        reader.top = f
        return reader.whole(f, types)

    if f.__code__.co_argcount != len(types):
        raise Unfit("a call with another number of arguments")
    return reread(whole)


def type_of_passed(kind: str, axes: int | None, wide: str) -> Type:
    """Return the type of an argument.

    Parameters
    ----------
    wide : str
        The type of numbers of float64.
    """
    if axes is not None:
        return ArrayType(kind, (False,) * axes)
    if kind == BOOL:
        raise Unfit("a bool as an argument: pass an int")
    return NumberType({FLOAT: wide, FLOAT32: "float32", INT: "int"}[kind])


def result_of(output: Output) -> Expr:
    """Return the number that a function gives back."""
    if output.kind == "number":
        return Name(output.name)
    if output.kind == "known" and isinstance(output.value, bool | int | float):
        return Const(output.value)
    raise Unfit(f"a result of kind {output.kind}: return a number")


def entry(foreign: Foreign, signature: Signature) -> str:
    """Return the text of the function that is called: it puts what it is passed into slots."""
    parameters: list[str] = []
    stores: list[str] = []

    def put(type_: str, name: str) -> None:
        place = len(stores)
        parameters.append(f"{type_} {name}")
        stores.append(
            f"  %at{place} = getelementptr inbounds i64, ptr %in, i64 {place}\n"
            f"  store {type_} {name}, ptr %at{place}"
        )

    for k, (kind, axes) in enumerate(foreign.kinds):
        put(as_passed(kind) if axes is None else "ptr", f"%a{k}")
        for axis in range(axes or 0):
            put("i64", f"%n{k}.{axis}")
    is_number = are_numbers(foreign.kinds)
    parameters += ["ptr %result"] * is_number
    return TEXT.format(
        symbol=signature.symbol,
        parameters=", ".join(parameters),
        slots=max(1, len(stores)),
        stores="\n".join(stores),
        end=given_back(foreign.result) if is_number else DONE,
    )


def given_back(kind: str) -> str:
    """Return the text that writes a number as it is in memory."""
    if kind == BOOL:
        return TRUTH
    type_ = REGISTER[kind]
    return f"  %found = load {type_}, ptr %out\n  store {type_} %found, ptr %result\n  ret i8 1"
