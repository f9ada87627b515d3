"""What another mode may refuse: part of the message, and where that limitation is documented."""

from __future__ import annotations

from typing import NamedTuple

from mooncake_py.errors import MooncakeError

__all__ = ["DOCUMENTED", "Limitation", "is_documented"]


class Limitation(NamedTuple):
    """A refusal, and the sentence of a document that announces it."""

    message: str
    document: str
    sentence: str


DOCUMENTED = [
    Limitation(  # it is handwritten in CoDuals, which are of reverse mode
        "is for reverse mode only",
        "docs/known_limitations.md", "Rules by `rrule.register`, and rules by `from_vjp`",
    ),
    Limitation(
        "forward mode takes numbers, arrays and sequences of rules by pullback",
        "docs/known_limitations.md",
        "rules by `from_vjp` that take or return objects, dicts and functions",
    ),
    Limitation(
        "of active objects leaves a derivative inside another one",
        "docs/known_limitations.md", "of active objects leaves a derivative inside another one",
    ),
    Limitation(
        "an in-place operator on an active array whose elements share memory with one another",
        "docs/known_limitations.md",
        "an in-place operator on an active array whose elements share memory with one another",
    ),
    Limitation(  # vjp differentiates all its arguments, which the function may write into
        "writes into memory that argument",
        "docs/inplace_semantics.md", "writes into memory that argument",
    ),
    Limitation(  # outputs of jvp have a tangent, auxiliary outputs of a gradient have none
        "cannot have a tangent",
        "docs/rule_system.md", "iterators and sets of floats are refused",
    ),
    Limitation(  # regions take numbers out of attributes and put others into them
        "a dict was read at an active number, and holds a value for another one",
        "docs/known_limitations.md", "with `compile=True`, a statement such as `self.v = v` makes",
    ),
    Limitation(
        "a rule or a tool of mooncake_py was run on active data",
        "docs/known_limitations.md", "a rule or a tool of mooncake_py was run on active data",
    ),
    *(
        Limitation(
            message, "docs/known_limitations.md",
            "forward mode has no cotangent, and always refuses",
        )
        for message in (
            "vectors of which only the space that they span is determined",
            "the phases of complex vectors, which are not determined",
        )
    ),
    Limitation(  # a third derivative of a determinant has the like within
        "eigenvalues or singular values coincide (or are zero)",
        "docs/known_limitations.md",
        "If a function uses both, as a matrix square root by `eigh` does",
    ),
    Limitation(
        "the second derivative of eigenvalues or singular values is not determined here",
        "docs/known_limitations.md", "of the values alone is not determined there either",
    ),
    Limitation(
        "negative eigenvalues lie on the branch cut of the logarithm",
        "docs/scipy.md", "`logm` at negative eigenvalues, which lie on its branch cut",
    ),
    Limitation(
        "SciPy has not solved the equation",
        "docs/scipy.md", "does not solve the equation",
    ),
    Limitation(  # such as one that the function has made
        "that holds active values leaves the differentiated call",
        "docs/known_limitations.md", "that holds active values leaves the differentiated call",
    ),
    Limitation(  # within another derivative the function writes what is active from outside too
        "two arrays are different views of one buffer that no array owns",
        "docs/known_limitations.md",
        "two arrays are different views of one buffer that no array owns",
    ),
    Limitation(  # it makes of a cotangent something that is the gradient of nothing
        "a hook ran in a derivative of higher order",
        "docs/known_limitations.md", "a hook ran in a derivative of higher order",
    ),
]  # fmt: skip


def is_documented(error: MooncakeError) -> bool:
    return any(limitation.message in str(error) for limitation in DOCUMENTED)
