"""A spinning ball that bounces over a rough floor, by a Runge-Kutta method with events.

Style: a physics student's own integrator: lambdas, bisection for the time of impact, history.
"""

from math import copysign, exp, hypot, sin

from benchmarks.programs.program import Program


def add(y, k, h):
    """Return y + h k."""
    return [a + h * b for a, b in zip(y, k)]


def rk4(f, t, y, h):
    """One step of the classical Runge-Kutta method."""
    k1 = f(t, y)
    k2 = f(t + h / 2, add(y, k1, h / 2))
    k3 = f(t + h / 2, add(y, k2, h / 2))
    k4 = f(t + h, add(y, k3, h))
    return [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(y, k1, k2, k3, k4)]


def integrate(f, event, react, y, t_end, h, tolerance=1e-12):
    """Integrate to t_end; where the event falls through zero, react and go on."""
    t = 0.0
    path = [(t, y)]
    hits = []
    while t < t_end - 1e-12:
        step = min(h, t_end - t)
        new = rk4(f, t, y, step)
        if event(t + step, new) < 0.0 and event(t, y) >= 0.0:
            step = locate(f, event, t, y, step, tolerance)
            t, y = t + step, rk4(f, t, y, step)
            y = react(t, y)
            hits.append((t, y))
        else:
            t, y = t + step, new
        path.append((t, y))
    return path, hits


def locate(f, event, t, y, h, tolerance):
    """Find the part of a step at which the event is zero, by the secant method."""
    a, b = 0.0, h
    ga, gb = event(t, y), event(t + h, rk4(f, t, y, h))
    for _ in range(30):
        c = b - gb * (b - a) / (gb - ga)
        gc = event(t + c, rk4(f, t, y, c))
        a, ga, b, gb = b, gb, c, gc
        if abs(gc) < tolerance or gb == ga:
            break
    return b


def make_flight(gravity, drag, lift, wind):
    """Return the equations of motion of (x, z, vx, vz, spin)."""

    def flight(t, y):
        _, z, vx, vz, spin = y
        ux = vx - wind * (1.0 - exp(-z))
        speed = hypot(ux, vz)
        return [
            vx,
            vz,
            -drag * speed * ux - lift * spin * vz,
            -gravity - drag * speed * vz + lift * spin * ux,
            -0.02 * spin,
        ]

    return flight


def make_bounce(restitution, friction):
    """Return the effect of an impact on the state."""

    def bounce(t, y):
        x, z, vx, vz, spin = y
        slip = vx + 0.1 * spin
        impulse = (1.0 + restitution) * abs(vz) * friction
        if impulse > 2.0 / 7.0 * abs(slip):
            impulse = 2.0 / 7.0 * abs(slip)
        sign = copysign(1.0, slip)
        return [x, z, vx - sign * impulse, -restitution * vz, spin - sign * 25.0 * impulse]

    return bounce


def landing(height, speed, angle_rate, restitution, friction, drag, lift, wind):
    """Weighted sum of where and when the ball bounces, and of its last state."""
    flight = make_flight(9.81, drag, lift, wind)
    bounce = make_bounce(restitution, friction)
    floor = lambda t, y: y[1] - 0.05 * sin(3.0 * y[0])  # noqa: E731
    start = [0.0, height, speed, 0.0, angle_rate]
    path, hits = integrate(flight, floor, bounce, start, t_end=2.2, h=0.0015)
    score = sum(t * 0.5**n + 0.1 * y[0] for n, (t, y) in enumerate(hits))
    x, z, vx, vz, _ = path[-1][1]
    highest = max(y[1] for _, y in path[len(path) // 2 :])
    return score + x + 0.1 * z + 0.01 * (vx * vx + vz * vz) + highest


def arguments():
    """Return the throw and the constants of ball, floor and air."""
    return 1.6, 3.0, -12.0, 0.72, 0.04, 0.03, 0.004, 1.5


PROGRAM = Program(
    run=landing, arguments=arguments, argnums=(0, 1, 2, 3, 4, 5, 6, 7), group="scalars"
)
