"""Arrays to which nothing refers but one name: only such are changed where a name is bound anew.

    v = u.copy()        v is alone
    v[1:-1] += u[2:]
    u = v               and is no more

A region may change a copy of the array, which only the name that it is changed by is bound to.
"""

from __future__ import annotations

from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    End,
    For,
    If,
    Let,
    Load,
    Name,
    Op,
    Sliced,
    Statement,
    While,
    statements,
)
from mooncake_py.compiler.regions.region import Region
from mooncake_py.compiler.slices.calls.arguments import arguments_of
from mooncake_py.compiler.statements.statement import is_operand, position_of

__all__ = ["are_alone", "outlasting"]


def are_alone(body: Block, names: set[str]) -> bool:
    """Return True if what is written by these names has no other name where it is written."""
    return all(Course(name).block(body, False) is not None for name in names)


def outlasting(region: Region) -> set[str]:
    """Return the names of arrays that something outside the region has afterwards."""
    found = set(region.variables - region.local)
    copies: list[tuple[str, str]] = []
    for s in statements(region.body):
        match s:
            case Assign(target=End(), value=Name(name=name)):
                found.add(name)
            case Sliced() if s.target is not None and is_operand(s.statement.value):
                part = s.statement.layout[position_of(s.statement.value)]
                copies += [(s.target.name, s.values[part[0]].name)] if type(part) is tuple else []
    while True:
        more = {source for name, source in copies if name in found}
        if more <= found:
            return found
        found |= more


class Course:
    """Follows what a name is bound to through a region.

    Whether that is alone is True or False; None is returned where it is written and is not.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def block(self, block: Block, is_alone: bool) -> bool | None:
        """Return whether it is alone after a block."""
        found: bool | None = is_alone
        for s in block:
            found = self.statement(s, found)
            if found is None:
                return None
        return found

    def statement(self, s: Statement, is_alone: bool) -> bool | None:
        """Return whether it is alone after a statement."""
        match s:
            case For(body=body) | While(body=body):
                return self.loop(body, is_alone)
            case If(body=body, orelse=orelse):
                sides = self.block(body, is_alone), self.block(orelse, is_alone)
                return None if None in sides else all(sides)
            case Sliced(written=self.name) | Assign(target=Load(array=self.name)):
                return True if is_alone else None
            case Sliced() if s.target is not None and s.target.name == self.name:
                return not is_operand(s.statement.value) and not may_view(s)
            case Assign(target=Name(name=self.name)) | Let(name=self.name):
                return not isinstance(s.value, Name | Load)
        return is_alone and not self.is_named(s)

    def loop(self, body: Block, is_alone: bool) -> bool | None:
        """Return whether it is alone after a loop, which may run any number of times."""
        is_left = is_alone and not any(map(self.is_named, statements(body)))
        after = self.block(body, is_left)
        if is_left and after is False:  # which is how the next pass begins
            is_left, after = False, self.block(body, False)
        return None if after is None else is_left and after

    def is_named(self, s: Statement) -> bool:
        """Return True if a statement gives what the name is bound to another name."""
        match s:
            case Sliced() if may_view(s):
                return self.name in s.sources
            case Sliced() if s.target is not None and is_operand(s.statement.value):
                part = s.statement.layout[position_of(s.statement.value)]
                position = part if isinstance(part, int) else part[0]
                return s.values[position].name == self.name
            case Assign(target=End(), value=value):
                return value == Name(self.name)
            case Assign(target=Name(), value=value) | Let(value=value):
                return self.reads(value)
        return False

    def reads(self, value: object) -> bool:
        """Return True for the name itself, or a part of it."""
        if isinstance(value, Op) and value.op == "pos":
            return False
        return (isinstance(value, Name) and value.name == self.name) or (
            isinstance(value, Load) and value.array == self.name
        )


def may_view(s: Sliced) -> bool:
    """Return True for a call of a function whose value may be memory of an operand."""
    arguments = arguments_of(s.statement.value)
    return arguments is not None and arguments.may_view
