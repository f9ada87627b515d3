"""The names that a random program can use, with what is known of their values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

__all__ = ["Name", "Scope", "Shape"]

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Name:
    """A variable of a random program.

    Attributes
    ----------
    text : str
        The identifier, or an expression such as ``box.a`` or ``d['a']`` that stands for it.
    kind : str
        ``array``, ``complex``, ``single``, ``float``, ``index``, ``mask``, ``list``, ``numbers``,
        ``dict``, ``helper``.
    shape : tuple of int
        Of an array; of each array of a list; of the first parameter of a helper.
    rebinds : bool
        Whether the name may be assigned to here.
    """

    text: str
    kind: str
    shape: Shape = ()
    rebinds: bool = True


@dataclass
class Scope:
    """The names visible at a point of a program; a block hides its own when it ends."""

    names: list[Name] = field(default_factory=list)

    def add(self, text: str, kind: str, shape: Shape = (), rebinds: bool = True) -> Name:
        name = Name(text, kind, shape, rebinds)
        self.names = [n for n in self.names if n.text != text] + [name]
        return name

    def of(self, *kinds: str, shape: Shape | None = None, rebinds: bool = False) -> list[Name]:
        """Return the names of some kinds, of one shape, to which one may assign."""
        return [
            n
            for n in self.names
            if n.kind in kinds and shape in (None, n.shape) and (n.rebinds or not rebinds)
        ]

    def captured(self) -> Scope:
        """Return the same names as a nested function sees them."""
        return Scope([replace(n, rebinds=False) for n in self.names])

    @contextmanager
    def block(self) -> Iterator[None]:
        """Forget at the end what was defined within."""
        names = self.names
        yield
        self.names = names
