"""Pages of the documentation that messages name."""

from __future__ import annotations

from typing import Any

from mooncake_py.modules import package_of

__all__ = ["PAGES", "with_page", "with_page_about"]

PAGES = {
    "jax": "docs/writing_rules.md says how from_jax makes a function of JAX differentiable",
    "numba": "docs/numba.md says what works with Numba, and what to do about the rest",
    "memory": "docs/checkpointing.md says how checkpointed(range(n)) keeps a few states of a loop",
    "pandas": "docs/packages.md says what works with pandas, and what is refused",
    "torch": "docs/writing_rules.md says how from_torch makes a function of PyTorch differentiable",
    "compile": "docs/compiled.md says what is compiled, and what stops it",
}
PAGES["jaxlib"] = PAGES["jax"]


def with_page(fix: str, subject: str) -> str:
    """Return the advice, with the page about a package or an option."""
    return f"{fix};\n{PAGES[subject]}"


def with_page_about(fix: str, *values: Any) -> str:
    """Return the advice, with the page about the package of functions or values."""
    roots = (package_of(owner) for value in values for owner in (type(value), value))
    subject = next((root for root in roots if root in PAGES), None)
    return fix if subject is None else with_page(fix, subject)
