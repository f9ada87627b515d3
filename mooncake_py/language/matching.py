"""The tests of a ``match`` statement on its subject.

The rules are those of the language reference, "The match statement".  Subjects, and the parts of
them that patterns take out, are numbered; rewritten code tests and binds them by number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mooncake_py.runtime.active import Active

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language

__all__ = ["Matching"]

# The type flags by which CPython tells sequences and mappings (Include/object.h, from 3.10 on).
_SEQUENCE = 1 << 5
_MAPPING = 1 << 6
_MATCHED_AS_WHOLE = frozenset({
    bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple,
})  # fmt: skip
_MISSING = object()


class Matching:
    """One execution of a ``match`` statement; the subject is number 0."""

    def __init__(self, ctx: Language, subject: Any) -> None:
        self.ctx = ctx
        self.parts: dict[int, Any] = {0: subject}

    def part(self, k: int) -> Any:
        """Return subject number `k`."""
        return self.parts[k]

    def bind(self, target: int, k: int) -> bool:
        """Give subject number `k` a second number; alternatives bind their names so."""
        self.parts[target] = self.parts[k]
        return True

    def equals(self, k: int, value: Any) -> bool:
        """Match a literal or a dotted name."""
        return bool(self.ctx.truth(self.ctx.eq(self.parts[k], value)))

    def length(self, k: int, count: int, starred: bool) -> bool:
        """Match the type and the length of ``[a, *b, c]``, which has `count` patterns."""
        subject = self.parts[k]
        t = type(subject)
        if t is Active or not t.__flags__ & _SEQUENCE:
            return False
        if not starred:
            return self.ctx.len(subject) == count
        return count == 1 or self.ctx.len(subject) >= count - 1

    def items(self, k: int, first: int, count: int, star: int | None) -> bool:
        """Take all items, by iteration; pattern number `star` takes a list."""
        items = list(self.ctx.iter(self.parts[k]))
        if star is not None:
            stop = star + len(items) - (count - 1)
            items[star:stop] = [items[star:stop]]
        self._keep(first, items)
        return True

    def item(self, k: int, target: int, index: int) -> bool:
        """Take one item; Python does so where the star has no name."""
        subject = self.parts[k]
        i = index if index >= 0 else self.ctx.len(subject) + index
        self.parts[target] = self.ctx.getitem(subject, i)
        return True

    def mapping(self, k: int, first: int, keys: tuple[Any, ...], rest: bool) -> bool:
        """Match ``{key: a, **rest}``."""
        subject = self.parts[k]
        t = type(subject)
        if t is Active or not t.__flags__ & _MAPPING or self.ctx.len(subject) < len(keys):
            return False
        found: list[Any] = []
        for position, key in enumerate(keys):
            if key in keys[:position]:
                raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
            value = self.ctx.method(subject, "get", key, _MISSING)
            if value is _MISSING:
                return False
            found.append(value)
        if rest:
            others = {
                key: self.ctx.getitem(subject, key)
                for key in self.ctx.iter(self.ctx.method(subject, "keys"))
            }
            for key in keys:
                del others[key]
            found.append(others)
        self._keep(first, found)
        return True

    def instance(self, k: int, first: int, cls: Any, count: int, names: tuple[str, ...]) -> bool:
        """Match ``Class(a, b, name=c)``: `count` patterns by position, the others by name."""
        subject = self.parts[k]
        if not isinstance(cls, type):
            raise TypeError("called match pattern must be a class")
        if not self.ctx.call(isinstance, subject, cls):
            return False
        whole = (
            count == 1
            and not hasattr(cls, "__match_args__")
            and any(issubclass(cls, base) for base in _MATCHED_AS_WHOLE)
        )
        taken = () if whole else positional(cls, count)
        found: list[Any] = [subject] if whole else []
        for position, name in enumerate((*taken, *names)):
            if name in (*taken, *names)[:position]:
                raise TypeError(
                    f"{cls.__name__}() got multiple sub-patterns for attribute {name!r}"
                )
            try:
                found.append(self.ctx.getattr(subject, name))
            except AttributeError:
                return False
        self._keep(first, found)
        return True

    def _keep(self, first: int, values: list[Any]) -> None:
        self.parts.update(enumerate(values, first))


def positional(cls: type, count: int) -> tuple[str, ...]:
    """Return the attributes that sub-patterns by position stand for."""
    if not count:
        return ()
    allowed: Any = getattr(cls, "__match_args__", ())
    if type(allowed) is not tuple:
        raise TypeError(
            f"{cls.__name__}.__match_args__ must be a tuple (got {type(allowed).__name__})"
        )
    if count > len(allowed):
        raise TypeError(
            f"{cls.__name__}() accepts {len(allowed)} positional "
            f"sub-pattern{'' if len(allowed) == 1 else 's'} ({count} given)"
        )
    for name in allowed[:count]:
        if type(name) is not str:
            raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
    return allowed[:count]
