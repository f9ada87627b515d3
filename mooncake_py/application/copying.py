"""Copies of several values at once that keep what they share: objects, arrays and views."""

from __future__ import annotations

import copy
import io
import types
import weakref
from collections.abc import Callable, Container
from operator import is_
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mooncake_py.application.hidden import Hidden, copied_objects, copy_hidden, hidden_parts
from mooncake_py.errors import InvalidTangentError
from mooncake_py.rules import registry
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import INERT
from mooncake_py.tangents.contents import add_items
from mooncake_py.tangents.fields import own_attributes, set_own_attributes
from mooncake_py.tangents.kinds import Fields, NoFData, NoRData, NoTangent
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.memory import address, is_writeable, owner, zeros_like_owner
from mooncake_py.tangents.subclasses import is_instance, plain, with_attributes

__all__ = ["Convert", "Copier", "copied_exception", "copy_jointly", "same_view"]

T = TypeVar("T")
Convert = Callable[[Any], Any]
"""Maps an array that owns its memory, or a scalar, to what replaces it in the copy."""

_NUMBERS = (bool, int, float, complex, np.generic)
_MARKERS = frozenset({NoTangent, NoFData, NoRData, type(None)})
BY_HIDDEN_PARTS = (
    set,
    frozenset,
    types.MappingProxyType,
    weakref.ref,
    weakref.ProxyType,
    weakref.CallableProxyType,
)
_SHARED = (str, bytes, type, types.ModuleType, io.IOBase)


def copy_jointly(
    value: T, convert: Convert | None = None, *, keep_views: bool = True, share_others: bool = False
) -> T:
    """Copy nested values; parts shared within `value` are shared in the copy, views included.

    Functions that have a rule or capture nothing that can change, classes, modules and other
    values without state are shared with `value`, and with `share_others` also what may have state
    but no tangent, such as a random generator.  Without `keep_views` each array goes to `convert`
    by itself, whatever memory it shares.
    """
    return Copier(convert, keep_views, share_others).copy_whole(value)


class Copier:
    """One joint copy: a memo that every part of it shares."""

    def __init__(
        self, convert: Convert | None, keep_views: bool = True, share_others: bool = False
    ) -> None:
        self.convert = convert
        self.keep_views = keep_views
        self.share_others = share_others
        self.copy_other = (lambda v: v) if share_others else _without_tangent
        self.memo: dict[int, tuple[Any, Any]] = {}  # by id, the object along with its copy
        self.roots: list[Any] = []
        self.hidden: Hidden | None = None
        self.late: list[tuple[Any, list[tuple[Any, Any]]]] = []  # items of dicts

    def copy_whole(self, value: Any) -> Any:
        """Return the copy of a value, all that it leads to included."""
        self.roots.append(value)
        self.hidden = None
        new = self.copy(value)
        while self.late:  # keys are whole only now, and may have a hash by what they hold
            add_items(*self.late.pop())
        return new

    def copied(self) -> Container[int]:
        """Return the ids of objects that the copy creates again."""
        return copied_objects(self.roots)

    def leads(self, value: Any) -> bool:
        """Return whether a part without a tangent leads to something that is copied."""
        if type(value) in INERT:
            return False
        if self.hidden is None:
            self.hidden = Hidden(self.copied())
        return self.hidden.lead(value)

    def copy_if_leading(self, value: Any) -> Any:
        """Return the copy of a part without a tangent, if it leads to something copied."""
        return self.copy(value) if self.leads(value) else value

    def copy(self, value: Any) -> Any:
        """Return the copy of a value."""
        kind = type(value)
        if kind in _MARKERS:
            return value
        if kind is Active or issubclass(kind, _NUMBERS):
            return value if self.convert is None else self.convert(value)
        known = self.memo.get(id(value))
        if known is not None:
            return known[1]
        if issubclass(type(value), np.ndarray):
            return self.remember(value, self.copy_array(value))
        if kind is tuple:
            parts = [self.copy(part) for part in value]
            same = all(map(is_, parts, value))
            return self.remember(value, value if same else tuple(parts))
        if issubclass(type(value), _SHARED):
            return value
        if issubclass(type(value), Fields):
            tangent = self.remember(value, type(value)())
            tangent._fields.update((name, self.copy(value[name])) for name in value)
            return tangent
        return self.copy_object(value)

    def remember(self, value: Any, new: Any) -> Any:
        """Note a copy, and return it."""
        self.memo[id(value)] = value, new
        return new

    def copy_array(self, array: NDArray[Any]) -> NDArray[Any]:
        """Copy the memory of an array, once; return the same view of the copy."""
        if array is np.ma.masked:
            return array  # of which there is only one
        if is_instance(array):
            return with_attributes(self.copy_array(plain(array)), array)
        root = owner(array) if self.keep_views else array
        known = self.memo.get(id(root))
        if known is None:
            new_root = self.remember(root, self.copy_owner(root))
        else:
            new_root = known[1]
        return new_root if root is array else same_view(array, root, new_root)

    def copy_owner(self, root: NDArray[Any]) -> NDArray[Any]:
        """Copy an array that owns its memory; the copy is plain."""
        root = plain(root)
        if self.convert is not None:
            new_root = self.convert(root)
        else:
            new_root = zeros_like_owner(root)
            new_root[...] = root
        if root.dtype == object and new_root is not root:
            self.remember(root, new_root)
            for index in np.ndindex(root.shape):
                new_root[index] = self.copy_if_leading(root[index])
        if self.convert is None and not is_writeable(root):
            new_root.flags.writeable = False
        return new_root

    def copy_object(self, value: Any) -> Any:
        """Copy a container or an object."""
        if callable(value) and registry.find(value) is not None:
            return value
        if type(value) is types.FunctionType:
            return self.copy_function(value)
        if issubclass(type(value), BaseException):
            error: Any = value
            return copied_exception(error, self.copy, self.remember)
        spec = spec_of(value)
        if issubclass(type(value), BY_HIDDEN_PARTS):
            anew = issubclass(type(value), set) and not self.share_others
            if anew or any(map(self.leads, hidden_parts(value))):
                new = copy_hidden(value, self.copy_if_leading, self.is_copied)
                known = self.memo.get(id(value))
                return self.remember(value, new) if known is None else known[1]
            if issubclass(type(value), (frozenset, weakref.ref)):
                return value
        try:
            fields = spec.fields(value)
        except InvalidTangentError:  # nothing that tangents could look into
            return self.remember(value, _deep_copy(value))
        if fields is None:
            return self.remember(value, self.copy_other(value))
        if spec.mutable:
            return self.copy_mutable(value, spec, fields)
        parts = {name: self.copy(part) for name, part in fields.items()}
        known = self.memo.get(id(value))
        if known is not None:  # a cycle led back here
            return known[1]
        if all(parts[name] is part for name, part in fields.items()):
            return self.remember(value, value)
        return self.remember(value, spec.build(value, parts))

    def is_copied(self, value: Any) -> bool:
        """Return whether something else than weak references leads to a value that is copied."""
        return self.hidden is not None and id(value) in self.hidden.copied

    def copy_function(self, f: types.FunctionType) -> types.FunctionType:
        """Copy a function whose captured variables can change, or that leads to what is copied."""
        cells = tuple(map(self.copy, f.__closure__ or ()))
        known = self.memo.get(id(f))
        if known is not None:  # a cycle led back here
            return known[1]
        hidden = any(map(self.leads, hidden_parts(f)))
        if not hidden and all(map(is_, cells, f.__closure__ or ())):
            return self.remember(f, f)
        new = self.remember(f, spec_of(f).build(f, dict(enumerate(cells))))
        if hidden:
            new.__defaults__ = self.copy_if_leading(f.__defaults__)
            new.__kwdefaults__ = self.copied_values(f.__kwdefaults__)
        new.__dict__.update(self.copied_values(f.__dict__) or {})
        return new

    def copied_values(self, held: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return a dict with copies of the values that lead to something copied."""
        return held and {name: self.copy_if_leading(part) for name, part in held.items()}

    def copy_mutable(self, value: Any, spec: Any, fields: Any) -> Any:
        """Copy one that can change, which may lead back to itself."""
        new = self.remember(value, spec.blank(value))
        if issubclass(type(value), dict) and any(map(self.leads, hidden_parts(value))):
            items = [(self.copy_if_leading(key), self.copy(part)) for key, part in fields.items()]
            self.late.append((new, items))
            return new
        parts = {name: self.copy(part) for name, part in fields.items()}
        if issubclass(type(value), types.CellType) and _shareable(value, parts):
            return self.remember(value, value)
        spec.fill(new, parts)
        return new


def copied_exception(
    error: BaseException, copy: Convert, remember: Callable[[Any, Any], Any]
) -> BaseException:
    """Return a copy of an exception that is a value, with those that it tells of."""
    base: Any = next(b for b in type(error).__mro__ if b.__module__ == "builtins")
    arguments = copy(error.args)
    new = base.__new__(type(error), *arguments)
    base.__init__(new, *arguments)
    remember(error, new)
    new.__cause__, new.__context__ = copy(error.__cause__), copy(error.__context__)
    new.__suppress_context__ = error.__suppress_context__
    attributes = own_attributes(error)
    set_own_attributes(new, {name: copy(part) for name, part in attributes.items()})
    return new.with_traceback(error.__traceback__)


def _shareable(cell: types.CellType, parts: dict[str, Any]) -> bool:
    """Return whether copies of a function may share a captured variable without any effect.

    The identity of the function is then kept, by which rules are found.
    """
    contents = parts.get("cell_contents")
    return not parts or (contents is cell.cell_contents and not isinstance(contents, _NUMBERS))


def _without_tangent(value: Any) -> Any:
    """Copy a value without a tangent that may have state, such as a random generator."""
    if callable(value) or issubclass(type(value), (slice, range)):
        return value
    return _deep_copy(value)


def _deep_copy(value: Any) -> Any:
    """Copy an object that tangents cannot look into; one that cannot be copied is shared."""
    try:
        return copy.deepcopy(value)
    except TypeError:  # a lock, a file, a generator
        return value


class _Window:
    """Memory of an array seen with another offset, shape and strides; NumPy reads the interface."""

    def __init__(self, base: NDArray[Any], interface: dict[str, Any]) -> None:
        self.base = base
        self.__array_interface__ = interface


def same_view(view: NDArray[Any], root: NDArray[Any], new_root: NDArray[Any]) -> NDArray[Any]:
    """Return the view of `new_root` that `view` is of `root`, also if the dtype has changed."""
    new_unit, unit = new_root.dtype.itemsize, root.dtype.itemsize
    dtype = view.dtype
    if new_root.dtype != root.dtype:
        dtype = new_root.dtype if view.dtype == root.dtype else np.real(new_root).dtype
    offset = (address(view) - address(root)) * new_unit // unit
    interface = {
        "version": 3,
        "typestr": dtype.str,
        "shape": view.shape,
        "strides": tuple(s * new_unit // unit for s in view.strides),
        "data": (address(new_root) + offset, not is_writeable(view)),
    }
    # A view of an array, not of the window, can be made writeable again.
    return np.asarray(_Window(new_root, interface)).view()
