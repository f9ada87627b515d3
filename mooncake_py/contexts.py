"""Contexts of users, which define the meaning of each operation of rewritten code.

Rewritten code can compute more than derivatives: subclass :class:`Context` to count operations,
trace dependencies, or compute in another arithmetic.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from types import FunctionType, MappingProxyType, MethodDescriptorType, MethodType
from typing import TYPE_CHECKING, Any, cast

from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.errors import MooncakeError, SourceUnavailableError
from mooncake_py.frontend.load import derive, instantiate
from mooncake_py.jitted import is_jitted
from mooncake_py.language.class_statements import ClassStatement
from mooncake_py.language.matching import Matching
from mooncake_py.language.raising import raised
from mooncake_py.modules import package_of
from mooncake_py.rooms import PACKAGE
from mooncake_py.runtime.methods import LookedUp

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Language

__all__ = ["Context"]


class Context:
    """A context that runs functions as Python does, and passes each operation to :meth:`operation`.

    Subclasses override :meth:`operation`, which runs every operation that computes, reads or
    writes, or one of the methods that call it: :meth:`getitem`, :meth:`setitem`, :meth:`getattr`,
    :meth:`call`, :meth:`method`, :meth:`truth`, :meth:`iter` and the rest.

    Notes
    -----
    Functions that compiled code calls run natively: special methods such as ``__add__`` of your
    class, the key of ``sorted``.  So do functions for which :meth:`enters` returns False.  An
    instance keeps the attributes that a subclass sets; use a new instance for each run.

    Examples
    --------
    >>> class Names(Context):
    ...     def __init__(self):
    ...         self.names = []
    ...
    ...     def operation(self, function, *args, **kwargs):
    ...         self.names.append(function.__name__)
    ...         return super().operation(function, *args, **kwargs)
    >>> def f(a, b):
    ...     return a / (a + b * b)
    >>> context = Names()
    >>> context.run(f, 2.0, 3.0)
    0.18181818181818182
    >>> context.names
    ['mul', 'add', 'truediv']
    """

    # Read by rewritten code and by what it calls: expressions are not fused, any number is plain.
    fuses = pushes = several = repeats = False
    rehearsal: Any = None
    outers: tuple[Any, ...] = ()
    numbers = frozenset({int, float, complex, bool})
    chosen: Any = None
    linked: Any = None
    gate: Any = None  # sites go by the methods below
    token: Any = None
    ways: Any = MappingProxyType({})
    rules: Any = None
    rule_ways: Any = MappingProxyType({})

    def open_gate(self) -> Any:
        """Return that there is none."""
        return None

    def run(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run ``f(*args, **kwargs)`` under this context."""
        return self.call(f, *args, **kwargs)

    # The methods that subclasses override first.

    def operation(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run one operation: a function of `operator`, ``getattr``, or any compiled function.

        A method of a built-in type comes as the function of the type, with the receiver first.
        """
        return function(*args, **kwargs)

    def enters(self, f: FunctionType) -> bool:
        """Return whether the code of a Python function runs under this context too.

        By default all code except the standard library, NumPy, SciPy and this package.
        """
        root = package_of(f)
        library = root in ("numpy", "scipy") or root in sys.stdlib_module_names
        return not library and not f.__code__.co_filename.startswith(PACKAGE)

    # Calls.

    def call(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run ``f(*args, **kwargs)``."""
        if is_jitted(f):
            f = f.py_func
        t = type(f)
        if t is MethodType:
            return self.call(f.__func__, f.__self__, *args, **kwargs)
        if t is FunctionType:
            derived = self.rewritten(f)
            if derived is not None:
                return derived(*args, **kwargs, _mk_ctx=self)
        elif t is functools.partial:
            return self.call(f.func, *f.args, *args, **{**f.keywords, **kwargs})
        elif isinstance(f, type):
            return self.instance(f, *args, **kwargs)
        elif type(getattr(t, "__call__", None)) is FunctionType:  # noqa: B004 - its type is asked
            return self.call(t.__call__, f, *args, **kwargs)
        return self.operation(f, *args, **kwargs)

    def rewritten(self, f: FunctionType) -> FunctionType | None:
        """Return the rewritten form of a function, None if it is to run natively."""
        if not self.enters(f):
            return None
        try:
            return instantiate(derive(f.__code__, f.__globals__), f)
        except SourceUnavailableError:
            return None

    def instance(self, cls: type, /, *args: Any, **kwargs: Any) -> Any:
        """Run ``cls(*args, **kwargs)``."""
        own = type(cls).__call__ is type.__call__ and cls.__new__ is object.__new__
        if not own or type(cls.__init__) is not FunctionType:
            return self.operation(cls, *args, **kwargs)
        made = object.__new__(cls)
        self.call(cls.__init__, made, *args, **kwargs)
        return made

    def unsupported(self, refusal: Callable[[], MooncakeError]) -> None:
        """Raise where code is reached that cannot be rewritten, such as `eval`."""
        raise refusal()

    def call_one(self, f: Callable[..., Any], x: Any, /) -> Any:
        """Run ``f(x)``."""
        return self.call(f, x)

    def method(self, o: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Run ``o.name(*args, **kwargs)``."""
        descriptor = getattr(type(o), name, None)
        if type(descriptor) is MethodDescriptorType:
            return self.operation(descriptor, o, *args, **kwargs)
        if type(o) is LookedUp:
            return self.call(o.method, *args, **kwargs)
        return self.call(self.getattr(o, name), *args, **kwargs)

    def looked_up(self, o: Any, name: str) -> Any:
        """Look up ``o.name`` for :meth:`method`, before its arguments are evaluated."""
        descriptor = getattr(type(o), name, None)
        if type(descriptor) is MethodDescriptorType:
            return o
        return LookedUp(self.getattr(o, name))

    def decorator(self, decorator: Any) -> Callable[[Any], Any]:
        """Return a function that does the same to its argument as a decorator."""
        return lambda function: self.call(decorator, function)

    # Attributes and elements; operators are defined below.

    def getattr(self, o: Any, name: str) -> Any:
        """Run ``o.name``."""
        return getattr(o, name)

    def peek(self, o: Any, name: str) -> Any:
        """Return a marker instead of ``o.name``: statements run operation by operation."""
        return Ellipsis

    def run_statement(self, site: Any, functions: Any, values: Any) -> Any:
        """Run a statement operation by operation."""
        return site.otherwise(self, functions, values)

    def run_region(self, site: Any, functions: Any, steps: Any, inputs: Any) -> Any:
        """Return that a loop runs statement by statement."""
        return Elsewhere

    def peek_operator(self, name: str, *operands: Any) -> Any:
        """Return a marker instead of the result of an operator: see `peek`."""
        return NotImplemented

    def setattr(self, o: Any, name: str, value: Any) -> None:
        """Run ``o.name = value``."""
        setattr(o, name, value)

    def delattr(self, o: Any, name: str) -> None:
        """Run ``del o.name``."""
        delattr(o, name)

    def getitem(self, o: Any, i: Any) -> Any:
        """Run ``o[i]``."""
        return self.operation(operator.getitem, o, i)

    def setitem(self, o: Any, i: Any, v: Any) -> None:
        """Run ``o[i] = v``."""
        self.operation(operator.setitem, o, i, v)

    def delitem(self, o: Any, i: Any) -> None:
        """Run ``del o[i]``."""
        self.operation(operator.delitem, o, i)

    def augitem(self, op: str, o: Any, i: Any, v: Any) -> None:
        """Run ``o[i] op= v``."""
        self.setitem(o, i, getattr(self, op)(self.getitem(o, i), v))

    def augattr(self, op: str, o: Any, name: str, v: Any) -> None:
        """Run ``o.name op= v``."""
        self.setattr(o, name, getattr(self, op)(self.getattr(o, name), v))

    def storeback(self, o: Any, i: Any, v: Any) -> None:
        """Write back the result of an augmented assignment to ``o[i]``."""
        self.setitem(o, i, v)

    # Truth, size, comparison; the others are defined below.

    def eq(self, a: Any, b: Any) -> Any:
        """Run ``a == b``."""
        return self.operation(operator.eq, a, b)

    def truth(self, value: Any) -> Any:
        """Return a native value with the truth of a value."""
        return bool(value)

    def choose(self, value: Any) -> Any:
        """Return the truth of an operand of ``and`` or ``or``, and keep the operand as `chosen`."""
        self.chosen = value
        return self.truth(value)

    def len(self, value: Any) -> int:
        """Run ``len(value)``."""
        return len(value)

    def range_of(self, *bounds: Any) -> range:
        """Run ``range(*bounds)``."""
        return range(*bounds)

    def identical(self, a: Any, b: Any) -> bool:
        """Run ``a is b``."""
        return a is b

    def not_identical(self, a: Any, b: Any) -> bool:
        """Run ``a is not b``."""
        return a is not b

    @property
    def importing(self) -> AbstractContextManager[None]:
        """The block around an ``import`` statement."""
        return nullcontext()

    def module_with_code(self, own: Any, module: tuple[str, int], names: tuple[str, ...]) -> Any:
        """Return the module of ``from module import names`` to take them by `imported`.

        None lets Python import them.
        """
        return None

    def imported(self, module: Any, name: str) -> Any:
        """Return the value that ``from module import name`` binds."""
        return getattr(module, name)

    def link(self, name: str, a: Any, b: Any) -> Any:
        """Run one comparison of a chain, and keep its right operand as `linked`."""
        self.linked = b
        return getattr(self, name)(a, b)

    def contained(self, item: Any, container: Any) -> bool:
        """Run ``item in container``."""
        return item in container

    def not_contained(self, item: Any, container: Any) -> bool:
        """Run ``item not in container``."""
        return not self.contained(item, container)

    def key(self, value: Any) -> Any:
        """Return a value that Python is about to hash."""
        return value

    def format(self, value: Any, conversion: str, spec: str) -> str:
        """Run ``f"{value!conversion:spec}"``."""
        return format(CONVERSIONS[conversion](value), spec)

    # Loops, unpacking, managers, classes, patterns.

    def iter(self, iterable: Any, pattern: Any = None) -> Iterable[Any]:
        """Return the iterator of a loop over `iterable`."""
        return iter(iterable)

    def items(self, iterable: Any) -> Iterable[Any]:
        """Return the items that ``*iterable`` unpacks in a call, a list or a tuple."""
        return self.iter(iterable)

    def unpack(self, value: Any, pattern: Any) -> Any:
        """Return a value that is unpacked next: `pattern` is None for each target."""
        return value

    def mapping(self, value: Any) -> Any:
        """Return the mapping that ``**value`` unpacks."""
        return value

    def delegate(self, iterable: Any) -> Any:
        """Return the iterable of ``yield from``."""
        return iterable

    def raised(self, error: Any, *causes: Any) -> Any:
        """Return the exception that ``raise error`` or ``raise error from cause`` raises."""
        return raised(self, error, *causes)

    def splitting(self, types: Any) -> Any:
        """Return the types of ``except*``, which is about to split a group."""
        return types

    def manager(self, manager: Any) -> Any:
        """Return the context manager of a ``with`` statement."""
        return manager

    def cleaning(self) -> AbstractContextManager[None]:
        """Return the block that is the body of a generator with code for its end."""
        return nullcontext()

    def class_statement(self, *bases: Any, **keywords: Any) -> Any:
        """Return the callable that makes the class of a ``class`` statement, not its metaclass."""
        return ClassStatement(cast("Any", self), bases, keywords)

    def matching(self, subject: Any) -> Matching:
        """Begin a ``match`` statement."""
        return Matching(self, subject)


CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "": lambda value: value,
    "r": repr,
    "s": str,
    "a": ascii,
}
BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift",
    "and_", "or_", "xor",
)  # fmt: skip
OPERATORS = (
    *BINARY, *(f"i{name.rstrip('_')}" for name in BINARY), "lt", "le", "ne", "gt", "ge",
    "neg", "pos", "invert",
)  # fmt: skip


def _define_operators() -> None:
    """Define a method for each operator, named as in the `operator` module."""

    def make(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, *operands: self.operation(function, *operands)

    for name in OPERATORS:
        method = make(getattr(operator, name))
        method.__name__, method.__qualname__ = name, f"Context.{name}"
        setattr(Context, name, method)


_define_operators()

if TYPE_CHECKING:  # that nothing which rewritten code asks is missing
    _language: Language = Context()
