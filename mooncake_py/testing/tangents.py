"""Check the tangents of a value, above all of a user-defined type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import InvalidTangentError, MooncakeError, RuleTestError
from mooncake_py.tangents import (
    NoTangent,
    add_to_primal,
    difference,
    dot,
    fdata,
    fdata_type,
    increment,
    increment_rdata,
    instance_of,
    randn_tangent,
    rdata,
    rdata_type,
    scale,
    set_to_zero,
    tangent,
    tangent_type,
    typeof,
    verify_fdata,
    verify_rdata,
    verify_tangent,
    zero_rdata,
    zero_tangent,
)
from mooncake_py.tangents.builtin_specs import ARRAY, NUMBER
from mooncake_py.tangents.containers import IMMUTABLE, MUTABLE, is_number, parts_of
from mooncake_py.tangents.equality import tangent_mismatch, value_mismatch
from mooncake_py.tangents.kinds import key_name
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.words import text_of_key, with_article

__all__ = ["test_tangent"]


def test_tangent(
    value: Any,
    rng: np.random.Generator | None = None,  # noqa: PT028  (no pytest test)
) -> None:
    """Check every operation on the tangents of a value; call it for each type with a spec.

    Parameters
    ----------
    value : object
        An example, preferably with all fields set and with parts that share memory.  It is not
        changed.
    rng : numpy.random.Generator, optional
        Generator of the random tangents; the default has a fixed seed.

    Raises
    ------
    RuleTestError
        If a check fails.  The message names the check, the part of the value, and the expected and
        actual values.

    Examples
    --------
    >>> test_tangent({"w": np.ones((2, 3)), "bias": 0.5, "name": "layer"})
    """
    rng = np.random.default_rng(0) if rng is None else rng
    case = _Case(value, int(rng.integers(2**32)))
    for subject, check in _CHECKS.items():
        try:
            check(case)
        except _Defect as defect:
            raise _failure(subject, value, str(defect)) from defect
        except MooncakeError as error:
            raise _failure(subject, value, f"{error.what}\n{error.why}") from error
        except Exception as error:
            error.add_note(f"while test_tangent checked: {subject}")
            raise


test_tangent.__test__ = False  # pyright: ignore[reportFunctionMemberAccess]


def _failure(subject: str, value: Any, why: str) -> RuleTestError:
    spec = type(spec_of(value)).__qualname__
    return RuleTestError(
        f"test_tangent failed for {with_article(type(value).__qualname__)}: {subject}",
        why=why,
        fix=f"correct the fields, blank and fill (or build) of its spec: {spec}",
    )


class _Defect(Exception):
    """A failed check at a part of the value."""

    def __init__(self, path: str, expected: Any, got: Any) -> None:
        super().__init__(f"at:       value{path}\nexpected: {expected}\ngot:      {got}")


class _Case:
    """One value and its type keys; each check makes new tangents, which it may change."""

    def __init__(self, value: Any, seed: int) -> None:
        self.value = value
        self.seed = seed

    @property
    def key(self) -> Any:
        return tangent_type(typeof(self.value))

    @property
    def zero(self) -> Any:
        return zero_tangent(self.value)

    def random(self, draw: int = 0) -> Any:
        return randn_tangent(np.random.default_rng([self.seed, draw]), self.value)


def _check_fields_stable(case: _Case) -> None:
    for path, first, second in _field_pairs(case.value, "", {}):
        same = first is second
        if issubclass(type(first), ndarray) and issubclass(type(second), ndarray):
            same = np.shares_memory(first, second) or not first.size
        if not same and _has_address(first):
            raise _Defect(path, "the same part at each call", "a new copy")


def _check_zero(case: _Case) -> None:
    verify_tangent(case.value, case.zero)
    verify_tangent((case.value, case.value), zero_tangent((case.value, case.value)))


def _check_random(case: _Case) -> None:
    verify_tangent(case.value, case.random())


def _check_type(case: _Case) -> None:
    for t in (case.zero, case.random()):
        if not instance_of(t, case.key):
            raise _Defect("", key_name(case.key), t)


def _check_strides(case: _Case) -> None:
    for path, p, t in _array_pairs(case.value, case.zero, "", {}):
        if p.size > 1 and p.strides != t.strides:
            raise _Defect(path, f"strides {p.strides}", f"strides {t.strides}")


def _check_views(case: _Case) -> None:
    for _, p, _ in _array_pairs(case.value, case.zero, "", {}):
        views = (p, p[::-1] if p.ndim else p.reshape(1), p.T, p[..., None])
        verify_tangent((case.value, *views), zero_tangent((case.value, *views)))


def _check_deterministic(case: _Case) -> None:
    _expect_same(case.zero, case.zero)


def _check_self_equal(case: _Case) -> None:
    t = case.random()
    _expect_same(t, t)
    mismatch = value_mismatch(case.value, case.value)
    if mismatch:
        raise _Defect(*mismatch)


def _check_sum_with_zero(case: _Case) -> None:
    _expect_same(case.zero, increment(case.zero, case.zero))
    _expect_same(case.random(), increment(case.zero, case.random()))
    _expect_same(case.random(), increment(case.random(), case.zero))


def _check_sum_in_place(case: _Case) -> None:
    t = case.random()
    total = increment(t, case.random(1))
    if _has_address(t) and total is not t:
        raise _Defect("", "the first argument itself", "another object")
    verify_tangent(case.value, total)


def _check_sum_changes(case: _Case) -> None:
    if (
        _count(case.value)
        and tangent_mismatch(increment(case.random(), case.random()), case.random()) is None
    ):
        raise _Defect("", "another tangent", case.random())


def _check_set_to_zero(case: _Case) -> None:
    t = case.random()
    for _ in range(2):
        zeroed = set_to_zero(t)
        _expect_same(case.zero, zeroed)
        if _has_address(t) and zeroed is not t:
            raise _Defect("", "the argument itself", "another object")


def _check_dot(case: _Case) -> None:
    t = case.random()
    norm = dot(t, t)
    if type(norm) is not float:
        raise _Defect("", "float", norm)
    for expected, got in (
        (0.0, dot(t, case.zero)),
        (abs(norm), norm),
        (2 * norm, dot(t, increment(case.random(), case.random()))),
    ):
        if not np.isclose(expected, got, rtol=_precision(case.value), atol=0):
            raise _Defect("", expected, got)
    if _count(case.value) and not norm > 0:
        raise _Defect("", "dot(t, t) > 0", norm)


def _check_scale(case: _Case) -> None:
    t = case.random()
    _expect_same(t, scale(1.0, t))
    double = scale(2.0, t)
    verify_tangent(case.value, double)
    _expect_same(case.random(), t)
    _expect_same(increment(case.random(), case.random()), double)


def _check_move_type(case: _Case) -> None:
    before = list(_leaves(case.value, {}))
    moved = add_to_primal(case.value, case.random())
    if type(moved) is not type(case.value):
        expected = type(case.value).__qualname__
        raise _Defect("", expected, type(moved).__qualname__)
    if spec_of(moved).mutable and spec_of(moved).fields(moved) is not None and moved is case.value:
        raise _Defect("", "a new value", "the value itself")
    after = list(_leaves(case.value, {}))
    if value_mismatch(before, after):
        raise _Defect("", "the value left unchanged", "a changed value")
    verify_tangent(moved, zero_tangent(moved))


def _check_move_nowhere(case: _Case) -> None:
    mismatch = value_mismatch(case.value, add_to_primal(case.value, case.zero))
    if mismatch:
        raise _Defect(*mismatch)


def _check_move_sharing(case: _Case) -> None:
    moved = add_to_primal(case.value, case.random())
    zero = case.zero
    verify_tangent(moved, zero)
    verify_tangent(case.value, zero_tangent(moved))


def _check_difference(case: _Case) -> None:
    if not all(np.all(np.isfinite(leaf)) for leaf in _leaves(case.value, {})):
        return  # inf - inf is nan
    _expect_same(case.zero, difference(case.value, case.value))
    t = case.random()
    error = increment(difference(add_to_primal(case.value, t), case.value), scale(-1.0, t))
    size = sum(float(np.sum(np.abs(leaf))) for leaf in _leaves(case.value, {}))
    bound = _precision(case.value) * (1 + size + np.sqrt(dot(t, t)))
    got = np.sqrt(dot(error, error))
    if not got <= bound:
        raise _Defect("", f"error below {bound:.1e}", f"error {got:.1e}")


def _check_move_changes(case: _Case) -> None:
    finite = all(np.all(np.isfinite(leaf)) for leaf in _leaves(case.value, {}))
    moved = add_to_primal(case.value, case.random())
    if finite and _count(case.value) and value_mismatch(case.value, moved) is None:
        raise _Defect("", "another value", "an equal value")


def _check_split(case: _Case) -> None:
    for t in (case.zero, case.random()):
        verify_fdata(case.value, fdata(t))
        verify_rdata(case.value, rdata(t))


def _check_split_types(case: _Case) -> None:
    f_key, r_key = fdata_type(case.key), rdata_type(case.key)
    t = case.random()
    if not instance_of(fdata(t), f_key):
        raise _Defect("", key_name(f_key), fdata(t))
    if not instance_of(rdata(t), r_key):
        raise _Defect("", key_name(r_key), rdata(t))
    if tangent_type(f_key, r_key) != case.key:
        got = key_name(tangent_type(f_key, r_key))
        raise _Defect("", key_name(case.key), got)


def _check_join(case: _Case) -> None:
    t = case.random()
    joined = tangent(fdata(t), rdata(t))
    _expect_same(t, joined)
    for path, part, other in _addressed_pairs(t, joined, ""):
        if part is not other:
            raise _Defect(path, "the same object", "another object")
    _expect_same(fdata(t), fdata(joined))
    _expect_same(rdata(t), rdata(joined))


def _check_zero_rdata(case: _Case) -> None:
    zero = case.zero
    _expect_same(rdata(zero), zero_rdata(case.value))
    _expect_same(zero, tangent(fdata(zero), zero_rdata(case.value)))


def _check_rejection(case: _Case) -> None:
    for verify in (verify_fdata, verify_rdata):
        for wrong in (0, int, object()):
            try:
                verify(case.value, wrong)
            except InvalidTangentError:
                continue
            raise _Defect("", f"{verify.__name__} rejects {wrong!r}", "accepted")


def _check_increments(case: _Case) -> None:
    verify_fdata(case.value, increment(fdata(case.random()), fdata(case.random(1))))
    t = case.random()
    total = increment_rdata(t, rdata(case.random(1)))
    _expect_same(fdata(case.random()), fdata(total))
    expected = increment(rdata(case.random()), rdata(case.random(1)))
    _expect_same(expected, rdata(total))


# The message of a check that fails, and the check.
_CHECKS: dict[str, Callable[[_Case], None]] = {
    "fields() returns the parts themselves, the same at each call": _check_fields_stable,
    "the zero tangent fits its primal: kinds, dtypes, shapes, sharing": _check_zero,
    "a random tangent fits its primal: kinds, dtypes, shapes, sharing": _check_random,
    "tangents are instances of tangent_type(typeof(value))": _check_type,
    "tangents of arrays have the strides of the arrays": _check_strides,
    "a view of an array has the same view of its tangent": _check_views,
    "two zero tangents of a value are equal": _check_deterministic,
    "a value and its random tangent equal themselves": _check_self_equal,
    "z + z == z, z + t == t and t + z == t": _check_sum_with_zero,
    "increment returns a mutable tangent itself, which fits the primal": _check_sum_in_place,
    "t + t differs from t": _check_sum_changes,
    "set_to_zero gives the zero tangent, in place, also when repeated": _check_set_to_zero,
    "dot is a float, zero with zero, positive and linear": _check_dot,
    "scale(1, t) == t and scale(2, t) == t + t, as new tangents": _check_scale,
    "add_to_primal returns a new value of the same structure": _check_move_type,
    "the value plus the zero tangent equals the value": _check_move_nowhere,
    "value + t shares objects and memory as the value does": _check_move_sharing,
    "difference(value + t, value) is t; difference(value, value) is zero": _check_difference,
    "the value plus a random tangent differs from the value": _check_move_changes,
    "fdata and rdata fit the primal": _check_split,
    "fdata and rdata have their types, which join to the tangent type": _check_split_types,
    "tangent(fdata(t), rdata(t)) is t, with the same mutable parts": _check_join,
    "zero_rdata(value) is the rdata of the zero tangent": _check_zero_rdata,
    "verify_fdata and verify_rdata reject what does not belong": _check_rejection,
    "fdata and rdata are incremented, each leaving the other alone": _check_increments,
}


def _expect_same(expected: Any, got: Any) -> None:
    mismatch = tangent_mismatch(expected, got)
    if mismatch:
        raise _Defect(*mismatch)


def _has_address(t: Any) -> bool:
    if isinstance(t, ndarray) or type(t) in MUTABLE:
        return True
    if is_number(t) or type(t) in IMMUTABLE:
        return False
    spec = spec_of(t)
    return spec.differentiable and spec.mutable and spec.fields(t) is not None


def _fields(p: Any) -> Any:
    spec = spec_of(p)
    return None if spec is NUMBER or spec is ARRAY else spec.fields(p)


def _field_pairs(p: Any, path: str, seen: dict[int, Any]) -> Iterator[tuple[str, Any, Any]]:
    first, second = _fields(p), _fields(p)
    if id(p) in seen or first is None or second is None:
        return
    seen[id(p)] = p
    for key in first:
        if key in second:
            yield f"{path}[{text_of_key(key)}]", first[key], second[key]
            yield from _field_pairs(first[key], f"{path}[{text_of_key(key)}]", seen)


def _array_pairs(
    p: Any, t: Any, path: str, seen: dict[int, Any]
) -> Iterator[tuple[str, ndarray, ndarray]]:
    if isinstance(t, ndarray):
        yield path, p, t
    fields = _fields(p)
    if id(p) in seen or fields is None or t is NoTangent():
        return
    seen[id(p)] = p
    for key in fields:
        yield from _array_pairs(fields[key], parts_of(t)[key], f"{path}[{text_of_key(key)}]", seen)


def _addressed_pairs(t: Any, s: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(t, ndarray) or type(t) in MUTABLE:
        yield path, t, s
    elif type(t) in IMMUTABLE:
        for key, part in parts_of(t).items():
            yield from _addressed_pairs(part, parts_of(s)[key], f"{path}[{text_of_key(key)}]")


def _leaves(p: Any, seen: dict[int, Any]) -> Iterator[Any]:
    """Yield copies of the numbers and arrays that have a derivative."""
    if is_number(p):
        yield p
    elif issubclass(type(p), ndarray):
        if p.dtype.kind in "fc":
            yield p.copy()
    elif id(p) not in seen:
        seen[id(p)] = p
        for part in (_fields(p) or {}).values():
            yield from _leaves(part, seen)


def _count(p: Any) -> int:
    return sum(np.size(leaf) for leaf in _leaves(p, {}))


def _precision(p: Any) -> float:
    """Return the bound on relative rounding errors in the coarsest dtype of a value."""
    epsilons = [np.finfo(np.asarray(leaf).dtype).eps for leaf in _leaves(p, {})]
    return 64 * float(max(epsilons, default=0.0))
