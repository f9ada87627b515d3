"""Whether arrays share memory, where copies of the arguments stand for arrays that do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.application.copying import same_view
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.identities import copies_now
from mooncake_py.tangents.memory import are_laid_out_alike, owner

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Handler, Mode

__all__ = ["HANDLERS"]


def run_sharing(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a question about memory, asked of what the arguments are copies of."""
    originals = [in_original(a) if issubclass(type(a), ndarray) else unwrapped(a) for a in args]
    return f(*originals, **kwargs)


def in_original(a: ndarray) -> ndarray:
    """Return the part of an original that a view of its copy stands for; others as they are."""
    root = owner(a)
    for new, old in copies_now():
        if issubclass(type(new), ndarray) and owner(new) is root and are_laid_out_alike(new, old):
            return in_original(same_view(a, new, old))  # which may be a copy too
    return a


HANDLERS: dict[Any, Handler] = dict.fromkeys((np.shares_memory, np.may_share_memory), run_sharing)
