"""Cases that `test_rule` has not checked, because the function has no derivative there."""

from __future__ import annotations

__all__ = ["NO_DERIVATIVE", "PARTS", "LeftOut"]

NO_DERIVATIVE = "differences find no derivative there"
PARTS = "a part of the function has no derivative there"


class LeftOut:
    """The points at which derivatives were not compared.

    Attributes
    ----------
    points : dict of str to str
        What each point is, and why it was left out.
    """

    def __init__(self) -> None:
        self.points: dict[str, str] = {}

    def add(self, point: str, why: str) -> None:
        """Note a point."""
        self.points.setdefault(point, why)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        listed = "; ".join(f"{point}: {why}" for point, why in self.points.items())
        return f"<left out {len(self)}: {listed}>"
