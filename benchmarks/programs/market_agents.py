"""A market of agents with adaptive expectations, who trade one good until the price settles.

Style: an economist's agent-based model: agents are dicts, and policies are closures in them.
"""

import math
import random
from collections import defaultdict

from benchmarks.programs.program import Program


def trend_follower(gain):
    """Expect the price to go on as it went."""

    def expect(history):
        if len(history) < 2:
            return history[-1]
        return history[-1] + gain * (history[-1] - history[-2])

    return expect


def fundamentalist(value, speed):
    """Expect the price to return to its value."""
    return lambda history: history[-1] + speed * (value - history[-1])


def averager(memory):
    """Expect the discounted mean of the past prices."""

    def expect(history):
        weight, total, norm = 1.0, 0.0, 0.0
        for price in reversed(history[-8:]):
            total += weight * price
            norm += weight
            weight *= memory
        return total / norm

    return expect


def make_agents(parameters, number, seed):
    """Return the population: one third of each kind, with their own wealth and caution."""
    draw = random.Random(seed)
    kinds = {
        "trend": lambda: trend_follower(parameters["gain"] * draw.uniform(0.8, 1.2)),
        "value": lambda: fundamentalist(parameters["value"], parameters["speed"]),
        "mean": lambda: averager(parameters["memory"]),
    }
    names = list(kinds)
    agents = []
    for n in range(number):
        kind = names[n % len(names)]
        agents.append(
            {
                "id": n,
                "kind": kind,
                "expect": kinds[kind](),
                "cash": draw.uniform(50.0, 150.0),
                "stock": draw.uniform(0.5, 2.0),
                "caution": parameters["caution"] * draw.uniform(0.5, 1.5),
                "score": 0.0,
            }
        )
    return agents


def demand(agent, history):
    """How much an agent buys (or sells, if negative) at the last price."""
    price = history[-1]
    expected = agent["expect"](history)
    wish = math.tanh((expected - price) / (agent["caution"] * price))
    if wish > 0.0:
        return 0.1 * wish * agent["cash"] / price
    return 0.1 * wish * agent["stock"]


def settle(agents, orders, price):
    """Exchange cash for stock, and score the trades by the kind of agent."""
    volume = defaultdict(float)
    for agent in agents:
        amount = orders[agent["id"]]
        agent["cash"] -= amount * price
        agent["stock"] += amount
        agent["score"] = 0.9 * agent["score"] + 0.1 * (agent["cash"] + agent["stock"] * price)
        volume[agent["kind"]] += abs(amount)
    return dict(volume)


def volatility(parameters, start, rounds, number=60, seed=11):
    """Run the market; return the variance of the returns and the spread of the scores."""
    agents = make_agents(parameters, number, seed)
    history = [start]
    volumes = []
    for _ in range(rounds):
        orders = {agent["id"]: demand(agent, history) for agent in agents}
        excess = sum(orders.values())
        supply = sum(agent["stock"] for agent in agents)
        price = history[-1] * math.exp(parameters["impact"] * excess / supply)
        volumes.append(settle(agents, orders, price))
        history.append(price)
    returns = [math.log(b / a) for a, b in zip(history, history[1:])]
    mean = sum(returns) / len(returns)
    variance = sum((r - mean) ** 2 for r in returns) / len(returns)
    scores = [agent["score"] for agent in agents]
    best = max(scores)
    spread = best + math.log(sum(math.exp(s - best) for s in scores)) - sum(scores) / len(scores)
    traded = sum(v for volume in volumes for v in volume.values())
    return 1e3 * variance + 0.01 * spread + 0.1 * traded / rounds


def arguments():
    """Return the parameters of the policies, the first price and the number of rounds."""
    parameters = {
        "gain": 0.8,
        "value": 60.0,
        "speed": 0.3,
        "memory": 0.7,
        "caution": 0.05,
        "impact": 2.0,
    }
    return parameters, 50.0, 180


PROGRAM = Program(run=volatility, arguments=arguments, argnums=(0, 1), group="callbacks")
