"""How long a time step and its gradient take on many ranks: a model of messages (Hockney).

A message of n bytes takes ``latency + n / bandwidth``; a collective call of a few bytes takes
``ceil(log2(ranks))`` latencies.  A rank computes for as long as one rank alone.

References
----------
R. W. Hockney, "The communication challenge for MPP: Intel Paragon and Meiko CS-2", Parallel
Computing 20 (1994).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Measured", "Model", "Network", "Step", "neighbours", "step_seconds"]


@dataclass
class Measured:
    """What was measured on some ranks; times in seconds, the shortest of several rounds.

    Attributes
    ----------
    ranks, steps : int
    primal, gradient : float
        A time step, and one of value and gradient together.
    messages, nbytes, messages_back, nbytes_back : float
        Sent in a step by the rank that sends most, by the program and by its adjoint.
    latency, latency_back, bandwidth : float
        Of a message between two ranks in the program, of one in a gradient, and bytes a second;
        zero on one rank.
    """

    ranks: int
    steps: int
    primal: float
    gradient: float
    messages: float
    nbytes: float
    messages_back: float
    nbytes_back: float
    latency: float
    latency_back: float
    bandwidth: float


@dataclass(frozen=True)
class Network:
    """What a message costs.

    Attributes
    ----------
    latency : float, in seconds
        Of a message without data, what Python does for it included.
    bandwidth : float, in bytes a second
    """

    latency: float
    bandwidth: float

    def message(self, nbytes: float) -> float:
        """Return the time of a message, in seconds."""
        return self.latency + nbytes / self.bandwidth


@dataclass(frozen=True)
class Step:
    """What a rank does in a time step, or on the way there and back.

    Attributes
    ----------
    compute : float, in seconds
        What one rank alone takes.
    exchanges : float
        Messages to each neighbour.
    nbytes : float
        Bytes of each of these.
    collectives : float
        Collective calls, spread over the steps of a run.
    """

    compute: float
    exchanges: float
    nbytes: float
    collectives: float


def neighbours(ranks: int) -> float:
    """Return how many neighbours the rank with most has, on a grid as square as can be."""
    rows = max(k for k in range(1, math.isqrt(ranks) + 1) if ranks % k == 0)
    return min(rows - 1, 2) + min(ranks // rows - 1, 2)


def step_seconds(step: Step, network: Network, ranks: int, cores: int | None = None) -> float:
    """Return how long a time step takes on so many ranks, each with a block of the same size.

    Parameters
    ----------
    step : Step
    network : Network
    ranks : int
    cores : int, optional
        If there are fewer than ranks, each takes turns with others; by default there are enough.
    """
    turns = 1.0 if cores is None else max(1.0, ranks / cores)
    messages = step.exchanges * neighbours(ranks) * network.message(step.nbytes)
    depth = math.ceil(math.log2(ranks)) if ranks > 1 else 0
    return turns * (step.compute + messages) + step.collectives * depth * network.latency


# What a message through the network of a cluster usually takes: not measured.
CLUSTER = Network(latency=2e-6, bandwidth=10e9)


@dataclass(frozen=True)
class Model:
    """What was measured of a step on one rank, and of messages between two.

    Attributes
    ----------
    primal, both : Step
        A time step, and one there and back.
    there, there_and_back : Network
        What a message costs in the program, and in its gradient.
    """

    primal: Step
    both: Step
    there: Network
    there_and_back: Network

    @classmethod
    def of(cls, alone: Measured, pair: Measured) -> Model:
        """Return the model of measurements on one and on two ranks."""
        nbytes = pair.nbytes / pair.messages
        return cls(
            Step(alone.primal, 1.0, nbytes, 0.0),
            # At the end of a gradient all ranks agree, and sum their values.
            Step(alone.gradient, 2.0, nbytes, 2.0 / alone.steps),
            Network(pair.latency, pair.bandwidth),
            Network(pair.latency_back, pair.bandwidth),
        )

    def here(self, ranks: int, cores: int | None = None) -> tuple[float, float]:
        """Return the seconds of a step and of its gradient, with the network measured."""
        return (
            step_seconds(self.primal, self.there, ranks, cores),
            step_seconds(self.both, self.there_and_back, ranks, cores),
        )

    def on_cluster(self, ranks: int) -> tuple[float, float]:
        """Return the same with the network of a cluster; what Python adds to a message stays."""
        python = max(0.0, self.there_and_back.latency - self.there.latency)
        slower = Network(CLUSTER.latency + python, CLUSTER.bandwidth)
        return (
            step_seconds(self.primal, CLUSTER, ranks),
            step_seconds(self.both, slower, ranks),
        )
