"""Cases of `xarray`."""

import numpy as np
import xarray as xr

from tests.packages.suite import Package

PACKAGE = Package("xarray")
works = PACKAGE.works

FIELD = xr.DataArray(
    np.arange(12.0).reshape(3, 4) / 5,
    dims=("y", "x"),
    coords={"y": [0.0, 1.0, 2.0], "x": [0.0, 0.5, 1.0, 1.5]},
)
DATA = xr.Dataset({"u": FIELD, "v": FIELD**2})
K = 0.4

works("da.values", lambda k: k * FIELD.values, K)
works("da.data", lambda k: k * FIELD.data, K)
works("da.to_numpy()", lambda k: k * FIELD.to_numpy(), K)
works("da.isel(x=i).values", lambda k: k * FIELD.isel(x=1).values, K)
works("da.sel(x=label).values", lambda k: k * FIELD.sel(x=0.5).values, K)
works("da[i].values", lambda k: k * FIELD[1].values, K)
works("da.mean(dim).values", lambda k: k * FIELD.mean("x").values, K)
works("da.coords[name].values", lambda k: k * FIELD.coords["x"].values, K)
works("da.sizes[name]", lambda k: k * FIELD.sizes["x"], K)
works("dataset[name].values", lambda k: k * DATA["u"].values, K)
works("dataset.u.interp(x=)", lambda k: k * DATA.u.interp(x=0.7).values, K)
works("da.transpose().values", lambda k: k * FIELD.transpose("x", "y").values, K)
works("da.diff(dim).values", lambda k: k * FIELD.diff("x").values, K)
works("float(da.max())", lambda k: k * float(FIELD.max()), K)
works("number * da", lambda k: (k * FIELD).values, K)
works("da * number", lambda k: (FIELD * k).values, K)
works("da + array", lambda u: (FIELD + u).values, FIELD.values)
works("np.exp(number * da)", lambda k: np.exp(k * FIELD).values, K)
works("(number * da).sum()", lambda k: (k * FIELD).sum().values, K)
works("(number * da).mean(dim)", lambda k: (k * FIELD).mean("x").values, K)
works("(number * da).isel(x=i)", lambda k: (k * FIELD).isel(x=2).values, K)
works("DataArray(active)", lambda u: xr.DataArray(u, dims=("y", "x")).values ** 2, FIELD.values)
works(
    "DataArray(active).isel",
    lambda u: xr.DataArray(u, dims=("y", "x")).isel(x=1).values ** 2,
    FIELD.values,
)
works(
    "DataArray(active) + da",
    lambda u: (xr.DataArray(u, dims=("y", "x")) + FIELD).values ** 2,
    FIELD.values,
)
