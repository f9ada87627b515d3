"""Doses of a drug in patients: two compartments, saturable clearance, covariates over time.

Style: a pharmacometrician: event records as dicts, np.interp of covariates, closures by patient.
"""

import numpy as np

from benchmarks.programs.program import Program

DEPOT, CENTRAL, PERIPHERAL = range(3)


def individual(theta, eta, patient):
    """Return the parameters of one patient, from typical values and covariates."""
    size = patient["weight"] / 70.0
    return {
        "ka": theta["ka"] * np.exp(eta[0]),
        "vmax": theta["vmax"] * size**0.75 * np.exp(eta[1]),
        "km": theta["km"],
        "v1": theta["v1"] * size * np.exp(eta[2]),
        "v2": theta["v2"] * size,
        "q": theta["q"] * size**0.75,
        "f": 1.0 / (1.0 + np.exp(-theta["logit_f"])),
        "renal": theta["renal"],
    }


def make_rhs(p, kidney):
    """Return the equations of the amounts; kidney is a function of time."""

    def rhs(t, a, infusion):
        c1 = a[CENTRAL] / p["v1"]
        c2 = a[PERIPHERAL] / p["v2"]
        saturable = p["vmax"] * c1 / (p["km"] + c1)
        renal = p["renal"] * kidney(t) * c1
        absorbed = p["ka"] * a[DEPOT]
        exchange = p["q"] * (c1 - c2)
        da = np.zeros(3)
        da[DEPOT] = -absorbed
        da[CENTRAL] = infusion + absorbed - saturable - renal - exchange
        da[PERIPHERAL] = exchange
        return da

    return rhs


def rk4(rhs, t, a, h, infusion):
    """One Runge-Kutta step."""
    k1 = rhs(t, a, infusion)
    k2 = rhs(t + 0.5 * h, a + 0.5 * h * k1, infusion)
    k3 = rhs(t + 0.5 * h, a + 0.5 * h * k2, infusion)
    k4 = rhs(t + h, a + h * k3, infusion)
    return a + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def simulate(patient, p, max_step=0.5):
    """Go from record to record; return the predicted concentrations of the samples."""
    kidney = lambda t: np.interp(t, patient["creatinine_t"], patient["creatinine"])  # noqa: E731
    rhs = make_rhs(p, kidney)
    amounts = np.zeros(3)
    t, infusion = 0.0, 0.0
    stops = []
    predictions = []
    records = sorted(patient["records"], key=lambda r: r["time"])
    while records or stops:
        next_stop = stops[0][0] if stops else np.inf
        next_record = records[0]["time"] if records else np.inf
        target = min(next_stop, next_record)
        n = int(np.ceil((target - t) / max_step))
        h = (target - t) / max(n, 1)
        for k in range(n):
            amounts = rk4(rhs, t + k * h, amounts, h, infusion)
        t = target
        if next_stop <= next_record:
            infusion -= stops.pop(0)[1]
            continue
        record = records.pop(0)
        kind = record["kind"]
        if kind == "oral":
            amounts[DEPOT] += p["f"] * record["amount"]
        elif kind == "bolus":
            amounts[CENTRAL] += record["amount"]
        elif kind == "infusion":
            infusion += record["amount"] / record["duration"]
            stops.append((t + record["duration"], record["amount"] / record["duration"]))
            stops.sort(key=lambda s: s[0])
        else:
            predictions.append((amounts[CENTRAL] / p["v1"], record["value"]))
    return predictions


def objective(theta, etas, omega, sigma, patients):
    """Joint negative log likelihood of observations and random effects."""
    total = 0.0
    for eta, patient in zip(etas, patients):
        predictions = simulate(patient, individual(theta, eta, patient))
        for predicted, observed in predictions:
            sd = np.sqrt(sigma["add"] ** 2 + (sigma["prop"] * predicted) ** 2)
            total += 0.5 * ((observed - predicted) / sd) ** 2 + np.log(sd)
        total += np.sum(0.5 * (eta / omega) ** 2 + np.log(omega))
    return float(total)


def make_patient(rng):
    """Return a patient with doses of all kinds, samples and a changing kidney."""
    records = [
        {"time": 0.0, "kind": "bolus", "amount": 60.0},
        {"time": 3.0, "kind": "infusion", "amount": 80.0, "duration": 2.0},
        *({"time": 8.0 * k, "kind": "oral", "amount": 150.0} for k in range(1, 3)),
    ]
    for time in (0.7, 2.5, 4.2, 6.9, 9.3, 13.0, 19.5, 23.7):
        records.append({"time": time, "kind": "sample", "value": rng.uniform(0.8, 4.0)})
    return {
        "weight": rng.uniform(50.0, 95.0),
        "creatinine_t": np.array([0.0, 8.0, 16.0, 30.0]),
        "creatinine": rng.uniform(0.6, 1.2, 4),
        "records": records,
    }


def arguments():
    """Return typical values, random effects, their sizes, errors, and patients."""
    rng = np.random.default_rng(16)
    theta = {
        "ka": 0.7,
        "vmax": 18.0,
        "km": 2.0,
        "v1": 22.0,
        "v2": 35.0,
        "q": 6.0,
        "logit_f": 0.6,
        "renal": 2.5,
    }
    patients = [make_patient(rng) for _ in range(8)]
    etas = rng.normal(0.0, 0.2, (8, 3))
    return theta, etas, np.array([0.3, 0.25, 0.2]), {"add": 0.2, "prop": 0.15}, patients


PROGRAM = Program(run=objective, arguments=arguments, argnums=(0, 1, 2, 3), group="callbacks")
