"""Derivatives along a direction, and their gradients, of functions that run whole.

The tangent of a region is a region: it runs forward for `jvp`, and both ways for a product with a
Hessian.  As in `modes.reverse.whole`, nothing is recorded, and unusual cases take the general way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from numpy import ndarray

from mooncake_py.compiler.native.building.types import FLOATS
from mooncake_py.compiler.native.form import Form
from mooncake_py.compiler.native.giving_back import given_back
from mooncake_py.compiler.native.reading.outputs import Output, leaves_of
from mooncake_py.compiler.native.region_site import TangentSite
from mooncake_py.compiler.native.reread import Reread
from mooncake_py.compiler.native.site import FunctionSite
from mooncake_py.modes.reverse.whole import WholeGradient, matched
from mooncake_py.modes.reverse.whole_arguments import (
    are_captured,
    arguments_of,
    leaves_in,
    names_in,
    parts_of_one,
)
from mooncake_py.modes.reverse.whole_sweeps import WholeSweeps
from mooncake_py.runtime.active import REAL_SCALARS

__all__ = [
    "WholeTangent",
    "moving",
    "product_for",
    "products_of_whole",
    "push_whole",
    "push_whole_along",
]

Places = Sequence[tuple[int, int | None]]
"""Of inputs with a tangent: their place, and that of what is passed for it, None for zero."""
NULL = bytes(16)
"""A number of any dtype that is zero."""


def push_whole(
    f: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    in_text: bool = False,
) -> tuple[Any, Any] | None:
    """Return the output and its tangent, None if the call goes the general way."""
    found = push_whole_along(f, primals, [tangents], in_text)
    return None if found is None else (found[0], found[1][0])


def push_whole_along(
    f: Callable[..., Any],
    primals: tuple[Any, ...],
    directions: Sequence[tuple[Any, ...]],
    in_text: bool = False,
) -> tuple[Any, list[Any]] | None:
    """Return the output and a tangent for each direction, None if the call goes the general way.

    The code for one direction runs for each of them.
    """
    found = matched(f, primals, {}, in_text) if directions else None
    if found is None:
        return None
    site, reading, inputs = found
    if not reading.site.may_run(inputs):
        return None
    chosen, *others = [moving(tangents) for tangents in directions]
    if any(other != chosen for other in others):
        return None
    whole = WholeTangent.known(site, reading, chosen)
    if whole is None or are_captured(reading, whole.moving.values(), inputs):
        return None
    y: Any = None
    tangents: list[Any] = []
    for direction in directions:
        one = whole.run(inputs.values(), direction)
        if one is None:
            return None
        y = one[0]
        tangents.append(one[1])
    return y, tangents


def moving(tangents: Sequence[Any]) -> list[int]:
    """Return the positions of the arguments that have a tangent."""
    return [k for k, t in enumerate(tangents) if t is not None]


class WholeTangent(WholeSweeps):
    """How the derivative of a function along a direction is computed.

    Parameters
    ----------
    site : TangentSite
    form : Form
        Where nothing is active: it runs forward only.
    output : Output
        Of the function.
    places : sequence of (int, int or None)
        See `Places`.
    arguments : mapping of int to Output
        Those that have a tangent, by their positions.
    """

    def __init__(
        self,
        site: TangentSite,
        form: Form,
        output: Output,
        places: Places,
        arguments: Mapping[int, Output],
    ) -> None:
        super().__init__(site, form, [*arguments.values()])
        self.output = output
        self.places = places
        self.moving = arguments
        self.leaves = [(leaf.name, site.names[leaf.name]) for leaf in leaves_of(output)]
        results = {name for pair in self.leaves for name in pair}
        # The caller's own arrays are not given back; what is, nobody else uses afterwards.
        inputs = site.region.inputs
        self.copied = results.intersection(inputs).difference(site.written)
        self.reused = [(i, name) for i, name in self.written if name not in results]
        # Also what is written and not given back: NumPy warns of it, compiled code does not.
        self.checked = [i for i, _ in self.written]
        self.checked += [
            i for i, name in enumerate(form.results, len(inputs)) if name not in inputs
        ]

    @classmethod
    def known(
        cls, site: FunctionSite, reading: Reread, chosen: Sequence[int]
    ) -> WholeTangent | None:
        """Return it, as :meth:`of` does once."""
        key = "push", *chosen
        if key not in reading.derivatives:
            reading.derivatives[key] = cls.of(site, reading, chosen)
        return reading.derivatives[key]

    @classmethod
    def of(cls, site: FunctionSite, reading: Reread, chosen: Sequence[int]) -> WholeTangent | None:
        """Return it, None if the function gives back, or is given, something else."""
        arguments = arguments_of(site, reading, chosen) if chosen else None
        if arguments is None:
            return None
        names = names_in(arguments)
        tangent = tangent_of(reading, names)
        if tangent is None or not has_tangents(reading.output, tangent):
            return None
        form = tangent.form_where(frozenset())
        places = places_of(tangent, reading, {name: k for k, name in enumerate(names)})
        moving = dict(zip(chosen, arguments, strict=True))
        return None if form is None else cls(tangent, form, reading.output, places, moving)

    def run(self, inputs: Iterable[Any], tangents: Sequence[Any]) -> tuple[Any, Any] | None:
        """Return the output and its tangent, None where something is unusual."""
        directions = directions_in(self.moving.values(), [tangents[k] for k in self.moving])
        if directions is None:
            return None
        values = None if self.site.trials.rest() else with_tangents(inputs, self.places, directions)
        forward = None if values is None else self.forward(values, self.form.spares)
        if forward is None:
            return None
        self.give_back(forward, self.form.spares)
        found, typed = forward.found, self.site.typed
        outputs: dict[str, Any] = {}
        moved: dict[str, Any] = {}
        for name, own in self.leaves:
            y, dy = found[name], found[own]
            if type(y) is ndarray:
                y = typed(name, y.copy() if name in self.copied else y, found)
                outputs[name] = forward.in_order(name, y)
                moved[name] = typed(own, dy.copy() if own in self.copied else dy, found)
            else:
                outputs[name] = y = typed(name, y, found)
                if type(y) not in FLOATS:
                    return None
                moved[name] = type(y)(dy)
        return given_back(self.output, outputs), given_back(self.output, moved)


def products_of_whole(
    f: Callable[..., Any],
    chosen: Sequence[int | str],
    args: tuple[Any, ...],
    along: Sequence[tuple[Any, ...]],
    *,
    with_gradient: bool,
    in_text: bool = False,
) -> tuple[Any, tuple[Any, ...], list[tuple[Any, ...]]] | None:
    """Return the value, gradients if they are wanted, and products with the Hessian.

    There are products for each of the directions.  None if the call goes the general way, as it
    does without directions.
    """
    found = matched(f, args, {}, in_text) if along and len(set(chosen)) == len(chosen) else None
    if found is None:
        return None
    site, reading, inputs = found
    product = product_for(site, reading, chosen, with_gradient=with_gradient)
    if product is None or not reading.site.may_run(inputs):
        return None
    if are_captured(reading, product.arguments, inputs):
        return None
    n = len(product.arguments)
    value: Any = None
    gradients: tuple[Any, ...] = ()
    products: list[tuple[Any, ...]] = []
    for tangents in along:
        result = product.run(inputs.values(), tangents)
        if result is None:
            return None
        value, found = result
        gradients = found[n:]
        products.append(found[:n])
    return value, gradients, products


class WholeProduct(NamedTuple):
    """How the gradient of a derivative along a direction is computed.

    Attributes
    ----------
    arguments : sequence of Output
        The chosen ones.
    whole : WholeGradient
        Of that derivative.
    places : sequence of (int, int or None)
        See `Places`.
    """

    arguments: Sequence[Output]
    whole: WholeGradient
    places: Places

    def run(
        self, inputs: Iterable[Any], tangents: Sequence[Any]
    ) -> tuple[Any, tuple[Any, ...]] | None:
        """Return the value, products and perhaps gradients, None where something is unusual."""
        whole = self.whole
        direction = directions_in(self.arguments, tangents)
        if direction is None or whole.site.trials.rest():
            return None
        values = with_tangents(inputs, self.places, direction)
        result = None if values is None else whole.run(values, whole.form.spares)
        if result is None:
            return None
        (_, value), found = result
        return value, found


def product_for(
    site: FunctionSite, reading: Reread, chosen: Sequence[int | str], *, with_gradient: bool
) -> WholeProduct | None:
    """Return how products with the Hessian are computed, None if they are not; found out once."""
    arguments = arguments_of(site, reading, chosen)
    if arguments is None:
        return None
    key = "product", *names_in(arguments), with_gradient
    if key not in reading.derivatives:
        reading.derivatives[key] = whole_product(reading, arguments, with_gradient)
    return reading.derivatives[key]


def whole_product(
    reading: Reread, arguments: Sequence[Output], with_gradient: bool
) -> WholeProduct | None:
    """Return how the gradient of a derivative along a direction is computed, None if it is not.

    That derivative is linear in the direction, with the gradient for its coefficients.
    """
    names = names_in(arguments)
    tangent, value = tangent_of(reading, names), reading.output
    if tangent is None or value.kind != "number" or not has_tangents(value, tangent):
        return None
    directions = [renamed(argument, tangent.names) for argument in arguments]
    wanted = [*arguments, *directions] if with_gradient else arguments
    form = tangent.form_where(frozenset(names_in(wanted)))
    if form is None:
        return None
    slope = Output("number", name=tangent.names[value.name])
    whole = WholeGradient(tangent, form, wanted, slope, value)
    whole.apart = whole.places_of(parts_of_one(arguments))  # what moves may share memory
    places = places_of(tangent, reading, {name: k for k, name in enumerate(names)})
    return WholeProduct(arguments, whole, places)


def directions_in(arguments: Iterable[Output], tangents: Iterable[Any]) -> list[Any] | None:
    """Return the parts of directions, None if they are not built like the arguments."""
    found: list[Any] = []
    for argument, t in zip(arguments, tangents, strict=True):
        leaves = leaves_in(argument, t)
        if leaves is None:
            return None
        found += leaves
    return found


def renamed(argument: Output, names: Mapping[str, str]) -> Output:
    """Return an argument with other names for its numbers and arrays."""
    if argument.items:
        return argument._replace(items=tuple([renamed(item, names) for item in argument.items]))
    return argument._replace(name=names.get(argument.name, ""))


def tangent_of(reading: Reread, names: Sequence[str]) -> TangentSite | None:
    """Return the tangent of a function of some inputs, None if it has none."""
    return reading.site.tangent_of(frozenset(names))


def has_tangents(output: Output, site: TangentSite) -> bool:
    """Return True for a number or an array with a tangent, and tuples and lists of these."""
    if output.kind in ("tuple", "list"):
        return all(has_tangents(item, site) for item in output.items)
    return site.names.get(output.name) in site.region.results


def places_of(site: TangentSite, reading: Reread, passed: Mapping[str, int]) -> Places:
    """Return where inputs with a tangent are, and where what is passed for these."""
    inputs = reading.site.region.inputs
    return [(inputs.index(name), passed.get(name)) for name in site.given]


def with_tangents(
    inputs: Iterable[Any], places: Places, tangents: Sequence[Any]
) -> list[Any] | None:
    """Return the inputs of a tangent, None if a direction is not exactly like its primal.

    Directions may share memory with anything: what is written is a copy of theirs.
    """
    values = [*inputs]
    for i, k in places:
        x = values[i]
        if k is None:
            t = null(x)
        else:
            t = tangents[k]
            if type(x) is not ndarray:
                if type(t) not in FLOATS:
                    return None
                if type(x) in REAL_SCALARS and type(t) in REAL_SCALARS:
                    t = type(x)(t)  # what it has a cotangent of is of the type of its primal
            elif type(t) is not ndarray or t.shape != x.shape or t.dtype != x.dtype:
                return None
        values.append(t)
    return values


def null(x: Any) -> Any:
    """Return zero, or an array of zeros, in no memory of its own as most are copied."""
    if type(x) is not ndarray:
        return 0.0
    return ndarray(x.shape, x.dtype, NULL, 0, (0,) * x.ndim)
