"""A cascade of reservoirs with gates, spillways and rules, over two years of inflow.

Style: a water manager's table of objects: a list of reservoirs, each with its own methods.
"""

import math

from benchmarks.programs.program import Program

SECONDS = 86_400.0


class Reservoir:
    """A tank with a rating curve, a target level and a spillway."""

    def __init__(self, name, area, level, crest, gate, target, downstream=None):
        self.name = name
        self.area = area
        self.level = level
        self.crest = crest
        self.gate = gate
        self.target = target
        self.downstream = downstream
        self.inflow = 0.0
        self.spilled = 0.0
        self.history = []

    def release(self, day):
        """Discharge through the gate, by the rule of the season."""
        wanted = self.target + 1.5 * math.sin(2.0 * math.pi * day / 365.0)
        surplus = self.level - wanted
        opening = 1.0 / (1.0 + math.exp(-2.0 * surplus))
        return self.gate * opening * math.sqrt(2.0 * 9.81 * max(self.level, 0.01))

    def spill(self):
        """Discharge over the crest."""
        head = self.level - self.crest
        if head <= 0.0:
            return 0.0
        return 30.0 * head**1.5

    def step(self, day, evaporation):
        """Balance one day in four substeps; return what goes on downstream."""
        out = 0.0
        for _ in range(4):
            q = self.release(day) + (s := self.spill())
            surface = self.area * (1.0 + 0.02 * self.level)
            self.level += 0.25 * SECONDS * (self.inflow - q) / surface - 0.25 * evaporation
            self.spilled += 0.25 * s
            out += 0.25 * q
        self.history.append(self.level)
        self.inflow = 0.0
        return out


class Catchment:
    """Reservoirs in order from the top, with lateral inflows."""

    def __init__(self, rows):
        self.reservoirs = [Reservoir(**row) for row in rows]
        self.by_name = {r.name: r for r in self.reservoirs}
        self.outlet = []

    def __iter__(self):
        return iter(self.reservoirs)

    def run(self, inflows, shares, evaporation):
        """Route the inflows through all reservoirs."""
        for day, inflow in enumerate(inflows):
            for reservoir, share in zip(self, shares):
                reservoir.inflow += share * inflow
            for reservoir in self:
                q = reservoir.step(day, evaporation)
                if reservoir.downstream is None:
                    self.outlet.append(q)
                else:
                    self.by_name[reservoir.downstream].inflow += q


def power(catchment, efficiency=0.85):
    """Mean power of the plant at the outlet, in megawatts."""
    last = catchment.reservoirs[-1]
    total = 0.0
    for q, level in zip(catchment.outlet, last.history):
        total += efficiency * 9.81 * q * (20.0 + level) / 1000.0
    return total / len(catchment.outlet)


def objective(gates, targets, crests, shares, inflows):
    """Power minus a penalty for floods and for spilled water."""
    names = ["upper", "middle", "side", "lower"]
    downstream = ["middle", "lower", "lower", None]
    areas = [2.0e6, 3.5e6, 1.2e6, 5.0e6]
    rows = [
        {
            "name": names[i],
            "area": areas[i],
            "level": targets[i] - 0.5,
            "crest": crests[i],
            "gate": gates[i],
            "target": targets[i],
            "downstream": downstream[i],
        }
        for i in range(len(names))
    ]
    catchment = Catchment(rows)
    catchment.run(inflows, shares, evaporation=0.004)
    floods = sum(max(q - 80.0, 0.0) ** 2 for q in catchment.outlet)
    spilled = sum(r.spilled for r in catchment)
    return power(catchment) - 1e-4 * floods - 1e-3 * spilled


def arguments():
    """Return gates, targets, crests, shares of the inflow, and the inflow of each day."""
    inflows = [
        18.0 + 12.0 * math.sin(2.0 * math.pi * d / 365.0) + 25.0 * math.exp(-((d % 47) / 4.0))
        for d in range(730)
    ]
    return (
        [1.2, 1.9, 0.6, 3.0],
        [8.0, 9.5, 6.0, 11.0],
        [9.5, 11.0, 7.2, 11.8],
        [0.4, 0.25, 0.2, 0.15],
        inflows,
    )


PROGRAM = Program(run=objective, arguments=arguments, argnums=(0, 1, 2, 3), group="objects")
