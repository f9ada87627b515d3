"""Sites of attributes: what runs there is what the plain program runs."""

from __future__ import annotations

from mooncake_py import jvp, value_and_grad


class OfObjects:
    """A descriptor that serves objects only, and notes whom it was asked for."""

    def __init__(self):
        self.asked = []

    def __get__(self, o, t=None):
        self.asked.append(o)
        return o.scale * 2.0


class Model:
    factor = OfObjects()

    def __init__(self, scale):
        self.scale = scale


def read_again(x):
    model, s = Model(3.0), x
    for _ in iter(range(6)):
        s = s * model.factor
    return s


def test_descriptors_are_asked_for_objects_only() -> None:
    asked = vars(Model)["factor"].asked
    asked.clear()
    assert value_and_grad(read_again)(2.0) == (2.0 * 6.0**6, 6.0**6)
    assert jvp(read_again, (2.0,), (1.0,))[1] == 6.0**6
    assert None not in asked
