"""Classes that the program makes: the hooks that Python calls meanwhile run derived.

Code in C, and that of metaclasses of libraries, runs as it is.  It finds the hooks of the program
in classes, and in the names of the new one: there functions that run them derived stand for them
until the class is made.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import EnumMeta
from functools import partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from mooncake_py.diagnostics.native_modules import is_native_module
from mooncake_py.diagnostics.places import is_library
from mooncake_py.errors import MooncakeError
from mooncake_py.modules import module_of
from mooncake_py.runtime.attribute_lookup import MISSING
from mooncake_py.runtime.classes import note_class
from mooncake_py.syntax.nodes import PREFIX

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Calling, Mode

__all__ = ["ClassStatement", "is_of_program", "new_class"]

WRAPPERS = (staticmethod, classmethod)
OF_CLASSES = ("__init_subclass__",)
OF_MEMBERS = ("__init__", "__new__", "__new_member__", "_new_member_", "_generate_next_value_")
IN_NAMES = frozenset({"__init__", "__new__", "_generate_next_value_"})
"""Functions among the names of an enumeration that make its members."""


def is_of_program(f: Any) -> bool:
    """Return whether a function, bound or wrapped, is in Python, and of no library."""
    if type(f) in (MethodType, *WRAPPERS):
        f = f.__func__
    if type(f) is not FunctionType or is_native_module(module_of(f)):
        return False
    return not is_library(f.__code__.co_filename)


class ClassStatement:
    """Makes the class of a ``class`` statement, in place of its metaclass.

    Parameters
    ----------
    ctx : Calling
    bases : tuple
        What the statement names as bases.
    keywords : dict
        The other arguments, with the metaclass among them.
    """

    def __init__(self, ctx: Calling, bases: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.ctx = ctx
        self.written = bases
        self.bases = resolved(ctx, bases)
        meta = keywords.pop("metaclass", MISSING)
        if meta is MISSING:
            meta = type(self.bases[0]) if self.bases else type
        self.meta: Any = winner(meta, self.bases) if isinstance(meta, type) else meta
        self.keywords = keywords

    def __prepare__(self, name: str, further: tuple[Any, ...]) -> Any:
        """Return where the body of the statement binds names."""
        self.bases += further  # what type parameters add
        prepare = getattr(self.meta, "__prepare__", None)
        if prepare is None:
            return {}
        run = self.ctx.call if is_of_program(prepare) else native
        names = run(prepare, name, self.bases, **self.keywords)
        if not hasattr(type(names), "__getitem__"):
            of = self.meta.__name__ if isinstance(self.meta, type) else "<metaclass>"
            kind = type(names).__name__
            raise TypeError(f"{of}.__prepare__() must return a mapping, not {kind}")
        is_plain = type(names) is dict or not has_code(type(names))
        return names if is_plain else Names(self.ctx, names)

    def __call__(self, name: str, further: tuple[Any, ...], names: Any) -> Any:
        """Return the class."""
        if further or self.written != self.bases:
            names["__orig_bases__"] = self.written + read(names, "__orig_bases__", further)
        if type(names) is not Names:
            return self.ctx.call(self.meta, name, self.bases, names, **self.keywords)
        made = self.ctx.call(self.meta, name, self.bases, names.held, **self.keywords)
        restore(made, names.originals)
        return made


def native(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return f(*args, **kwargs)


def read(names: Any, key: str, default: Any) -> Any:
    """Return the value of a name, or else a default."""
    try:
        return names[key]
    except KeyError:
        return default


def resolved(ctx: Calling, bases: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the classes for what a statement names as bases."""
    found: list[Any] = []
    for base in bases:
        entries = None if isinstance(base, type) else getattr(base, "__mro_entries__", None)
        if entries is None:
            found.append(base)
            continue
        classes = (ctx.call if is_of_program(entries) else native)(entries, bases)
        if not isinstance(classes, tuple):
            raise TypeError("__mro_entries__ must return a tuple")
        found += classes
    return tuple(found)


def winner(meta: type, bases: tuple[Any, ...]) -> type:
    """Return the class of a class with some bases."""
    for kind in map(type, bases):
        if kind in meta.__mro__:
            continue
        if meta not in kind.__mro__:
            raise TypeError(
                "metaclass conflict: the metaclass of a derived class must be a (non-strict) "
                "subclass of the metaclasses of all its bases"
            )
        meta = kind
    return meta


def has_code(cls: type) -> bool:
    """Return whether methods of a mapping are in Python."""
    names = ("__getitem__", "__setitem__", "__delitem__", "__missing__")
    return any(type(getattr(cls, name, None)) is FunctionType for name in names)


class Names:
    """The names of a class, in a mapping whose methods are in Python.

    The body of the statement is in C as it binds and reads names.  Those that rewriting added the
    mapping does not see.
    """

    def __init__(self, ctx: Calling, held: Any) -> None:
        self.ctx = ctx
        self.held = held
        self.added: dict[str, Any] = {}
        self.is_derived = not is_native_module(module_of(type(held)))
        self.originals: dict[Any, Any] = {}  # of what stands for functions
        following = getattr(held, "_generate_next_value", None)
        if is_of_program(following):
            held._generate_next_value = self.standing_for(following)

    def __getitem__(self, name: str) -> Any:
        if name.startswith(PREFIX):
            return self.added[name]
        return self.ctx.getitem(self.held, name) if self.is_derived else self.held[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if name.startswith(PREFIX):
            self.added[name] = value
        elif self.is_derived:
            self.ctx.setitem(self.held, name, value)
        else:
            hook = name in IN_NAMES and is_of_program(value)
            self.held[name] = self.standing_for(value) if hook else value

    def __delitem__(self, name: str) -> None:
        if name.startswith(PREFIX):
            del self.added[name]
        elif self.is_derived:
            self.ctx.delitem(self.held, name)
        else:
            del self.held[name]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.held, name)

    def standing_for(self, value: Any) -> Any:
        """Return a function that runs derived, wrapped likewise."""
        new = rewrapped(value, lambda f: lambda *args, **kwargs: self.ctx.call(f, *args, **kwargs))
        self.originals[function_of(new)] = function_of(value)
        return new


def function_of(value: Any) -> Any:
    """Return the function of a class method or a static method; other values as they are."""
    return value.__func__ if type(value) in WRAPPERS else value


def rewrapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a function in place of another one, wrapped as that is."""
    new = change(function_of(value))
    return type(value)(new) if type(value) in WRAPPERS else new


def restore(made: Any, originals: dict[Any, Any]) -> None:
    """Put the functions of the program into a class that has got what stands for them."""
    for name, value in list(vars(made).items()) if isinstance(made, type) else ():
        f = function_of(value)
        if type(f) is FunctionType and f in originals:
            own = originals[f]
            type.__setattr__(made, name, rewrapped(value, lambda _, own=own: own))


# Hooks in classes that are there.


def new_class(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run what makes a class of its name, its bases and what it holds, as ``type.__new__``."""
    bases = next((a for a in args if type(a) is tuple), ())
    names = next((a for a in args if isinstance(a, dict)), {})
    if isinstance(f, EnumMeta):  # of names, not by a statement
        bases, names = (f, kwargs.get("type")), {}
    metas = f.args if type(f) is partial else args
    found = hooks_of(bases, names) | methods_of(metas[:1], ("mro",))
    if not found:
        made = f(*args, **kwargs)
    else:
        stand_ins = StandIns(ctx, found)
        with stand_ins.standing():
            made = f(*args, **kwargs)
        restore(made, stand_ins.originals)
    if isinstance(made, type):
        note_class(ctx, made)
    return made


def hooks_of(bases: tuple[Any, ...], names: dict[str, Any]) -> dict[tuple[type, str], Any]:
    """Return the hooks of the program that run as a class is made, by class and name."""
    has_members = any(isinstance(base, EnumMeta) for base in bases)
    found = methods_of(bases, OF_CLASSES + OF_MEMBERS if has_members else OF_CLASSES)
    for value in dict.values(names):
        for cls in type(value).__mro__:
            hook = vars(cls).get("__set_name__")
            if hook is not None:
                if is_of_program(hook):
                    found[cls, "__set_name__"] = hook
                break
    return found


def methods_of(classes: Iterable[Any], names: tuple[str, ...]) -> dict[tuple[type, str], Any]:
    """Return the methods of the program under some names, in classes and what they derive from."""
    found: dict[tuple[type, str], Any] = {}
    for cls in classes:
        for base in cls.__mro__ if isinstance(cls, type) else ():
            held = vars(base)
            found |= {(base, name): held[name] for name in names if is_of_program(held.get(name))}
    return found


class StandIns:
    """Functions that stand for hooks, in the classes of these, while other code runs."""

    def __init__(self, ctx: Mode, hooks: dict[tuple[type, str], Any]) -> None:
        self.ctx = ctx
        self.hooks = hooks
        self.originals: dict[Any, Any] = {}
        self.new = {place: rewrapped(hook, self.standing_for) for place, hook in hooks.items()}
        self.thread = threading.get_ident()
        self.error: MooncakeError | None = None

    @contextmanager
    def standing(self) -> Iterator[None]:
        """Have them stand there within a block."""
        self.put(self.new)
        try:
            yield
        except Exception as error:
            if self.error is None or error is self.error:
                raise
            raise self.error from None  # Python has put another one round it
        finally:
            self.put(self.hooks)

    def put(self, hooks: dict[tuple[type, str], Any]) -> None:
        for (cls, name), hook in hooks.items():
            type.__setattr__(cls, name, hook)

    def standing_for(self, f: Any) -> Any:
        """Return a function that runs another one derived, with the hooks themselves there."""

        def run(*args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() != self.thread:
                return f(*args, **kwargs)
            self.put(self.hooks)
            try:
                return self.ctx.call(f, *args, **kwargs)
            except MooncakeError as error:
                self.error = error
                raise
            finally:
                self.put(self.new)

        self.originals[run] = f
        return run
