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
    "np.max(x)*x.max()+np.min(A)+np.max(B,axis=0)@B[0]+B.min(axis=-1)@x",
    "np.sum(B-np.max(B,axis=1,keepdims=True))*np.max(A,axis=(0,1))",
    "np.log(np.sum(np.exp(x-np.max(x))))+max(x)*min(y)+sum(x*y)",
    "x[np.argmax(y)]+y[x.argmin()]*A[np.argmax(A,axis=0)[1],2]+x[np.argmin(A)%4]",
    "np.any(x>0)*x[0]+np.all(x<9)*y[0]+np.count_nonzero(x>y)*x[1]+(x>0.1).sum()*y[1]",
    "np.clip(x,-.5,.5).sum()+x.clip(-1.0,y).sum()+np.clip(x,y,2.0)@y",
    "np.prod(x)+x.prod()*y[0]+np.prod(B,axis=0).sum()+np.prod(B,axis=1)@x",
    "np.cumsum(x)@y+np.cumprod(x+1)@y+np.sum(np.cumsum(B,axis=0)*B)+np.sum(B.cumsum(axis=1)**2)",
    "np.sum(np.diff(x)**2)+np.sum(np.diff(B)*B[:,1:])+np.sum(np.diff(B,axis=0)**3)",
    "np.sum(np.roll(x,1)*y)+np.roll(x,-3)@y+np.sum(np.roll(B,5,axis=0)*B)+np.roll(x,len(y)*2)@y",
    "np.sum(np.roll(B,(1,-2),axis=(0,1))*B)+np.sum(np.roll(B,2,axis=(0,1))*B)",
    "np.sum(np.roll(A,(1,len(x)+1),(-1,-1))*B[:,:1])+np.sum(np.roll(A,(3,),axis=(1,))*y)",
    "np.concatenate((x,y[1:],B[0]))@np.concatenate([y,x[:3],B[1]])",
    "np.sum(np.concatenate((A,B),axis=1)**2)+np.sum(np.vstack((x,A,y))**3)",
    "np.sum(np.stack((x,y),axis=1)*np.stack([y,x]).T)+np.sum(np.column_stack((x,A))**2)",
    "np.hstack((x,1.0,y[0]))@np.hstack((y,x[1],2))+np.sum(np.hstack([A,B])**2)",
    "np.array([x[0],2,y[1]*x[1]])@B[0]+np.sum(np.array([[x[0],1.0],[y[0],x[2]]])**2)",
    "np.sum(np.array(x)*np.asarray(y))+np.sum(np.array([x,y])*np.array((y,A[0])))",
    "np.linspace(0.0,1.0,4)@x+np.linspace(x[0],y[0],5).sum()+np.linspace(2,x[1]).sum()",
    "np.arange(4)@x+np.sum(x[np.arange(3,-1,-1)]*y)+np.sum(np.arange(1,5)*y)+np.arange(1,8,2)@x",
    "np.sum(A.flatten()*np.arange(16))+x[np.searchsorted(np.linspace(-1.0,1.0,3),y[0])]",
    "np.interp(x[0],np.linspace(-1.0,1.0,4),y)+np.sum(np.interp(x*3,np.cumsum(y*y),A[0]))",
    "np.interp(9.0,np.arange(4)*1.0,x)+np.interp(-9.0,np.arange(4)*1.0,x*y)",
    "x[np.sum(np.searchsorted(np.cumsum(y*y),np.abs(x),side='right'))%4]",
    "(x*3).astype(int).sum()*y[0]",
    "np.sum(np.cross(x[:3],y[1:])*B[0])",
    "np.subtract(x,y)@np.multiply(x,2)+np.divide(x,3).sum()+np.negative(x).sum()",
    "np.trace(A)*np.trace(A@A)",
    "np.sum(np.triu(A)*2+np.tril(A@A,-1)-np.triu(B@B.T,k=1))+np.sum(np.tril(B,1)**2)",
    "np.sum((np.eye(4)+np.identity(4)*2-np.eye(4,4,1)*x)@A)+np.sum(np.eye(4,3,k=-1)*B)",
    "min(x[0],y[0],A[0,0])*max(x[1],2)",
    "x[x>0].sum()",
    "np.array(x,dtype=None)@y+np.zeros_like(A,dtype=None)[0]@x+np.ones(4,dtype=None)@y",
    "np.sum(np.diagonal(A*A)**2)+np.diag(A+y)@x",
    "np.zeros(A.shape[:1]).sum()+np.ones(B.shape[::-1])[0]@x",
]
REFUSED = [
    "np.triu(x).sum()",
    "np.cumsum(A).sum()",
    "np.max(x>0)*x[0]",
    "np.sum(np.roll(A,1)*A.T)",
    "np.sum(np.roll(A,(1,2),axis=1)*A.T)",
    "np.sum(np.roll(A,1,axis=())*A.T)",
]


def program(text: str):
    """Return a function of the arguments that returns an expression."""
    return function_of(
        f"import numpy as np\ndef f(x, y, A, B):\n    return {text}\n", f"<function {text}>"
    )


def both(text: str):
    """Return value and gradients, without and with compilation."""
    f = program(text)
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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", COMPILED)
def test_compiled(text: str, tried: list[bool]) -> None:
    check(text)
    assert tried == [True]


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str, tried: list[bool]) -> None:
    check(text)
    assert tried == []


@pytest.mark.parametrize(
    "text", ["np.linalg.norm(x*0)", "np.std(x*0+1)", "np.std(B*0,axis=0).sum()", "B.std()*0+x[0]"]
)
def test_lengths_of_zero_have_the_derivative_of_their_rules(text: str, tried: list[bool]) -> None:
    check(text)
    assert tried == [True]


@pytest.mark.parametrize(
    "made",
    [
        "np.array(k, dtype=None)",
        "np.asarray(k, dtype=None)",
        "np.asarray([7, 2], dtype=None)",
        "np.full(2, 7, dtype=None)",
        "np.full_like(k, 7, dtype=None)",
        "np.zeros_like(k, dtype=None)",
        "np.ones_like(k, dtype=None)",
    ],
)
def test_no_dtype_is_that_of_the_numbers(made: str) -> None:
    f = function_of(
        f"import numpy as np\ndef f(x, k):\n    u = {made}\n"
        "    u[0] = 5.7\n    return x[0] * u[0]\n",
        f"<array {made}>",
    )
    x = np.array([0.7, 1.3])
    value, g = value_and_grad(f, compile=True)(x, np.array([7, 2]))
    assert value == f(x, np.array([7, 2])) == 3.5
    assert_allclose(g, [5.0, 0.0])


@pytest.mark.parametrize("made", ["np.diagonal(A * y)", "np.diag(A @ A)", "np.diagonal(A)"])
@pytest.mark.parametrize("write", ["d[0] = 5.0", "d += x", "d[:] = 0.0", "d.fill(1.0)"])
def test_diagonals_are_not_written(made: str, write: str) -> None:
    f = function_of(
        "import numpy as np\ndef f(x, y, A, B):\n"
        f"    d = {made}\n    {write}\n    return np.sum(d * x)\n",
        f"<diagonal {made} {write}>",
    )
    with pytest.raises(ValueError, match="read-only"):
        value_and_grad(f, (0, 2), compile=True)(*map(np.copy, ARGUMENTS))


def test_len_of_names_that_never_change_is_known(tried: list[bool]) -> None:
    names = ("north", "south", "east", "west")

    def f(x):
        return np.sum(np.zeros(len(names)) + x[: len(names)] ** 2) * len("text")

    value, gradient = value_and_grad(f, compile=True)(ARGUMENTS[0].copy())
    assert_allclose(value, f(ARGUMENTS[0]))
    assert_allclose(gradient, 8.0 * ARGUMENTS[0])
    assert tried == [True]


MISTAKES = [
    "np.sum(x,axis=1)",
    "np.mean(A,axis=2)@x",
    "np.mean(A,axis=(0,0)).sum()",
    "np.std(x,axis=-2)",
    "np.flip(x,axis=1).sum()",
    "np.sum(x,0,1)",
    "np.cumsum(x,axis=1)[0]",
    "x[0] @ x[1]",
    "(x @ 2.0).sum()",
    "np.matmul(2.0,x).sum()",
    "((x * 1j) @ 2.0).real.sum()",
    "np.matmul(x * 1j,2.0j).real.sum()",
    "abs(x[0],key=2)",
    "x[0]*int(x[0],base=10)",
    "x[0]*len(x,key=2)",
]


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_raise_what_numpy_raises(text: str, tried: list[bool]) -> None:
    f = program(text)
    with pytest.raises((TypeError, ValueError)) as plain:
        f(*ARGUMENTS)
    with pytest.raises(plain.type) as compiled:
        value_and_grad(f, (0, 1), compile=True)(*ARGUMENTS)
    assert compiled.type is plain.type
    if "float64" not in str(plain.value):  # an element is a float in a derivative
        assert str(compiled.value) == str(plain.value)
    assert tried == []
