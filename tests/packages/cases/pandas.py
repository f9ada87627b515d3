"""Cases of `pandas`: constant tables, of which programs take arrays and numbers."""

import numpy as np
import pandas as pd

from tests.packages.suite import Package

PACKAGE = Package("pandas")
works = PACKAGE.works

TABLE = pd.DataFrame(
    {"t": [0.0, 1.0, 2.5, 4.0], "y": [1.0, 0.6, 0.3, 0.1], "site": ["a", "b", "a", "b"]},
    index=["p", "q", "r", "s"],
)
DATES = pd.Series([1.0, 2.0, 4.0], index=pd.date_range("2026-01-01", periods=3))
K = 0.4


def misfit(model, observed):
    return np.sum((model - observed) ** 2)


works(
    'table["t"].to_numpy()',
    lambda k: misfit(np.exp(-k * TABLE["t"].to_numpy()), TABLE["y"].to_numpy()),
    K,
)
works('table["t"].values', lambda k: np.exp(-k * TABLE["t"].values), K)
works("table.t", lambda k: np.exp(-k * TABLE.t.to_numpy()), K)
works('table[["t", "y"]].values', lambda k: k * TABLE[["t", "y"]].values, K)
works("table.loc[label, column]", lambda k: np.exp(-k * TABLE.loc["q", "t"]), K)
works("table.iloc[i, j]", lambda k: np.exp(-k * TABLE.iloc[2, 0]), K)
works("table.at[label, column]", lambda k: np.exp(-k * TABLE.at["q", "t"]), K)
works("table.iloc[i]", lambda k: np.exp(-k * TABLE.iloc[2]["t"]), K)
works(
    "table.itertuples()", lambda k: sum(np.exp(-k * row.t) * row.y for row in TABLE.itertuples()), K
)
works("table.iterrows()", lambda k: sum(np.exp(-k * row["t"]) for _, row in TABLE.iterrows()), K)
works(
    "table.groupby(column)",
    lambda k: [k * group["t"].to_numpy() for _, group in TABLE.groupby("site")],
    K,
)
works("table[table.t > 1]", lambda k: k * TABLE[TABLE.t > 1]["y"].to_numpy(), K)
works("table.query(text)", lambda k: k * TABLE.query("t > 1")["y"].to_numpy(), K)
works("len(table), table.shape", lambda k: k * len(TABLE) + k * TABLE.shape[1], K)
works("table.columns", lambda k: k * len([c for c in TABLE.columns if c != "site"]), K)
works("table.mean()", lambda k: k * TABLE["t"].mean(), K)
works("table.describe()", lambda k: k * TABLE[["t"]].describe().loc["std", "t"], K)
works("table.sort_values(column)", lambda k: k * TABLE.sort_values("y")["t"].to_numpy(), K)
works("table.merge(table)", lambda k: k * TABLE.merge(TABLE, on="t")["y_x"].to_numpy(), K)
works("series.rolling(n).mean()", lambda k: k * TABLE["t"].rolling(2).mean().to_numpy()[1:], K)
works("series.diff()", lambda k: k * TABLE["t"].diff().to_numpy()[1:], K)
works("series.index", lambda k: k * DATES.index.dayofyear.to_numpy(), K)
works("series.interpolate()", lambda k: k * DATES.interpolate().to_numpy(), K)
works("series.items()", lambda k: sum(k * v for _, v in DATES.items()), K)
works("pd.read_csv(text)", lambda k: k * read()["a"].to_numpy(), K)
works("pd.to_datetime(text)", lambda k: k * pd.to_datetime("2026-02-01").day, K)
works("pd.cut(values, bins)", lambda k: k * pd.cut(TABLE["t"], 2).cat.codes.to_numpy(), K)


def read():
    import io

    return pd.read_csv(io.StringIO("a,b\n1.5,2\n2.5,3\n"))


PACKAGE.refuses(
    "number * series",
    "tables do not hold derivatives",
    "pandas",
    lambda k: (k * TABLE["t"]).to_numpy(),
    K,
)
PACKAGE.refuses(
    "Series(active values)",
    "tables do not hold derivatives",
    "pandas",
    lambda x: pd.Series(x).sum(),
    np.ones(3),
)
