"""NumPy code as a function of JAX's arrays: a primitive whose derivatives are primitives too."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mooncake_py.integrations.outgoing import FlatCall, FlatDerivatives, refused_output
from mooncake_py.integrations.structure import filled
from mooncake_py.optional import import_optional

__all__ = ["to_jax"]

jax = import_optional("jax", "jax", __name__)
Primitive = import_optional("jax.extend.core", "jax", __name__).Primitive
ad, batching, mlir = [
    import_optional(f"jax.interpreters.{name}", "jax", __name__)
    for name in ("ad", "batching", "mlir")
]

ARRAYS = (jax.Array, np.ndarray, np.generic, float, complex)
Shapes = tuple[jax.ShapeDtypeStruct, ...]


def to_jax(
    function: Callable[..., Any], *, compile: bool | None = None, example: Any = None
) -> Callable[..., Any]:
    """Return a function of JAX's arrays with the values and the derivatives of a NumPy function.

    Parameters
    ----------
    function : callable
        Of NumPy arrays and numbers, and of dicts, tuples and lists of these in one another; it
        returns the like, and may change its arguments in place.
    compile : bool, optional
        As for :func:`mooncake_py.vjp`.
    example : tuple, optional
        Positional arguments for which `function` runs once, if JAX asks for the shapes of outputs
        before there are values, under ``jit`` for example.  Without it, that run is given ones.

    Returns
    -------
    callable
        Takes and returns the same with JAX's arrays.  An array without axes is a number for
        `function`; ints, strings and anything else that is not an array are passed on unchanged.

    Raises
    ------
    Exception
        What `function` raises, with a note if it was run for shapes alone.

    Notes
    -----
    It works in ``grad``, ``vjp``, ``jvp``, ``jacfwd``, ``jacrev``, ``hessian`` to any order, in
    ``jit`` and ``scan``, on the CPU; under ``vmap`` it runs once for each element.
    `function` must return the same for the same arguments, as JAX demands: random numbers come from
    a generator that it makes.  The shapes of outputs may depend on the shapes of arguments, not on
    their values.

    Examples
    --------
    >>> def relax(u, k):
    ...     for _ in range(3):
    ...         u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    ...     return u
    >>> layer = to_jax(relax)
    >>> u = np.array([0.0, 0.0, 1.0, 0.0, 0.0], np.float32)
    >>> jax.jit(jax.grad(lambda k: layer(u, k)[2]))(0.25)
    Array(-0.75, dtype=float32)
    """
    options = {"compile": compile}
    known: dict[Any, tuple[Any, Shapes]] = {}

    @functools.wraps(function)
    def of_jax(*args: Any, **kwargs: Any) -> Any:
        flat = FlatCall(function, args, kwargs, is_array)
        arrays = flat.arrays
        if not any(isinstance(array, jax.core.Tracer) for array in arrays):
            outputs = [jax.numpy.asarray(output) for output in evaluated(flat.run, None, *arrays)]
            return filled(flat.nesting.outputs, outputs)
        key = signature(flat)
        if key not in known:
            shapes = shapes_of(flat, example)
            known[key] = flat.nesting.outputs, shapes
        nesting, shapes = known[key]
        return filled(nesting, apply(FlatDerivatives(flat.run, options), None, 0, shapes, arrays))

    return of_jax


def is_array(leaf: Any) -> bool:
    """Return whether a leaf is an array or a number for JAX; ints are constants."""
    return isinstance(leaf, ARRAYS)


def signature(flat: FlatCall) -> Any:
    """Return the parts of a call on which the shapes of outputs depend."""
    constants = [repr(leaf) for i, leaf in enumerate(flat.leaves) if i not in flat.given]
    arrays = [(np.shape(array), str(jax.dtypes.result_type(array))) for array in flat.arrays]
    return repr(flat.nesting.arguments), tuple(constants), tuple(arrays)


def shapes_of(flat: FlatCall, example: Any) -> Shapes:
    """Return the shapes of outputs, by a run on an example or on ones."""
    if example is not None:
        values = FlatCall(flat.called, tuple(example), {}, is_array).arrays
    else:
        values = [np.ones(np.shape(a), jax.dtypes.result_type(a)) for a in flat.arrays]
    try:
        outputs = evaluated(flat.run, None, *values)
    except Exception as error:
        error.add_note(
            "to_jax ran the function on "
            + ("its example" if example is not None else "arrays of ones")
            + " to find the shapes of its outputs; pass arguments for that run as example=(...)"
        )
        raise
    return tuple([jax.ShapeDtypeStruct(o.shape, o.dtype) for o in outputs])


def evaluated(flat: Callable[..., Any], shapes: Shapes | None, *arrays: Any) -> list[np.ndarray]:
    """Run a function of NumPy arrays on copies of JAX's, and return arrays of JAX's dtypes."""
    outputs = flat(*[copied(array) for array in arrays])
    found = [np.asarray(output) for output in outputs]
    for array in found:
        if array.dtype.kind not in "fciub":
            raise refused_output("to_jax", array[()])
    if shapes is None:
        return [array.astype(jax.dtypes.canonicalize_dtype(array.dtype)) for array in found]
    return [np.asarray(a, s.dtype).reshape(s.shape) for a, s in zip(found, shapes, strict=True)]


def copied(array: Any) -> Any:
    """Return an array as a new one of NumPy, a number for one without axes."""
    own = np.array(array)
    return own if own.ndim else own[()]


# A primitive for a function of arrays.  If its first arguments are those of a linear function, it
# knows the transposed one too, so JAX can turn it round; both are FlatDerivatives.

call = Primitive("mooncake_call")
call.multiple_results = True


def apply(
    flat: FlatDerivatives, transposed: FlatDerivatives | None, linear: int, shapes: Shapes,
    arrays: Sequence[Any],
) -> list[Any]:  # fmt: skip
    """Call the primitive; the first `linear` arguments are those that it is linear in."""
    return call.bind(*arrays, flat=flat, transposed=transposed, linear=linear, shapes=shapes)


@call.def_impl
def run(*arrays: Any, flat: FlatDerivatives, shapes: Shapes, **_: Any) -> list[Any]:
    """Evaluate at arrays."""
    return [jax.numpy.asarray(output) for output in evaluated(flat.function, shapes, *arrays)]


@call.def_abstract_eval
def shapes_only(*arrays: Any, shapes: Shapes, **_: Any) -> list[Any]:
    """Evaluate at shapes."""
    return [jax.core.ShapedArray(shape.shape, shape.dtype) for shape in shapes]


def from_compiled(*arrays: Any, flat: FlatDerivatives, shapes: Shapes, **_: Any) -> list[Any]:
    """Call back from compiled code."""
    callback = functools.partial(evaluated, flat.function, shapes)
    return list(jax.pure_callback(callback, list(shapes), *arrays))


mlir.register_lowering(call, mlir.lower_fun(from_compiled, multiple_results=True))


def is_continuous(shape: Any) -> bool:
    """Return whether arrays of a dtype have derivatives."""
    return jax.numpy.issubdtype(shape.dtype, jax.numpy.inexact)


def directions(
    flat: FlatDerivatives, inputs: Sequence[int], outputs: Sequence[int]
) -> tuple[FlatDerivatives, FlatDerivatives]:
    """Return the linear function of tangents, and the one that JAX calls its transpose.

    Ours is the adjoint: the two are conjugates of each other.
    """
    pullback = flat.pullback(inputs, outputs)

    def transposed(*given: Any) -> tuple[Any, ...]:
        cotangents = [np.conj(dy) for dy in given[: len(outputs)]]
        return tuple([np.conj(g) for g in pullback.function(*cotangents, *given[len(outputs) :])])

    return flat.pushforward(inputs, outputs), FlatDerivatives(transposed, flat.options)


def is_moved(tangent: Any) -> bool:
    """Return whether a tangent is not known to be zero."""
    return not isinstance(tangent, ad.Zero) and tangent.dtype != jax.dtypes.float0


def jvp(
    primals: Any, tangents: Any, *, flat: Any, transposed: Any, linear: int, shapes: Shapes
) -> Any:
    """Return outputs and tangents.

    Along the arguments that the function is linear in, the tangents are its own values; along the
    others, those of its pushforward.
    """
    y = apply(flat, transposed, linear, shapes, primals)
    outputs = [i for i, shape in enumerate(shapes) if is_continuous(shape)]
    dy: list[Any] = [ad.Zero(jax.typeof(value).to_tangent_aval()) for value in y]
    if any(map(is_moved, tangents[:linear])):
        moved = [ad.instantiate_zeros(tangent) for tangent in tangents[:linear]]
        dy = apply(flat, transposed, linear, shapes, [*moved, *primals[linear:]])
    inputs = [i for i in range(linear, len(primals)) if is_moved(tangents[i])]
    if inputs and outputs:
        forward, back = directions(flat, inputs, outputs)
        given = [*[tangents[i] for i in inputs], *primals]
        found = apply(forward, back, len(inputs), tuple([shapes[i] for i in outputs]), given)
        for i, tangent in zip(outputs, found, strict=True):
            dy[i] = ad.add_tangents(dy[i], tangent)
    return y, dy


ad.primitive_jvps[call] = jvp


def transpose(
    cotangents: Any, *arrays: Any, flat: Any, transposed: Any, linear: int, shapes: Shapes
) -> Any:
    """Return the cotangents of the linear arguments that JAX asks for."""
    dys = [ad.instantiate_zeros(dy) for dy in cotangents]
    asked = [ad.is_undefined_primal(array) for array in arrays]
    avals = [
        array.aval if is_asked else array
        for array, is_asked in zip(arrays[:linear], asked, strict=False)
    ]
    like = tuple([jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals])
    found = apply(transposed, flat, len(dys), like, [*dys, *arrays[linear:]])
    return [dx if is_asked else None for dx, is_asked in zip(found, asked, strict=False)] + [
        None
    ] * (len(arrays) - linear)


ad.primitive_transposes[call] = transpose


def batch(
    arrays: Any, axes: Any, *, flat: Any, transposed: Any, linear: int, shapes: Shapes
) -> Any:
    """Call a function of the whole batch, which runs this one for each element."""
    pairs = list(zip(arrays, axes, strict=True))
    count = next(array.shape[axis] for array, axis in pairs if axis is not None)
    moved = [a if axis is None else jax.numpy.moveaxis(a, axis, 0) for a, axis in pairs]
    # Transposed, a linear argument that all elements share would get the sum of their cotangents.
    for i, (array, axis) in enumerate(pairs[:linear]):
        if axis is None:
            moved[i] = jax.numpy.broadcast_to(array, (count, *array.shape))
    is_batched = [i < linear or axis is not None for i, axis in enumerate(axes)]
    back = None
    if transposed is not None:
        back = looped(transposed, [*[True] * len(shapes), *is_batched[linear:]], count)
    stacked = tuple([jax.ShapeDtypeStruct((count, *s.shape), s.dtype) for s in shapes])
    found = apply(looped(flat, is_batched, count), back, linear, stacked, moved)
    return found, [0] * len(shapes)


batching.primitive_batchers[call] = batch


def looped(flat: FlatDerivatives, is_batched: Sequence[bool], count: int) -> FlatDerivatives:
    """Return a function of batches that runs once for each element."""

    def function(*arrays: Any) -> tuple[Any, ...]:
        rows = []
        for k in range(count):
            pairs = zip(arrays, is_batched, strict=True)
            elements = [array[k] if batched else array for array, batched in pairs]
            # Copies, as the function may change its arguments.
            copies = [e.copy() if isinstance(e, np.ndarray) else e for e in elements]
            rows.append(flat.function(*copies))
        return tuple([np.stack(column) for column in zip(*rows, strict=True)])

    return FlatDerivatives(function, flat.options)
