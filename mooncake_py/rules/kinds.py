"""The kinds of rule that a declaration creates.

A rule of any kind defines how the cotangent of an output becomes cotangents of the inputs.  The
kinds differ in how much of the bookkeeping they leave to the engine, which handles activity,
broadcasting, dtypes, `out=`, aliasing and the order of undoing for all but :class:`CoDualRule`.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Hashable
from types import BuiltinFunctionType, ModuleType
from typing import Any, ClassVar

from mooncake_py.errors import Location, MissingRuleError
from mooncake_py.modules import module_of
from mooncake_py.rooms import PACKAGE, is_built_in
from mooncake_py.rules.holomorphic import Wirtinger

__all__ = [
    "AtOnce",
    "BilinearRule",
    "CoDualRule",
    "ContextRule",
    "DualRule",
    "ElementwiseRule",
    "HandWrittenRule",
    "Like",
    "LinearRule",
    "NotImplementedDerivative",
    "OverlayRule",
    "Partial",
    "RefusedRule",
    "Rule",
    "VjpRule",
    "ZeroDerivativeRule",
    "read_arguments",
]


class Rule:
    """The common part of all rules: the functions they are for, and the place of declaration.

    Attributes
    ----------
    functions : tuple
    origin : Location
    built_in : bool
        Whether it is a rule of this package.  Those return arrays that nobody else holds, each
        once, and do not write in the cotangents that they are given; others may do as they like.
    by_user : bool
        Whether it is declared outside of this package.
    declaration, in_words : str
        Of the kind of rule: what declares it, and what it is.
    """

    __slots__ = ("built_in", "by_user", "functions", "origin")
    declaration: ClassVar[str]
    in_words: ClassVar[str]

    def __init__(self, functions: tuple[Hashable, ...], origin: Location) -> None:
        self.functions = functions
        self.origin = origin
        self.built_in = is_built_in(origin.file)
        self.by_user = not origin.file.startswith(PACKAGE)

    @property
    def name(self) -> str:
        """Qualified name of the first function of the rule."""
        return function_name(self.functions[0])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} for {self.name}, declared at {self.origin}>"


class Like:
    """Stand-in for an array of which an adjoint may know the layout and dtype, not the values.

    A linear map's adjoint needs no values of the input, and an engine that hands it none can
    free them early.

    Attributes
    ----------
    strides : tuple of int or None
        None stands for those of an array in C order.
    """

    __slots__ = ("dtype", "shape", "strides")

    def __init__(
        self, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...] | None = None
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.strides = strides

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        size = 1
        for n in self.shape:
            size *= n
        return size

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"Like(shape={self.shape}, dtype={self.dtype})"


class AtOnce:
    """A partial derivative that is evaluated in the forward pass and kept in place of operands.

    For functions that choose, such as ``maximum``: a mask of booleans takes an eighth of the
    memory of an operand, and an operand that is not kept may be overwritten without a log.

    Attributes
    ----------
    partial : callable
        ``partial(*inputs, y)``.
    both : callable or None
        Of the first of two inputs: ``both(a, b)``, the partial derivatives for both of them,
        where that takes less.  The second one is None if it is one where the first is zero, and
        zero where it is one.
    """

    __slots__ = ("both", "partial")

    def __init__(
        self, partial: Callable[..., Any], both: Callable[..., tuple[Any, Any]] | None = None
    ) -> None:
        self.partial = partial
        self.both = both

    def __call__(self, *args: Any) -> Any:
        """Evaluate the partial derivative, at the inputs and the output."""
        return self.partial(*args)


class NotImplementedDerivative:
    """Marks a derivative that exists but is not implemented; using it raises.

    It stands for a partial, an adjoint or a cotangent, and costs nothing for a constant argument.
    """

    __slots__ = ("fix", "info", "origin")

    def __init__(self, info: str, origin: Location, fix: str) -> None:
        self.info, self.origin, self.fix = info, origin, fix

    def fail(self, function: str, argument: int) -> MissingRuleError:
        """Return the error for a use of this derivative."""
        place = "" if is_built_in(self.origin.file) else f" (declared at {self.origin})"
        return MissingRuleError(
            f"the derivative of {function} with respect to argument {argument} is not implemented",
            why=f"{self.info}{place}",
            fix=self.fix,
        )


Partial = Callable[..., Any] | float | complex | Wirtinger | NotImplementedDerivative | None


class ElementwiseRule(Rule):
    """An elementwise function with one partial derivative for each input.

    Attributes
    ----------
    partials : tuple of Partial
        One for each input.  A callable takes the inputs and the output, ``partial(*xs, y)``; a
        number is a constant derivative; None means that no derivative exists.
    reads : tuple of frozenset of int
        For each partial the positions of the arguments that it reads; the output is position
        ``len(partials)``.
    """

    __slots__ = ("_reads", "partials", "plan_for_one", "plans", "plans_for_two")
    declaration = "elementwise"
    in_words = "a rule by partial derivatives"

    def __init__(
        self, functions: tuple[Hashable, ...], origin: Location, partials: tuple[Partial, ...]
    ) -> None:
        super().__init__(functions, origin)
        self.partials = partials
        self.plans: dict[tuple[bool, ...], Any] = {}
        self.plan_for_one: Any = False  # not made yet
        self.plans_for_two: list[Any] = [False] * 4  # by activity of the first and the second
        self._reads: tuple[frozenset[int], ...] | None = None

    @property
    def reads(self) -> tuple[frozenset[int], ...]:
        """For each partial the positions of the arguments that it reads."""
        if self._reads is None:  # worked out at first use: import stays light
            self._reads = tuple(read_arguments(p) for p in self.partials)
        return self._reads

    def plan_one(self) -> Any:
        """Return the plan for a single active input: partial, and whether to keep x and y."""
        plan = self.make_plan((True,))
        self.plan_for_one = None if plan is None else (plan[1][0], *plan[2])
        return self.plan_for_one

    def plan_two(self, first: bool, second: bool) -> Any:
        """Return the plan for two inputs: both partials or None, and what to keep of a, b, y."""
        plan = self.make_plan((first, second))
        if plan is not None:
            partials = dict(zip(plan[0], plan[1], strict=True))
            plan = (partials.get(0), partials.get(1), *plan[2])
        self.plans_for_two[first + 2 * second] = plan
        return plan

    def make_plan(self, activity: tuple[bool, ...]) -> Any:
        """Work out, for given active inputs, the partials wanted and the operands they read.

        Returns
        -------
        tuple or None
            ``(positions, partials, keep)``: positions of the active inputs that have a
            derivative, their partials, and for each input and the output whether to keep it.
            None if no active input has a derivative.  Kept in `plans`.
        """
        wanted = [i for i, on in enumerate(activity) if on and self.partials[i] is not None]
        for i in wanted:
            partial = self.partials[i]
            if isinstance(partial, NotImplementedDerivative):
                raise partial.fail(self.name, i)
        read = frozenset().union(*(self.reads[i] for i in wanted))
        keep = tuple(i in read for i in range(len(self.partials) + 1))
        plan = (tuple(wanted), tuple(self.partials[i] for i in wanted), keep) if wanted else None
        self.plans[activity] = plan
        return plan


class LinearRule(Rule):
    """A function linear in the arguments `wrt`, with the adjoint of that linear map."""

    __slots__ = ("adjoint", "stepwise", "wrt")
    declaration = "linear"
    in_words = "a rule by the adjoint of a linear map"

    def __init__(
        self,
        functions: tuple[Hashable, ...],
        origin: Location,
        adjoint: Callable[..., Any],
        wrt: tuple[int, ...],
        stepwise: tuple[int, ...],
    ) -> None:
        super().__init__(functions, origin)
        self.adjoint = adjoint
        self.wrt = wrt
        self.stepwise = stepwise


class BilinearRule(Rule):
    """A function linear in each of its first two arguments, with one adjoint for each."""

    __slots__ = ("adjoints",)
    declaration = "bilinear"
    in_words = "a rule by the adjoints of a bilinear map"

    def __init__(
        self,
        functions: tuple[Hashable, ...],
        origin: Location,
        adjoints: tuple[Callable[..., Any], Callable[..., Any]],
    ) -> None:
        super().__init__(functions, origin)
        self.adjoints = adjoints


class VjpRule(Rule):
    """A function without side effects, given by ``rule(*args) -> (output, pullback)``.

    Attributes
    ----------
    permits : tuple of str
        Options that allow the function to overwrite arguments; they are never granted.
    jvp : callable or None
        ``jvp(tangents, output, *args, **kwargs)``; None if forward mode transposes the pullback.
    plain_jvp : callable or None
        The same for real numbers where nothing else is differentiated; it returns NotImplemented
        where the pullback must tell whether there is a derivative.
    reads_shapes_only : bool
        Whether the pullback reads no values of arrays: these may be overwritten without a log.
    """

    __slots__ = ("jvp", "permits", "plain_jvp", "reads_shapes_only", "rule")
    declaration = "from_vjp"
    in_words = "a rule by output and pullback"

    def __init__(
        self,
        functions: tuple[Hashable, ...],
        origin: Location,
        rule: Callable[..., Any],
        permits: tuple[str, ...] = (),
        jvp: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(functions, origin)
        self.rule = rule
        self.permits = permits
        self.jvp = jvp
        self.plain_jvp: Callable[..., Any] | None = None
        self.reads_shapes_only = False


class HandWrittenRule(Rule):
    """A rule in a full interface, free to change its arguments in place.

    Attributes
    ----------
    mutates : tuple of int or None
        Positions of the arguments that the function may write; None means any of them.
    """

    __slots__ = ("mutates", "rule")

    def __init__(
        self,
        functions: tuple[Hashable, ...],
        origin: Location,
        rule: Callable[..., Any],
        mutates: tuple[int, ...] | None,
    ) -> None:
        super().__init__(functions, origin)
        self.rule = rule
        self.mutates = mutates


class CoDualRule(HandWrittenRule):
    """A rule in the full interface of `rrule`."""

    __slots__ = ()
    declaration = "rrule"
    in_words = "a handwritten rule"


class DualRule(HandWrittenRule):
    """A forward rule in the full interface of `frule`, in addition to a rule of another kind."""

    __slots__ = ()
    declaration = "frule"
    in_words = "a handwritten forward rule"


class OverlayRule(Rule):
    """A Python function that computes the same in terms of functions that have rules.

    Attributes
    ----------
    replacement : callable
    in_context : bool
        Whether the replacement is not derived, but gets the context before its arguments.
    """

    __slots__ = ("in_context", "replacement")
    declaration = "overlay"
    in_words = "a replacement in Python"

    def __init__(
        self,
        functions: tuple[Hashable, ...],
        origin: Location,
        replacement: Callable[..., Any],
        in_context: bool = False,
    ) -> None:
        super().__init__(functions, origin)
        self.replacement = replacement
        self.in_context = in_context


class ContextRule(Rule):
    """A function that does something else inside a derivative: ``rule(context, *args)``.

    For what is about the derivative itself, not about a value: hooks, levels of nesting.
    """

    __slots__ = ("rule",)
    declaration = "contextual"
    in_words = "a rule for what it does inside a derivative"

    def __init__(
        self, functions: tuple[Hashable, ...], origin: Location, rule: Callable[..., Any]
    ) -> None:
        super().__init__(functions, origin)
        self.rule = rule


class ZeroDerivativeRule(Rule):
    """A pure function whose derivative is zero wherever it exists, or which has none."""

    __slots__ = ("because",)
    declaration = "zero_derivative"
    in_words = "a rule that says it has no derivative"

    def __init__(self, functions: tuple[Hashable, ...], origin: Location, because: str) -> None:
        super().__init__(functions, origin)
        self.because = because


class RefusedRule(Rule):
    """A function through which a derivative would be lost: its arguments must be constant."""

    __slots__ = ("fix", "why")
    declaration = "refused"
    in_words = "refused where an argument is active"

    def __init__(
        self, functions: tuple[Hashable, ...], origin: Location, why: str, fix: str
    ) -> None:
        super().__init__(functions, origin)
        self.why = why
        self.fix = fix


def function_name(function: Any) -> str:
    """Return the name a user would write for a function, such as ``numpy.linalg.solve``."""
    function = getattr(function, "stands_for", function)  # of one that runs in its place
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if name is None:
        return repr(function)
    if type(function).__name__ == "fortran":
        return name.removeprefix("function ")
    owner: Any = getattr(function, "__self__", None)
    if type(owner).__module__ == "numpy" and hasattr(owner, "nin"):  # a method of one ufunc
        return f"numpy.{owner.__name__}.{function.__name__}"
    module = module_of(getattr(function, "__objclass__", function))
    if not module and type(function).__module__ == "numpy":
        module = ufunc_module(function)
    if module and module.startswith("scipy.") and isinstance(function, BuiltinFunctionType):
        return f"{module}.{name}"  # public ones of this name are Python around it
    return f"{public_module(module, name)}.{name}" if module and module != "builtins" else name


def is_hashable(function: Any) -> bool:
    """Return whether a table of rules can hold a function; it cannot hold those of ctypes."""
    try:
        hash(function)
    except TypeError:
        return False
    return True


def ufunc_module(ufunc: Any) -> str:
    """Return the module that a ufunc lives in, which it does not say."""
    for module in ("numpy", "scipy.special", "scipy.special._ufuncs"):
        if getattr(sys.modules.get(module), ufunc.__name__, None) is ufunc:
            return module
    return "numpy"


def public_module(module: str, name: str) -> str:
    """Return where users find what NumPy, SciPy and the standard library keep in private."""
    parts = module.split(".")
    if parts[0] in ("numpy", "scipy"):
        public = ".".join(part for part in parts if not part.startswith("_"))
        while "." in public or public == parts[0]:
            found = getattr(sys.modules.get(public), name.partition(".")[0], None)
            if found is not None and not isinstance(found, ModuleType):
                return public
            public = public.rpartition(".")[0]
        return "numpy" if parts[0] == "numpy" else module
    if parts[0] == "mooncake_py" and hasattr(sys.modules.get("mooncake_py"), name):
        return "mooncake_py"
    return module.lstrip("_") if module in sys.stdlib_module_names else module


def read_arguments(partial: Partial) -> frozenset[int]:
    """Return the positions of the arguments that a partial derivative reads.

    The engine saves for the reverse pass only what is read.  Known from the bytecode for
    functions with positional arguments; all arguments are assumed for any other callable.
    """
    if not callable(partial) or isinstance(partial, (NotImplementedDerivative, AtOnce)):
        return frozenset()
    code = getattr(partial, "__code__", None)
    if code is None or code.co_flags & 0x0C:  # *args or **kwargs: all of them
        return frozenset(range(16))
    names = code.co_varnames[: code.co_argcount]
    read = set(code.co_cellvars)
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith("LOAD_FAST"):
            value = instruction.argval
            read.update(value if isinstance(value, tuple) else (value,))
    return frozenset(i for i, name in enumerate(names) if name in read)
