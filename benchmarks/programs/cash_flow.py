"""Value of an office building: leases, vacancies, a loan with covenants, taxes, scenarios.

Style: an analyst's model on dataclasses, one method for each line of the spreadsheet.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum, auto

from benchmarks.programs.program import Program


class Indexation(Enum):
    """How a rent grows."""

    FIXED = auto()
    INFLATION = auto()
    CAPPED = auto()


@dataclass(frozen=True)
class Economy:
    """Yearly rates."""

    inflation: float
    discount: float
    tax: float
    market_rent: float


@dataclass
class Lease:
    """A tenant's contract."""

    tenant: str
    area: float
    rent: float
    start: int
    months: int
    indexation: Indexation = Indexation.INFLATION
    step: float = 0.02
    renewal: float = 0.7

    def factor(self, month, economy):
        """Growth of the rent since the start."""
        years = (month - self.start) // 12
        if self.indexation is Indexation.FIXED:
            return (1.0 + self.step) ** years
        rate = economy.inflation
        if self.indexation is Indexation.CAPPED:
            rate = min(rate, self.step)
        return (1.0 + rate) ** years

    def income(self, month, economy):
        """Rent of one month, expected over renewal and new letting after the end."""
        if month < self.start:
            return 0.0
        if month < self.start + self.months:
            return self.area * self.rent * self.factor(month, economy) / 12.0
        market = economy.market_rent * (1.0 + economy.inflation) ** (month / 12.0)
        gap = month - self.start - self.months
        let = self.renewal + (1.0 - self.renewal) * (1.0 - 0.9**gap)
        return let * self.area * market / 12.0


@dataclass
class Loan:
    """An annuity with a margin that rises when the interest cover is thin."""

    balance: float
    rate: float
    months: int
    margin: float = 0.01
    paid: list[float] = field(default_factory=list)

    def payment(self):
        """Constant monthly payment."""
        r = self.rate / 12.0
        return self.balance * r / (1.0 - (1.0 + r) ** -self.months)

    def pay(self, cover):
        """Pay one month; return interest and repayment."""
        stress = self.margin / (1.0 + cover**4)
        interest = self.balance * (self.rate + stress) / 12.0
        repayment = max(self.payment() - interest, 0.0)
        self.balance -= repayment
        self.months -= 1
        self.paid.append(interest)
        return interest, repayment


@dataclass
class Month:
    """One column of the model."""

    index: int
    rent: float
    costs: float
    interest: float = 0.0
    repayment: float = 0.0
    tax: float = 0.0

    @property
    def operating(self):
        """Income before finance and tax."""
        return self.rent - self.costs

    @property
    def free(self):
        """What is left for the owner."""
        return self.operating - self.interest - self.repayment - self.tax


@dataclass
class Building:
    """All that the model needs."""

    leases: list[Lease]
    loan: Loan
    economy: Economy
    cost_ratio: float
    depreciation: float
    carried: float = 0.0

    def month(self, index):
        """Compute one month."""
        rent = sum(lease.income(index, self.economy) for lease in self.leases)
        column = Month(index, rent, self.cost_ratio * rent + 8000.0)
        cover = column.operating / (self.loan.balance * self.loan.rate / 12.0 + 1.0)
        column.interest, column.repayment = self.loan.pay(cover)
        profit = column.operating - column.interest - self.depreciation + self.carried
        if profit > 0.0:
            column.tax, self.carried = self.economy.tax * profit, 0.0
        else:
            self.carried = profit
        return column

    def value(self, months, exit_yield):
        """Discount all months and the sale."""
        monthly = (1.0 + self.economy.discount) ** (1.0 / 12.0)
        columns = [self.month(m) for m in range(months)]
        present = sum(c.free / monthly**c.index for c in columns)
        sale = 12.0 * columns[-1].operating / exit_yield - self.loan.balance
        return present + sale / monthly**months


def expected_value(leases, loan, economy, cost_ratio, exit_yield):
    """Mean over scenarios, less a price for their spread, in millions."""
    shocks = {
        "base": (0.0, 1.0),
        "boom": (0.01, 1.1),
        "slump": (-0.012, 0.85),
        "stagflation": (0.02, 0.9),
        "crash": (-0.015, 0.7),
    }
    values = {}
    for name, (extra, demand) in shocks.items():
        scenario = replace(
            economy,
            inflation=economy.inflation + extra,
            market_rent=economy.market_rent * demand,
        )
        tenants = [replace(lease, renewal=lease.renewal * min(demand, 1.0)) for lease in leases]
        fresh = replace(loan, paid=[])
        building = Building(tenants, fresh, scenario, cost_ratio, depreciation=36_000.0)
        values[name] = building.value(180, exit_yield)
    mean = sum(values.values()) / len(values)
    spread = sum((v - mean) ** 2 for v in values.values()) / len(values)
    return (mean - 0.3 * spread**0.5) / 1e6


def arguments():
    """Return leases, loan, economy, share of costs and yield of the sale."""
    floor = [
        Lease("bank", 1200.0, 240.0, 0, 96),
        Lease("cafe", 150.0, 320.0, 0, 60, Indexation.FIXED, 0.03),
        Lease("studio", 400.0, 190.0, 6, 48, Indexation.CAPPED, 0.015, 0.5),
        Lease("clinic", 700.0, 260.0, 12, 120, Indexation.FIXED, 0.015),
        Lease("shop", 300.0, 350.0, 3, 36, Indexation.CAPPED, 0.026, 0.4),
    ]
    leases = [
        replace(lease, tenant=f"{lease.tenant} {n}", rent=lease.rent * (0.9 + 0.05 * n))
        for n in range(4)
        for lease in floor
    ]
    economy = Economy(inflation=0.02, discount=0.065, tax=0.28, market_rent=255.0)
    return leases, Loan(1.8e7, 0.045, 240), economy, 0.22, 0.055


PROGRAM = Program(run=expected_value, arguments=arguments, argnums=(0, 1, 2, 3, 4), group="objects")
