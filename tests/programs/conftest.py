"""Random programs and others: their loops, which are short, run as one entry."""

from tests.support.short_loops import short_loops_are_tried

__all__ = ["short_loops_are_tried"]
