"""Cases of `control`."""

import control
import numpy as np

from tests.packages.suite import Package

PACKAGE = Package("control")
works = PACKAGE.works

A = np.array([[-1.0, 0.4], [0.3, -2.0]])
B = np.array([[1.0], [0.5]])
C = np.array([[1.0, 0.7]])
D = np.zeros((1, 1))
Q, R = np.eye(2), np.eye(1)
TIMES = np.linspace(0.0, 3.0, 12)
NUMERATOR, DENOMINATOR = np.array([1.0, 0.5]), np.array([1.0, 1.2, 2.0])

works("ss", lambda a: control.ss(a, B, C, D).A, A)
works("ss series", lambda a: (control.ss(a, B, C, D) * control.ss(A, B, C, D)).A, A)
works("ss + ss", lambda a: (control.ss(a, B, C, D) + control.ss(A, B, C, D)).A, A)
works("feedback", lambda a: control.feedback(control.ss(a, B, C, D), 1.0).A, A)
works("ss(s)", lambda a: control.ss(a, B, C, D)(1.0 + 0.5j), A)
works("ss.dcgain", lambda a: control.ss(a, B, C, D).dcgain(), A)
works("ss.poles", lambda a: control.ss(a, B, C, D).poles(), A)
works("tf(s)", lambda n, d: control.tf(n, d)(0.7j), NUMERATOR, DENOMINATOR)
works(
    "tf * tf", lambda n: (control.tf(n, DENOMINATOR) * control.tf(n, DENOMINATOR))(0.7j), NUMERATOR
)
works("tf + tf", lambda n: (control.tf(n, DENOMINATOR) + 1)(0.7j), NUMERATOR)
works("tf.dcgain", lambda n, d: control.tf(n, d).dcgain(), NUMERATOR, DENOMINATOR)
works(
    "frequency_response",
    lambda a: control.frequency_response(control.ss(a, B, C, D), np.array([0.3, 1.0])).magnitude,
    A,
)
works(
    "forced_response",
    lambda a, u: control.forced_response(control.ss(a, B, C, D), TIMES, u).outputs,
    A,
    np.sin(TIMES),
)
works("step_response", lambda a: control.step_response(control.ss(a, B, C, D), TIMES).outputs, A)
works(
    "impulse_response", lambda a: control.impulse_response(control.ss(a, B, C, D), TIMES).outputs, A
)
works(
    "initial_response",
    lambda a, x: control.initial_response(control.ss(a, B, C, D), TIMES, x).outputs,
    A,
    np.ones(2),
)
works("lyap", lambda a: control.lyap(a, Q), A)
works("dlyap", lambda a: control.dlyap(a / 4, Q), A)
works("care", lambda a: control.care(a, B, Q, R)[0], A)
works("lqr", lambda a: control.lqr(a, B, Q, R)[0], A)
works("dare", lambda a: control.dare(a / 3, B, Q, R)[0], A)
works("place", lambda a: control.place(a, B, [-3.0, -4.0]), A)
works("acker", lambda a: control.acker(a, B, [-3.0, -4.0]), A)
works("ctrb", lambda a: control.ctrb(a, B), A)
works("obsv", lambda a: control.obsv(a, C), A)
works("c2d", lambda a: control.c2d(control.ss(a, B, C, D), 0.1).A, A)
works("norm", lambda a: control.norm(control.ss(a, B, C, D), 2), A)
works(
    "similarity_transform",
    lambda t: control.similarity_transform(control.ss(A, B, C, D), t).A,
    A,
)
works("pade", lambda t: control.pade(t, 2), 0.4)
works("tf2ss", lambda n: control.tf2ss(n, DENOMINATOR).C, NUMERATOR)
works("ss2tf", lambda a: control.ss2tf(control.ss(a, B, C, D))(0.7j), A)
works(
    "canonical_form", lambda a: control.canonical_form(control.ss(a, B, C, D), "reachable")[0].A, A
)
works(
    "margin",
    lambda n: control.margin(control.tf(n, np.array([1.0, 3.0, 3.0, 1.0])))[0],
    np.array([2.0]),
)
works("input_output_response", lambda k: oscillator(k), 0.8)
works("correlation", lambda x: control.correlation(TIMES, x)[1], np.sin(TIMES)[None])


def oscillator(k):
    def rate(t, x, u, params):
        return np.array([x[1], -k * x[0] - 0.1 * x[1]])

    system = control.nlsys(rate, None, inputs=1, states=2, outputs=2)
    return control.input_output_response(system, TIMES, np.zeros(12), np.array([1.0, 0.0])).states
