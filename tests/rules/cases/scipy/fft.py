"""Cases for `scipy.fft`."""

from __future__ import annotations

import numpy as np
import scipy.fft as sf

from tests.rules.cases import Case
from tests.rules.cases.drawing import draw

__all__ = ["cases"]

PLAIN = {"layouts": False, "dtypes": False}


def cases() -> list[Case]:
    """All cases of the family."""
    x, z = draw(2, 5), draw(2, 5, dtype=complex)
    return [
        *(
            Case(f, (v, n), {"norm": norm}, f"{v.dtype}-{n}-{norm}", options=PLAIN)
            for f, kinds in ((sf.fft, (x, z)), (sf.ifft, (x, z)), (sf.rfft, (x,)), (sf.irfft, (z,)))
            for v in kinds
            for n in (None, 4, 7)
            for norm in (None, "ortho", "forward")
        ),
        Case(sf.fft, (z,), {"axis": 0}, "axis", options=PLAIN),
        *(
            Case(f, (v, n), {"norm": norm}, f"{n}-{norm}", options=PLAIN)
            for f, v in ((sf.hfft, z), (sf.ihfft, x))
            for n in (None, 4, 7)
            for norm in (None, "ortho", "forward")
        ),
        *(
            Case(getattr(sf, kind + suffix), (v, s, axes), {"norm": norm},
                 f"{s}-{axes}-{norm}", options=PLAIN)
            for kind, v in (("fft", z), ("ifft", z), ("rfft", x), ("irfft", z), ("hfft", z),
                            ("ihfft", x))
            for suffix in ("2", "n")
            for s, axes, norm in ((None, (0, 1), None), ((3, 4), (1, 0), "forward"),
                                  ((4, 6), (-2, -1), "ortho"))
        ),
        Case(sf.rfftn, (draw(2, 3, 4),), label="all", options=PLAIN),
        Case(sf.irfftn, (draw(2, 3, 4, dtype=complex), (4,)), label="one-length", options=PLAIN),
        Case(sf.ihfftn, (draw(2, 3, 4), 5, 1), label="one-axis", options=PLAIN),
        *(Case(f, (z,), options=PLAIN) for f in (sf.fft2, sf.ifft2, sf.fftn, sf.ifftn)),
        Case(sf.fftn, (z, (3, 6)), label="lengths", options=PLAIN),
        Case(sf.fftn, (np.stack([z, z]), None, (0, 2)), label="axes", options=PLAIN),
        *(
            Case(f, (x, kind, n), {"norm": norm, "orthogonalize": orthogonalize},
                 f"{kind}-{n}-{norm}-{orthogonalize}", options=PLAIN)
            for f in (sf.dct, sf.idct, sf.dst, sf.idst)
            for kind in (1, 2, 3, 4)
            for n, norm, orthogonalize in (
                (None, None, None), (None, "ortho", None), (3, "forward", None),
                (7, "ortho", False), (None, "backward", True),
            )
        ),
        Case(sf.dct, (z, 3), {"axis": 0}, "complex", options=PLAIN),
        *(
            Case(f, (x, kind), {"s": s, "axes": axes, "norm": norm}, f"{kind}-{s}-{axes}",
                 options=PLAIN)
            for f in (sf.dctn, sf.idctn, sf.dstn, sf.idstn)
            for kind, s, axes, norm in ((2, None, None, None), (3, (3, 4), (1, 0), "forward"),
                                        (1, 4, 1, "ortho"), (2, (6,), None, None))
        ),
        *(
            Case(f, (v,), {"dln": 0.1, "mu": 0.5, "offset": 0.2, "bias": bias}, f"{v.shape}-{bias}",
                 options=PLAIN)
            for f in (sf.fht, sf.ifht)
            for v in (draw(5), draw(2, 6))
            for bias in (0.0, -0.3)
        ),
    ]  # fmt: skip
