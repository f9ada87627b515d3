"""The lines of one function: registers, blocks, variables, calls, and the way out of it."""

from __future__ import annotations

from collections.abc import Sequence

from mooncake_py.compiler.native.llvm.module import Module
from mooncake_py.compiler.native.llvm.numbers import REGISTER, SUFFIX, ZEROS
from mooncake_py.compiler.native.llvm.texts import declaration
from mooncake_py.compiler.native.regions.region import FLOAT, REAL
from mooncake_py.compiler.regions.ir import Statement

__all__ = ["NO_MEMORY", "Writer"]

NO_MEMORY = -1
"""Returned by a kernel if there is no memory."""
LEFT = "left"
"""The block by which a function is left early."""


class Writer:
    """Writes the blocks of a function.

    Attributes
    ----------
    module : Module
    label : str
        Of the block that is being written.
    statement : Statement or None
        The one that is being written: what goes wrong in it is told by its number.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.label = "entry"
        self.statement: Statement | None = None
        self._head: list[str] = []
        self._lines: list[str] = []
        self._slots: dict[object, str] = {}
        self._number = 0
        self._left: list[tuple[str, str]] = []

    # Lines.

    def line(self, text: str) -> None:
        """Write an instruction without a result."""
        self._lines.append(f"  {text}")

    def register(self) -> str:
        """Return a new register."""
        self._number += 1
        return f"%t{self._number}"

    def do(self, text: str) -> str:
        """Write an instruction, and return the register of its result."""
        found = self.register()
        self._lines.append(f"  {found} = {text}")
        return found

    def later(self) -> int:
        """Return the place of a line that is written later."""
        self._lines.append("")
        return len(self._lines) - 1

    def fill(self, place: int, text: str) -> None:
        """Write a line that was left out."""
        self._lines[place] = f"  {text}"

    # Blocks.

    def fresh(self, hint: str) -> str:
        """Return a new label."""
        self._number += 1
        return f"{hint}{self._number}"

    def begin(self, label: str) -> None:
        """Begin a block."""
        self._lines.append(f"{label}:")
        self.label = label

    def go(self, label: str) -> None:
        """End a block."""
        self.line(f"br label %{label}")

    def branch(self, test: str, yes: str, no: str, rare: str = "") -> None:
        """End a block by a branch."""
        self.line(f"br i1 {test}, label %{yes}, label %{no}{rare}")

    def phi(self, type_: str, *sources: tuple[str, str]) -> str:
        """Return the value that comes from one of several blocks: values, and labels."""
        parts = [f"[ {value}, %{label} ]" for value, label in sources]
        return self.do(f"phi {type_} {', '.join(parts)}")

    # Leaving.

    def leave_unless(self, test: str, code: int | str | None = None) -> None:
        """Leave the function unless a test holds.

        Parameters
        ----------
        code : int or str, optional
            What it returns, or the register of that; by default the number of the statement.
        """
        code = self.code() if code is None else code
        self._left.append((str(code), self.label))
        going = self.fresh("ok")
        self.branch(test, going, LEFT, self.module.often)
        self.begin(going)

    def code(self) -> int:
        """Return the number of the statement that is being written."""
        assert self.statement is not None
        return self.module.code_of(self.statement)

    def begin_left(self) -> str | None:
        """Begin the block by which the function is left, and return the code; None if it is not."""
        if not self._left:
            return None
        self.begin(LEFT)
        return self.phi("i32", *self._left)

    # Variables.

    def slot(self, key: object, type_: str, zero: str) -> str:
        """Return the place of a variable, which is zero until it is written."""
        found = self._slots.get(key)
        if found is None:
            found = self._slots[key] = f"%s{len(self._slots)}"
            self._head += [f"  {found} = alloca {type_}", f"  store {type_} {zero}, ptr {found}"]
        return found

    def room(self, key: object, type_: str) -> str:
        """Return a place in memory to which a function that is called may write."""
        found = self._slots.get(key)
        if found is None:
            found = self._slots[key] = f"%s{len(self._slots)}"
            self._head.append(f"  {found} = alloca {type_}")
        return found

    def memory(self, key: object, type_: str, size: int) -> str:
        """Return a place in memory of so many bytes, which are zero at first."""
        found = self._slots.get(key)
        if found is None:
            found = self.room(key, type_)
            name = "llvm.memset.p0.i64"
            self.module.declare(name, declaration(name))
            self._head.append(f"  call void @{name}(ptr {found}, i8 0, i64 {size}, i1 false)")
        return found

    def hidden(self, kind: str, value: str) -> str:
        """Return a number that may be compared: LLVM may not know of a float that it is zero.

        It takes ``x < 0.0 ? 0.0 : x`` for a maximum, and loses the sign of -0.0: where the
        comparison is of a float32 and the choice of float64, and on some machines everywhere.
        """
        if kind not in REAL or value not in ZEROS:
            return value
        key = "zero", kind, value
        found = self._slots.get(key)
        if found is None:
            found = self._slots[key] = f"%zero{len(self._slots)}"
            t, name = REGISTER[kind], f"llvm.arithmetic.fence.{SUFFIX[kind]}"
            self.module.declare(name, f"declare {t} @{name}({t})")
            self._head.append(f"  {found} = call {t} @{name}({t} {value})")
        return found

    def read(self, key: object, type_: str, zero: str) -> str:
        """Return the value of a variable."""
        return self.do(f"load {type_}, ptr {self.slot(key, type_, zero)}")

    def write(self, key: object, type_: str, zero: str, value: str) -> None:
        """Write a variable."""
        self.line(f"store {type_} {value}, ptr {self.slot(key, type_, zero)}")

    # Calls.

    def helper(self, name: str, result: str, *args: str) -> str:
        """Return the result of one of our functions; arguments have types before them."""
        self.module.helper(name)
        return self.do(f"call {result} @{name}({', '.join(args)})")

    def helper_without_result(self, name: str, *args: str) -> None:
        """Write a call of one of our functions that gives nothing back."""
        self.module.helper(name)
        self.line(f"call void @{name}({', '.join(args)})")

    def known(self, name: str, result: str, *args: str) -> str:
        """Return the result of a function of LLVM, or of the machine."""
        self.module.declare(name, declaration(name))
        return self.do(f"call {result} @{name}({', '.join(args)})")

    def known_without_result(self, name: str, args: str, rest: str = "") -> None:
        """Write a call of such a function that gives nothing back."""
        self.module.declare(name, declaration(name))
        self.line(f"call void @{name}({args}){rest}")

    def intrinsic(self, name: str, kind: str, *args: str) -> str:
        """Return the result of a function of floats, or ints, that LLVM has."""
        return self._called(f"llvm.{name}.{SUFFIX[kind]}", kind, args, "")

    def of_c(self, name: str, kind: str, *args: str) -> str:
        """Return the result of a function of floats of the C library."""
        full = name if kind == FLOAT else f"{name}f"
        return self._called(full, kind, args, " nounwind willreturn memory(none)")

    def of_scipy(self, symbol: str, *args: str) -> str:
        """Return the result of a function of float64 that Cython code can call."""
        types = ", ".join([*["double"] * len(args), "i32"])
        attributes = "nounwind willreturn memory(none)"
        self.module.declare(symbol, f"declare double @{symbol}({types}) {attributes}")
        passed = ", ".join([*[f"double {a}" for a in args], "i32 0"])
        return self.do(f"call double @{symbol}({passed})")

    def _called(self, name: str, kind: str, args: Sequence[str], attributes: str) -> str:
        t = REGISTER[kind]
        parameters = ", ".join([t] * len(args))
        self.module.declare(name, f"declare {t} @{name}({parameters}){attributes}")
        return self.do(f"call {t} @{name}({', '.join([f'{t} {a}' for a in args])})")

    # All.

    def text(self, head: str) -> str:
        """Return the function."""
        return "\n".join([f"{head} {{", "entry:", *self._head, *self._lines, "}", ""])
