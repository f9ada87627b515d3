"""Names of NumPy that are no functions of numbers, or are not supported, and why."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["REASONS", "UNSUPPORTED"]


def each(reason: str, names: str) -> Iterator[tuple[str, str]]:
    """Yield each name, all of them in `numpy`, with the reason."""
    for name in names.split():
        yield f"numpy.{name}", reason


REASONS: dict[str, str] = dict([
    *each("constant", """
        False_ True_ ScalarType __version__ e euler_gamma inf nan newaxis pi sctypeDict typecodes
        little_endian
    """),
    *each("type or class of types", """
        __array_namespace_info__ character complexfloating flexible floating generic inexact
        integer number signedinteger unsignedinteger ndarray ufunc dtype
        linalg.LinAlgError random.BitGenerator
    """),
    *each("conversion to integers, booleans, text or dates", """
        bool bool_ byte bytes_ datetime64 int16 int32 int64 int8 int_ intc intp long longlong
        object_ short str_ timedelta64 ubyte uint uint16 uint32 uint64 uint8 uintc uintp ulong
        ulonglong ushort void
    """),
    *each("dates", """
        busday_count busday_offset busdaycalendar datetime_as_string datetime_data is_busday
    """),
    *each("settings and information", """
        errstate get_include geterrcall info printoptions set_printoptions setbufsize seterr
        seterrcall show_config show_runtime test polynomial.set_default_printstyle
        random.get_bit_generator random.set_bit_generator random.Generator.bit_generator
    """),
    *each("module without numbers", """
        char core ctypeslib dtypes exceptions f2py lib rec strings testing typing
    """),
    *each("module with a section of its own", "emath fft linalg polynomial random"),
    *each("iterates over positions", "ndindex"),
    *each("gone in newer versions", """
        in1d trapz ndarray.itemset ndarray.newbyteorder ndarray.ptp ndarray.tostring
    """),
    *each("text: of active numbers it may be written, not read back",
          "fromregex genfromtxt loadtxt savetxt"),
    *each("files: of active arrays they get the numbers, which are not to be read back",
          "save savez savez_compressed ndarray.tofile ndarray.dump"),
    *each("attribute of the array, not of its numbers", """
        ndarray.base ndarray.device ndarray.dtype ndarray.flags ndarray.itemsize ndarray.nbytes
        ndarray.ndim ndarray.shape ndarray.size ndarray.strides
        ufunc.identity ufunc.nargs ufunc.nin ufunc.nout ufunc.ntypes ufunc.signature ufunc.types
        ufunc.resolve_dtypes
    """),
    *(
        (f"numpy.polynomial.{module}.{prefix}{name}", "constant")
        for module, prefix in (
            ("polynomial", "poly"), ("chebyshev", "cheb"), ("legendre", "leg"),
            ("laguerre", "lag"), ("hermite", "herm"), ("hermite_e", "herme"),
        )
        for name in ("domain", "zero", "one", "x")
    ),
    *(
        (f"numpy.polynomial.{module}.{name}", "nodes and weights, which have no argument")
        for module, names in (
            ("chebyshev", "chebgauss chebpts1 chebpts2"), ("legendre", "leggauss"),
            ("laguerre", "laggauss"), ("hermite", "hermgauss"), ("hermite_e", "hermegauss"),
        )
        for name in names.split()
    ),
])  # fmt: skip
"""Names without a derivative that need no rule, because nothing differentiable goes in."""

TESTED_ELSEWHERE = frozenset({
    f"numpy.{name}" for name in ("asmatrix", "bmat", "ma", "matrix", "memmap")
})  # fmt: skip
"""Classes of arrays and what makes them, whose Python source is derived: see tests/language."""

UNSUPPORTED: dict[str, str] = dict([
    *each("record arrays, whose elements are not numbers", "recarray record"),
    *each("gives access to the bytes of an array", """
        frombuffer fromstring ndarray.ctypes ndarray.data ndarray.getfield
        ndarray.tobytes ndarray.to_device
    """),
    *each("another type for the same bytes, unless it shows a complex array as floats",
          "ndarray.view"),
    *each("deprecated: use vstack", "row_stack"),
])  # fmt: skip
"""Names that are refused if something active goes in, in addition to those declared so."""
