"""Printers that are wrong on purpose: one place of the printer writes another instruction.

A *place* is a line of the printer's source that writes an instruction of one kind. A sabotage is a
place and one careless change of what it writes: another operator, operands in the other order, a
store that is left out, a number that is zero.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from mooncake_py.compiler.native.llvm import writer
from mooncake_py.compiler.native.llvm.writer import Writer

__all__ = ["CHANGES", "Place", "Sabotage", "places_noted", "sabotaged"]

Change = Callable[[str], "str | None"]


class Place(NamedTuple):
    """Where the printer writes an instruction.

    Attributes
    ----------
    function : str
    line : int
        Within its module.
    opcode : str
    """

    function: str
    line: int
    opcode: str


class Sabotage(NamedTuple):
    """A place of the printer, and the name of a change of what it writes."""

    place: Place
    change: str


def to(opcode: str) -> Change:
    """Return a change to another operator."""
    return lambda text: re.sub(r"^\w+", opcode, text, count=1)


def swapped(text: str) -> str | None:
    """Write the last two operands in the other order."""
    head, _, rest = text.rpartition(", ")
    before, _, first = head.rpartition(" ")
    return f"{before} {rest}, {first}" if before and " " not in rest else None


def sides_swapped(text: str) -> str | None:
    """Choose the other value, or go the other way."""
    found = re.match(r"^(select|br) (i1 [^,]+), (\S+ [^,]+), (\S+ [^,]+)(.*)$", text)
    return found and f"{found[1]} {found[2]}, {found[4]}, {found[3]}{found[5]}"


def sources_swapped(text: str) -> str | None:
    """Take the value of another block."""
    found = re.match(r"^(.*\[ )(\S+)(, \S+ \], \[ )(\S+)(, \S+ \])$", text)
    return found and f"{found[1]}{found[4]}{found[3]}{found[2]}{found[5]}"


def first_twice(text: str) -> str | None:
    """Take the first operand in the place of the second too."""
    head, _, rest = text.rpartition(", ")
    first = head.rpartition(" ")[2]
    return f"{head}, {first}" if first and " " not in rest else None


def left_out(text: str) -> str:
    """Write nothing."""
    return ""


def zero(text: str) -> str | None:
    """Give zero."""
    found = re.search(r"^(?:load|call|sitofp .* to|zext .* to) (double|float|i64|i1)\b", text)
    if found is None:
        return None
    t = found[1]
    return f"fadd {t} 0.0, 0.0" if t in ("double", "float") else f"or {t} 0, 0"


def operand(text: str) -> str | None:
    """Give the operand of a function."""
    found = re.match(r"^call (double|float) @[\w.]+\(\1 ([^,)]+)", text)
    return found and f"fadd {found[1]} {found[2]}, 0.0"


def at_first(text: str) -> str | None:
    """Take the first element."""
    found = re.match(r"^(getelementptr .*, i64) \S+$", text)
    return found and f"{found[1]} 0"


def shorter_steps(text: str) -> str | None:
    """Take elements for half as large as they are."""
    found = re.match(r"^(getelementptr (?:inbounds )?)(?:double|i64)(, .*)$", text)
    return found and f"{found[1]}i32{found[2]}"


def one_more(text: str) -> str | None:
    """Add one to the last operand, a number that is written down."""
    found = re.match(r"^((?:add|sub|mul|icmp) .*, )(\d+)$", text)
    return found and f"{found[1]}{int(found[2]) + 1}"


def negated(text: str) -> str:
    """Hold where the test does not."""
    opposite = {
        "oeq": "une", "une": "oeq", "olt": "uge", "ole": "ugt", "ogt": "ule", "oge": "ult",
        "uno": "ord", "ord": "uno", "eq": "ne", "ne": "eq", "slt": "sge", "sle": "sgt",
        "sgt": "sle", "sge": "slt", "ult": "uge", "ule": "ugt", "ugt": "ule", "uge": "ult",
    }  # fmt: skip
    return re.sub(
        r"^([fi]cmp) (\w+)", lambda m: f"{m[1]} {opposite.get(m[2], m[2])}", text, count=1
    )


def with_equals(text: str) -> str | None:
    """Hold for equal ints too, or no longer."""
    others = {"slt": "sle", "sle": "slt", "sgt": "sge", "sge": "sgt", "ult": "ule", "ugt": "uge"}
    found = re.match(r"^icmp (\w+)", text)
    if found is None or found[1] not in others:
        return None
    return text.replace(found[1], others[found[1]], 1)


def unsigned(text: str) -> str:
    """Compare ints without their signs."""
    return re.sub(r"^icmp s", "icmp u", text)


def other_if_nan(text: str) -> str:
    """Let a comparison with nan hold, or no longer."""
    others = {"o": "u", "u": "o"}
    return re.sub(r"^fcmp (?!ord|uno)([ou])", lambda m: f"fcmp {others[m[1]]}", text)


CHANGES: dict[str, dict[str, Change]] = {
    "fadd": {"fsub": to("fsub"), "fmul": to("fmul"), "first twice": first_twice},
    "fsub": {"fadd": to("fadd"), "swapped": swapped, "first twice": first_twice},
    "fmul": {"fadd": to("fadd"), "fdiv": to("fdiv"), "first twice": first_twice},
    "fdiv": {"fmul": to("fmul"), "swapped": swapped, "first twice": first_twice},
    "fneg": {"sign": lambda text: re.sub(r"^fneg (\w+)", r"fadd \1 0.0,", text)},
    "fcmp": {"negated": negated, "swapped": swapped, "nan": other_if_nan},
    "icmp": {
        "negated": negated,
        "equals": with_equals,
        "one more": one_more,
        "unsigned": unsigned,
    },
    "add": {"sub": to("sub"), "mul": to("mul"), "one more": one_more},
    "sub": {"add": to("add"), "swapped": swapped, "one more": one_more},
    "mul": {"add": to("add"), "one more": one_more},
    "udiv": {"mul": to("mul")},
    "and": {"or": to("or")},
    "or": {"and": to("and")},
    "xor": {"and": to("and")},
    "select": {"sides": sides_swapped},
    "br": {"sides": sides_swapped},
    "phi": {"sources": sources_swapped},
    "load": {"zero": zero},
    "call": {"zero": zero, "operand": operand, "left out": left_out},
    "store": {"left out": left_out},
    "getelementptr": {"first": at_first, "step": shorter_steps},
    "sitofp": {"zero": zero, "uitofp": to("uitofp")},
    "zext": {"zero": zero, "sext": to("sext")},
    "sext": {"zext": to("zext")},
    "ret": {"zero": lambda text: "ret i32 0"},
}


def writing(text: str) -> Place | None:
    """Return the place of the printer that writes an instruction now."""
    frame = sys._getframe(2)
    while frame.f_code.co_filename == writer.__file__:
        assert frame.f_back is not None
        frame = frame.f_back
    opcode = text.partition(" ")[0]
    if opcode not in CHANGES:
        return None
    return Place(frame.f_code.co_name, frame.f_lineno, opcode)


@contextmanager
def places_noted() -> Iterator[dict[Sabotage, None]]:
    """Note where the printer writes, and what would change it."""
    found: dict[Sabotage, None] = {}

    def noted(place: Place | None, text: str) -> str:
        if place is not None:
            for name, change in CHANGES[place.opcode].items():
                if change(text) not in (None, text):
                    found[Sabotage(place, name)] = None
        return text

    with replaced(noted):
        yield found


@contextmanager
def sabotaged(sabotage: Sabotage) -> Iterator[None]:
    """Break the printer at one place."""
    change = CHANGES[sabotage.place.opcode][sabotage.change]

    def broken(place: Place | None, text: str) -> str:
        if place != sabotage.place:
            return text
        found = change(text)
        return text if found is None else found

    with replaced(broken):
        yield


@contextmanager
def replaced(text_of: Callable[[Place | None, str], str]) -> Iterator[None]:
    """Let the printer write other code."""
    do, line = Writer.do, Writer.line

    def other_do(self: Any, text: str) -> str:
        return do(self, text_of(writing(text), text))

    def other_line(self: Any, text: str) -> None:
        line(self, text_of(writing(text), text))

    Writer.do, Writer.line = other_do, other_line  # type: ignore[method-assign]
    try:
        yield
    finally:
        Writer.do, Writer.line = do, line  # type: ignore[method-assign]
