"""Objects in C that callbacks of solvers move on: the program finds them as in the plain call."""

from __future__ import annotations

import gc
import gzip
import hashlib
import hmac
import io
import tempfile
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from mooncake_py import checkpoint, value_and_grad

optimize = pytest.importorskip("scipy.optimize")


def zipped() -> Any:
    to = io.BytesIO()
    return to, gzip.GzipFile(fileobj=to, mode="wb", mtime=0)


def unzipped(o: Any) -> bytes:
    o[1].close()
    return gzip.decompress(o[0].getvalue())


# How an object is made, used, and read.
OBJECTS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "hash": (hashlib.md5, lambda h: h.update(b"a"), lambda h: h.hexdigest()),
    "keyed hash": (
        lambda: hmac.new(b"key", digestmod="sha256"),
        lambda h: h.update(b"a"),
        lambda h: h.hexdigest(),
    ),
    "compressor": (zlib.compressobj, lambda c: c.compress(b"ab"), lambda c: c.flush()),
    "gzip": (zipped, lambda o: o[1].write(b"ab"), unzipped),
    "spooled file": (
        lambda: tempfile.SpooledTemporaryFile(64),  # noqa: SIM115 - it is in memory
        lambda o: o.write(b"a"),
        lambda o: (o.tell(), o.close())[0],
    ),
}


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # a second run closes nothing
@pytest.mark.parametrize("name", OBJECTS)
def test_it_is_used_as_often_as_in_the_plain_call(name: str) -> None:
    make, use, read = OBJECTS[name]

    def f(x: Any) -> Any:
        o = make()

        def residual(p: Any) -> Any:
            use(o)
            return p**3 + p - x

        return optimize.brentq(residual, 0.0, 5.0), read(o)

    expected = f(2.0)
    for derived in (f, lambda x: checkpoint(f, x)):
        found, slope = value_and_grad(derived, has_aux=True)(2.0)
        assert found == expected
        assert slope == pytest.approx(0.25)
    gc.collect()
