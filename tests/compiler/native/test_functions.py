"""Functions of NumPy in compiled code: derivatives are those without, or it is refused."""

from __future__ import annotations

from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import value_and_grad
from tests.programs.comparing import function_of

pytestmark = pytest.mark.plain

rng = np.random.default_rng(1)
ARGUMENTS = tuple(rng.standard_normal(shape) for shape in (4, 4, (4, 4), (4, 3)))
COMPILED = [
    "np.vdot(x,y)",
    "np.inner(x,y)",
    "np.sum(np.outer(x,y)*A)",
    "np.sum(np.dot(x,B)**2)",
    "np.sum(np.dot(A,x)**3)",
    "np.sum(A.T @ x * y)",
    "np.sum(B.T @ x)",
    "np.sum(np.sum(B,axis=0)**2)",
    "np.sum(np.sum(B,axis=-1)*x)",
    "np.sum(B/np.sum(B,axis=1,keepdims=True))",
    "np.sum(A,axis=(0,1))*x[0]",
    "np.mean(A,axis=0)@x",
    "np.std(A)+np.std(B,axis=0).sum()",
    "np.var(x)+A.var(axis=1).sum()",
    "np.linalg.norm(x)+np.linalg.norm(A)",
    "np.sum(np.where(A>0,A*x,y[:,None]))",
    "np.where(x>0,x,0.0).sum()+np.where(x>0,1,x).sum()",
    "np.maximum(x,0).sum()+np.minimum(x,y).sum()",
    "np.diag(A)@x+np.diagonal(A).sum()",
    "np.flip(x)@y+np.flip(A,0)[0]@x+np.sum(np.flip(A)[0]*x)",
    "x[3:0:-1]@y[:3]+x[::2]@y[1::2]+A[::2,::-1].sum()",
    "np.sum(np.abs(x)**1.5)+np.sum(x**3)+np.sum(np.power(np.abs(x)+1,y))",
    "np.sum(2.0**x)+np.sum((np.abs(x)+1)**-2)",
    "np.sum(np.mod(x,0.7))",
    "np.sum(np.floor(x*3)*x)",
    "np.sum(np.arctan2(x,y)*np.hypot(x,y))",
    "np.sum(np.log(np.abs(x)+1)+np.log1p(x*x)+np.expm1(x)+np.exp2(x)+np.cbrt(np.abs(x)+1))",
    "np.sum(np.square(x)+np.sqrt(np.abs(y))+np.reciprocal(x))",
    "np.sum(np.sign(x)*y+np.copysign(x,y)+np.fabs(y))",
    "np.sum(np.ones((2,4))*x+np.full(4,x[0])+np.zeros_like(A)[0])",
    "x[-1]*A[-1,-2]+A[-1]@x",
    "np.sum(x[:,None]*y[None,:]*A)",
    "np.sum((x>0)*y)+np.sum(x*(y<x))",
    "(x.copy()*A.T.copy()[1]).sum()+np.copy(x)@y",
    "A.size*x[0]+A.ndim*A.shape[1]+len(A)*x[1]",
    "np.transpose(B)[0]@x",
    "np.subtract(x,y)@np.multiply(x,2)+np.divide(x,3).sum()+np.negative(x).sum()",
    "np.trace(A)*np.trace(A@A)",
    "np.sum(np.triu(A)*2+np.tril(A@A,-1)-np.triu(B@B.T,k=1))+np.sum(np.tril(B,1)**2)",
    "np.sum((np.eye(4)+np.identity(4)*2-np.eye(4,4,1)*x)@A)+np.sum(np.eye(4,3,k=-1)*B)",
    "np.zeros(A.shape[:1]).sum()+np.ones(B.shape[::-1])[0]@x",
]
REFUSED = [
    "np.inner(x,A).sum()",
    "np.vdot(A,A)*x[0]",
    "np.clip(x,-.5,.5).sum()",
    "np.diag(x).sum()",
    "np.triu(x).sum()",
    "x[x>0].sum()",
    "(x*3).astype(int).sum()*y[0]",
    "min(x[0],y[0],A[0,0])*max(x[1],2)",
    "np.cumsum(x).sum()",
]


def both(text: str):
    """Return value and gradients, without and with compilation."""
    f = function_of(
        f"import numpy as np\ndef f(x, y, A, B):\n    return {text}\n", f"<function {text}>"
    )
    with catch_warnings():
        simplefilter("ignore")
        return [
            value_and_grad(f, (0, 1, 2, 3), compile=compile)(*map(np.copy, ARGUMENTS))
            for compile in (False, True)
        ]


def check(text: str) -> None:
    (value, g), (compiled, h) = both(text)
    assert type(compiled) is type(value)
    assert_allclose(compiled, value, rtol=1e-12)
    for a, b in zip(g, h, strict=True):
        assert_allclose(b, a, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("text", COMPILED)
def test_compiled(text: str, tried: list[bool]) -> None:
    check(text)
    assert tried == [True]


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str, tried: list[bool]) -> None:
    check(text)
    assert tried == []
