"""Check that tangents, fdata and rdata fit their primal: kind, dtype, shape, fields, sharing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.errors import InvalidTangentError
from mooncake_py.tangents.build import zero_number
from mooncake_py.tangents.builtin_specs import ARRAY, NUMBER, differentiable_array
from mooncake_py.tangents.containers import MUTABLE, parts_of
from mooncake_py.tangents.kinds import FData, NoFData, NoRData, NoTangent, RData, Tangent
from mooncake_py.tangents.lookup import spec_of
from mooncake_py.tangents.memory import Shadows, address
from mooncake_py.tangents.spec import TangentSpec
from mooncake_py.words import text_of_key

__all__ = ["verify_fdata", "verify_rdata", "verify_tangent"]


def verify_fdata(p: Any, f: Any, *, constants: bool = False) -> None:
    """Check fdata against the primal they belong to.

    Parameters
    ----------
    p : object
        The primal.
    f : fdata
    constants : bool
        True accepts ``NoFData()`` in place of the fdata of anything, which marks it as constant.

    Raises
    ------
    InvalidTangentError
        Names the part that is wrong, what was expected and what was found.
    """
    _Check(constants).fdata(p, f, "fdata")


def verify_rdata(p: Any, r: Any) -> None:
    """Check rdata against the primal they belong to.

    Python's `float` and `np.float64` are one format, and either may stand for the other; so are
    `complex` and `np.complex128`.

    Raises
    ------
    InvalidTangentError
        Names the part that is wrong, what was expected and what was found.
    """
    _Check().rdata(p, r, "rdata")


def verify_tangent(p: Any, t: Any) -> None:
    """Check a tangent against the primal it belongs to.

    Raises
    ------
    InvalidTangentError
        Names the part that is wrong, what was expected and what was found.
    """
    _Check().tangent(p, t, "tangent")


class _Check:
    """Walks over a primal and what belongs to it."""

    def __init__(self, constants: bool = False) -> None:
        self.constants = constants
        self.memory = Shadows()
        self.objects: dict[int, tuple[Any, Any]] = {}
        self.primals: dict[int, tuple[Any, Any]] = {}
        self.arrays: dict[int, list[tuple[ndarray, ndarray]]] = {}

    def tangent(self, p: Any, t: Any, path: str) -> None:
        spec = spec_of(p)
        fields = self.fields(spec, p)
        if spec is NUMBER:
            _expect_number(p, t, path)
        elif spec is ARRAY and differentiable_array(p):
            self.array(p, t, path)
        elif fields is None:
            _expect(t is NoTangent(), path, "NoTangent()", t)
        elif spec.container in MUTABLE:
            self.mutable(p, t, fields, spec, path)
        elif t is NoTangent():
            for name, part in fields.items():
                self.tangent(part, t, f"{path}[{text_of_key(name)}]")
        else:
            parts = _parts(t, spec.container, fields, path, NoTangent)
            for name, part in fields.items():
                self.tangent(part, parts[name], f"{path}[{text_of_key(name)}]")

    def fdata(self, p: Any, f: Any, path: str) -> None:
        if self.constants and f is NoFData():
            return
        spec = spec_of(p)
        fields = self.fields(spec, p)
        if spec is ARRAY and differentiable_array(p):
            self.array(p, f, path)
        elif fields is None or spec is NUMBER:
            _expect(f is NoFData(), path, "NoFData()", f)
        elif spec.container in MUTABLE:
            self.mutable(p, f, fields, spec, path, NoFData)
        else:
            kind = FData if spec.container is Tangent else tuple
            constant = f is NoFData()
            parts = dict.fromkeys(fields, f) if constant else _parts(f, kind, fields, path, NoFData)
            for name, part in fields.items():
                self.fdata(part, parts[name], f"{path}[{text_of_key(name)}]")

    def rdata(self, p: Any, r: Any, path: str) -> None:
        spec = spec_of(p)
        fields = self.fields(spec, p)
        if spec is NUMBER:
            _expect_number(p, r, path)
        elif fields is None or spec.container in MUTABLE:
            _expect(r is NoRData(), path, "NoRData()", r)
        else:
            kind = RData if spec.container is Tangent else tuple
            nothing = r is NoRData()
            parts = dict.fromkeys(fields, r) if nothing else _parts(r, kind, fields, path, NoRData)
            for name, part in fields.items():
                self.rdata(part, parts[name], f"{path}[{text_of_key(name)}]")

    def fields(self, spec: TangentSpec, p: Any) -> Any:
        return None if spec is NUMBER or spec is ARRAY else spec.fields(p)

    def array(self, p: ndarray, d: Any, path: str) -> None:
        expected = f"ndarray of {p.dtype}, shape {p.shape}"
        ok = type(d) is ndarray and d.dtype == p.dtype and d.shape == p.shape
        _expect(ok, path, expected, d)
        known = self.arrays.setdefault(id(self.memory.block(p)), [])
        for other, shadow in known:
            if np.may_share_memory(p, other) and p.size:
                ok = address(p) - address(other) == address(d) - address(shadow)
                _expect(ok, path, "the same view of the shadow that the primal is of its owner", d)
        known.append((p, d))

    def mutable(
        self, p: Any, t: Any, fields: Any, spec: TangentSpec, path: str, empty: type = NoTangent
    ) -> None:
        known = self.objects.get(id(p))
        if known is not None:
            _expect(known[1] is t, path, "the one tangent of an object met before", t)
            return
        self.objects[id(p)] = p, t
        other, _ = self.primals.setdefault(id(t), (p, t))
        _expect(other is p or t is empty(), path, "a tangent that no other object has", t)
        if not spec.mutable and t is empty():  # a method or partial of which no part has a tangent
            t = NoTangent()
            parts = dict.fromkeys(fields, t)
        else:
            _expect(type(t) is spec.container, path, spec.container.__name__, t)
            parts = _parts(t, spec.container, fields, path, NoTangent)
        for name, part in fields.items():
            self.tangent(part, parts[name], f"{path}[{text_of_key(name)}]")


def _parts(t: Any, kind: type, fields: Any, path: str, empty: type) -> Any:
    """Return the parts of a container of the right kind, with the right fields, not collapsible."""
    _expect(type(t) is kind, path, kind.__name__, t)
    parts = parts_of(t)
    expected = f"{kind.__name__} with the parts {list(fields)}"
    _expect(parts.keys() == fields.keys(), path, expected, t)
    if kind not in MUTABLE:
        some = any(part is not empty() for part in parts.values())
        _expect(some, path, f"{empty.__name__}(), since all parts are", t)
    return parts


def _expect_number(p: Any, r: Any, path: str) -> None:
    kind = type(zero_number(p))
    double = {float: np.float64, np.float64: float, complex: np.complex128, np.complex128: complex}
    _expect(type(r) in (kind, double.get(kind, kind)), path, kind.__name__, r)


def _expect(ok: bool, path: str, expected: str, got: Any) -> None:
    if ok:
        return
    found = f"{type(got).__qualname__} {got!r:.60}"
    if issubclass(type(got), ndarray):
        found = f"{type(got).__qualname__} of {got.dtype}, shape {got.shape}"
    raise InvalidTangentError(
        f"{path} does not fit its primal",
        why=f"expected: {expected}\ngot:      {found}",
        fix="build it with zero_tangent or randn_tangent of the primal",
    )
