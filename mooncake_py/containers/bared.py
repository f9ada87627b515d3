"""Plain numbers in place of active ones, in all places that code outside a derivative reaches."""

from __future__ import annotations

from typing import Any

from mooncake_py.containers.holders import Attributes, Contents, Place
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.runtime.attribute_lookup import MISSING

__all__ = ["Bared"]


class Bared:
    """A block in which places hold plain numbers for active ones.

    What is bound there meanwhile stays.
    """

    def __init__(self, kept: list[tuple[Place, Any]]) -> None:
        self.replaced: list[tuple[Place, Any, Any]] = []
        for place, held in kept:
            bare = bared(place, held)
            if bare is not held:
                self.replaced.append((place, held, bare))

    def __enter__(self) -> None:
        for place, _, bare in self.replaced:
            place.write(bare)

    def __exit__(self, *exception: object) -> None:
        for place, held, bare in self.replaced:
            place.write(restored(place.read(), held, bare))


def bared(place: Place, held: Any) -> Any:
    """Return the contents of a place, with plain numbers for active ones that it holds directly."""
    t = type(held)
    if t is Active:
        return unwrapped(held)
    if t is dict:
        if Active in map(type, held.values()) and isinstance(place, (Attributes, Contents)):
            return {k: unwrapped(v) if type(v) is Active else v for k, v in held.items()}
    elif t is list and Active in map(type, held) and isinstance(place, (Attributes, Contents)):
        return [unwrapped(v) if type(v) is Active else v for v in held]
    return held


def restored(now: Any, held: Any, bare: Any) -> Any:
    """Return the contents of a place, with its active numbers where nothing else was put since."""
    if isinstance(now, dict) and isinstance(bare, dict):
        same = {name for name, v in bare.items() if now.get(name, MISSING) is v}
        return {name: held[name] if name in same else v for name, v in now.items()}
    if isinstance(now, list) and isinstance(bare, list):
        shared = zip(now, held, bare, strict=False)
        return [old if v is new else v for v, old, new in shared] + now[len(bare) :]
    return held if now is bare else now
