"""Objects that stand within a derivative for those of compiled classes.

Compiled code keeps numbers in memory of its own, where no derivative follows.  What stands for such
an object has its class by ``type``, ``isinstance`` and ``__class__``; an attribute that it lacks
raises an error that says so, and never passes for one that the object does not have.
"""

from __future__ import annotations

from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from mooncake_py.errors import MissingRuleError

__all__ = ["StandIn", "class_of", "standing_for"]

_classes: WeakKeyDictionary[Any, type] = WeakKeyDictionary()
"""By the generators that stand for iterators in C: the classes of these."""


class StandIn:
    """An object that stands for one of the class `_stands_for`.

    Subclasses define the attributes that have a derivative.  Names of what they add begin with an
    underscore.
    """

    _stands_for: ClassVar[type]
    _of_instances: ClassVar[frozenset[str]] = frozenset()  # attributes that no class has

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__name__ = cls.__qualname__ = cls._stands_for.__name__  # for error messages

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._stands_for

    def __dir__(self) -> list[str]:
        return sorted({*dir(self._stands_for), *self._of_instances})

    def __getattr__(self, name: str) -> Any:
        """Refuse what the class has; copying and pickling ask for special methods."""
        known = hasattr(self._stands_for, name) or name in self._of_instances
        if known and not name.startswith("__"):
            cls = self._stands_for
            raise MissingRuleError(
                f"{cls.__module__.split('.')[0]}: {cls.__name__}.{name} cannot be differentiated",
                why="compiled code holds it, and it depends on active values",
                fix="compute it from the data, or take it from an object that is made of constants",
            )
        raise AttributeError(f"{self._stands_for.__name__!r} object has no attribute {name!r}")


def standing_for(generator: Any, cls: Any) -> Any:
    """Return a generator, which stands for an iterator of a class in C."""
    _classes[generator] = cls
    return generator


def class_of(generator: Any) -> type:
    """Return the class for which a generator stands, else its own."""
    return _classes.get(generator, type(generator))
