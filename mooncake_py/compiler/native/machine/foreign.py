"""Functions of Python that texts call, as functions of C: Numba compiles them.

What takes arrays returns whether it came to its end, and so does what takes numbers, where an
error is no end: its result goes to an address that it takes besides.
"""

from __future__ import annotations

from typing import Any

from mooncake_py.compiler.native.llvm.signature import Foreign
from mooncake_py.compiler.native.machine.library import LOCK
from mooncake_py.compiler.native.printing.called import OPTIONS, CannotCompile, compilable, numba
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT

__all__ = ["foreign_address"]

TYPES = {FLOAT: "float64", FLOAT32: "float32", INT: "int64", BOOL: "int8"}
GUARDED = """\
def outer({names}):
    try:
        result[0] = {call}
    except Exception:
        return 0
    return 1
"""

MADE: dict[Foreign, Any] = {}
"""What was compiled, which is there as long as the process."""


def foreign_address(foreign: Foreign) -> int:
    """Return the address of a function of Python, compiled.

    Raises
    ------
    CannotCompile
        Numba is not there, or does not compile it.
    """
    with LOCK:
        found = MADE.get(foreign)
        if found is None:
            found = MADE[foreign] = compiled(foreign)
    return found.address


def compiled(foreign: Foreign) -> Any:
    """Return a function of C."""
    try:
        found = numba()
    except ImportError as error:
        raise CannotCompile(str(error)) from None
    if found.config.DISABLE_JIT:
        raise CannotCompile("NUMBA_DISABLE_JIT is set")
    types = found.types
    passed: list[Any] = []
    names: list[str] = []
    values: list[str] = []
    for k, (kind, axes) in enumerate(foreign.kinds):
        own = getattr(types, TYPES[kind])
        names.append(f"a{k}")
        if axes is None:
            passed.append(own)
            values.append(f"a{k} != 0" if kind == BOOL else f"a{k}")
            continue
        lengths = [f"n{k}_{axis}" for axis in range(axes)]
        element = types.boolean if kind == BOOL else own
        passed += [types.CPointer(element), *[types.int64] * axes]
        names += lengths
        values.append(f"carray(a{k}, ({''.join(f'{n}, ' for n in lengths)}))")
    call = f"inner({', '.join(values)})"
    if any(axes is not None for _, axes in foreign.kinds):
        text = f"def outer({', '.join(names)}):\n    return {call}\n"
    else:
        passed.append(types.CPointer(getattr(types, TYPES[foreign.result])))
        text = GUARDED.format(names=", ".join([*names, "result"]), call=call)
    scope = {"inner": compilable(foreign.function), "carray": found.carray}
    exec(compile(text, "<native function>", "exec"), scope)
    try:
        return found.cfunc(types.int8(*passed), **OPTIONS)(scope["outer"])
    except Exception as error:
        raise CannotCompile(f"Numba does not compile {foreign.function}: {error}") from error
