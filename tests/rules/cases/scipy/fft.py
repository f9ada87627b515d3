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
        *(Case(f, (z,), options=PLAIN) for f in (sf.fft2, sf.ifft2, sf.fftn, sf.ifftn)),
        Case(sf.fftn, (z, (3, 6)), label="lengths", options=PLAIN),
        Case(sf.fftn, (np.stack([z, z]), None, (0, 2)), label="axes", options=PLAIN),
        *(
            Case(f, (x, kind), {"norm": "ortho"}, f"{kind}", options=PLAIN)
            for f in (sf.dct, sf.idct, sf.dst, sf.idst)
            for kind in (1, 2, 3, 4)
        ),
    ]
