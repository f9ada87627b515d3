"""Handwritten adjoints, in NumPy, of kernels that loop over rows, columns and windows of arrays.

Each runs the kernel's own statements first and keeps what the way back reads and a later statement
overwrites.  Then it walks the statements backwards, in place, one by one.  No statements of
different passes of a loop are put together, as no tool that takes the code unchanged could; but
what the author of a kernel knows is used: what is linear or final is not kept, windows that do not
overlap are assigned, columns of a sparse row differ.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Adjoint = tuple[float, tuple[Array, ...]]


def prediction(r: Array) -> Adjoint:
    """Keep the coefficients before each step."""
    n = len(r)
    a = np.zeros(n - 1)
    error = r[0]
    value = np.log(error)
    kept = []
    for k in range(n - 1):
        before = a[:k].copy()
        reflection = -(r[k + 1] + np.dot(np.flip(r[1 : k + 1]), before)) / error
        kept.append((before, reflection, error))
        a[:k] += reflection * np.flip(before)
        a[k] = reflection
        error *= 1.0 - reflection * reflection
        value += np.log(error)
    da, dr, derror = np.zeros(n - 1), np.zeros(n), 0.0
    for k in range(n - 2, -1, -1):
        before, reflection, earlier = kept[k]
        derror += 1.0 / error
        g = da[:k]
        dreflection = da[k] + np.dot(g, np.flip(before)) - 2.0 * derror * earlier * reflection
        derror *= 1.0 - reflection * reflection
        g += reflection * np.flip(g)
        da[k] = 0.0
        slope = -dreflection / earlier
        derror += slope * reflection
        dr[k + 1] += slope
        dr[1 : k + 1] += slope * np.flip(before)
        g += slope * np.flip(r[1 : k + 1])
        error = earlier
    dr[0] += derror + 1.0 / error
    return value, (dr,)


def in_place_factor(a: Array) -> Adjoint:
    """Use the adjoint of `np.linalg.cholesky`."""
    factor = np.linalg.cholesky(a)
    a[:] = factor + np.triu(a, k=1)
    value = np.sum(a * a)
    return value, (of_factor(factor, 2.0 * a),)


def gaussian_likelihood(covariance: Array, x: Array) -> Adjoint:
    """Keep nothing: x is solved before it is read."""
    factor = np.linalg.cholesky(covariance)
    covariance[:] = factor + np.triu(covariance, k=1)
    for i in range(len(x)):
        x[i] = (x[i] - covariance[i, :i] @ x[:i]) / covariance[i, i]
    diagonal = np.diagonal(covariance)
    value = -0.5 * np.dot(x, x) - np.sum(np.log(diagonal))
    dx = -x
    da = np.zeros_like(covariance)
    np.fill_diagonal(da, -1.0 / diagonal)
    solve_backwards(covariance, x, da, dx)
    return value, (of_factor(factor, da), dx)


def of_factor(factor: Any, da: Array) -> Array:
    """Return the cotangent of a from that of ``cholesky(a) + triu(a, k=1)`` (Murray, 2016)."""
    inner = np.tril(factor.T @ np.tril(da))
    inner[np.diag_indices(len(da))] *= 0.5
    half = solve_upper(factor.T, inner)
    s = solve_upper(factor.T, half.T)
    lower = np.tril(s + s.T)
    lower[np.diag_indices(len(da))] *= 0.5
    return lower + np.triu(da, k=1)


def solve_upper(u: Any, b: Any) -> Any:
    """Solve with an upper triangle, by halves: NumPy has no solver for triangles."""
    if len(u) <= 32:
        return np.linalg.solve(u, b)
    k = len(u) // 2
    result = np.empty_like(b)
    result[k:] = solve_upper(u[k:, k:], b[k:])
    result[:k] = solve_upper(u[:k, :k], b[:k] - u[:k, k:] @ result[k:])
    return result


def triangular_solve(a: Array, x: Array) -> Adjoint:
    """Keep nothing: x is solved before it is read."""
    for i in range(len(x)):
        x[i] = (x[i] - a[i, :i] @ x[:i]) / a[i, i]
    value = np.sum(x * x)
    dx, da = 2.0 * x, np.zeros_like(a)
    solve_backwards(a, x, da, dx)
    return value, (da, dx)


def solve_backwards(a: Array, x: Array, da: Array, dx: Array) -> None:
    """Add to da what a solve by rows adds, and replace dx by the cotangent of the right side."""
    for i in range(len(x) - 1, -1, -1):
        g = dx[i] / a[i, i]
        dx[i] = g
        da[i, i] -= g * x[i]
        da[i, :i] -= g * x[:i]
        dx[:i] -= g * a[i, :i]


def triangular_product(a: Array, b: Array) -> Adjoint:
    """Rows of b are read before they are overwritten, so each is kept."""
    kept = np.empty_like(b)
    rows, columns = b.shape
    for i in range(rows):
        kept[i] = b[i]
        for j in range(columns):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
        b[i, :] *= 1.5
    value = np.sum(b * b)
    da, db = np.zeros_like(a), 2.0 * b
    for i in range(rows - 1, -1, -1):
        db[i, :] *= 1.5
        for j in range(columns - 1, -1, -1):
            g = db[i, j]
            da[i + 1 :, i] += g * kept[i + 1 :, j]
            db[i + 1 :, j] += g * a[i + 1 :, i]
    return value, (da, db)


def symmetric_product(a: Array, b: Array, c: Array) -> Adjoint:
    """All is linear in c, and nothing else is overwritten."""
    rows, columns = b.shape
    below = np.empty(columns)
    c *= 1.2
    for i in range(rows):
        for j in range(columns):
            c[:i, j] += 1.5 * b[i, j] * a[i, :i]
            below[j] = b[:i, j] @ a[i, :i]
        c[i, :] += 1.5 * b[i, :] * a[i, i] + 1.5 * below
    value = np.sum(c * c)
    da, db, dc = np.zeros_like(a), np.zeros_like(b), 2.0 * c
    for i in range(rows - 1, -1, -1):
        g = 1.5 * dc[i, :]
        db[i, :] += g * a[i, i]
        da[i, i] += np.dot(g, b[i, :])
        for j in range(columns - 1, -1, -1):
            da[i, :i] += g[j] * b[:i, j]
            db[:i, j] += g[j] * a[i, :i]
            d = dc[:i, j]
            db[i, j] += 1.5 * (d @ a[i, :i])
            da[i, :i] += 1.5 * b[i, j] * d
    dc *= 1.2
    return value, (da, db, dc)


def lu_by_dots(a: Array) -> Adjoint:
    """Factors are final where they are read, so nothing is kept."""
    n = len(a)
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    diagonal = np.diagonal(a)
    value = np.sum(np.log(diagonal))
    da = np.zeros_like(a)
    np.fill_diagonal(da, 1.0 / diagonal)
    for i in range(n - 1, -1, -1):
        for j in range(n - 1, i - 1, -1):
            g = da[i, j]
            da[i, :i] -= g * a[:i, j]
            da[:i, j] -= g * a[i, :i]
        for j in range(i - 1, -1, -1):
            g = da[i, j] / a[j, j]
            da[j, j] -= g * a[i, j]
            da[i, :j] -= g * a[:j, j]
            da[:j, j] -= g * a[i, :j]
            da[i, j] = g
    return value, (da,)


def covariance(table: Array) -> Adjoint:
    """Read only the centred table in the reverse pass; it is final before the loop."""
    rows, columns = table.shape
    table -= np.mean(table, axis=0)
    c = np.zeros((columns, columns))
    for i in range(columns):
        c[i, i:] = table[:, i] @ table[:, i:]
        c[i, i:] /= rows - 1.0
        c[i:, i] = c[i, i:]
    value = np.sum(c * c)
    dtable, c = np.zeros_like(table), 2.0 * c
    for i in range(columns - 1, -1, -1):
        g = c[i, i:]
        g[1:] += c[i + 1 :, i]
        g /= rows - 1.0
        dtable[:, i] += table[:, i:] @ g
        dtable[:, i:] += np.dot(table[:, i, np.newaxis], g[np.newaxis])
    dtable -= np.mean(dtable, axis=0)
    return value, (dtable,)


def correlation(table: Array) -> Adjoint:
    """Read only the scaled table and the scales in the reverse pass."""
    rows, columns = table.shape
    spread = np.std(table, axis=0)
    narrow = spread < 1e-6
    spread[narrow] = 1.0
    table -= np.mean(table, axis=0)
    scale = np.sqrt(rows) * spread
    table /= scale
    c = np.eye(columns)
    for i in range(columns - 1):
        c[i, i + 1 :] = table[:, i] @ table[:, i + 1 :]
        c[i + 1 :, i] = c[i, i + 1 :]
    value = np.sum(c * c)
    dtable, c = np.zeros_like(table), 2.0 * c
    for i in range(columns - 2, -1, -1):
        g = c[i, i + 1 :]
        g += c[i + 1 :, i]
        dtable[:, i] += table[:, i + 1 :] @ g
        dtable[:, i + 1 :] += np.dot(table[:, i, np.newaxis], g[np.newaxis])
    dtable /= scale
    # d std / d table is the centred table over rows and std: the scaled table over sqrt(rows).
    dspread = -np.sqrt(rows) * np.sum(dtable * table, axis=0)
    dspread[narrow] = 0.0
    dtable -= np.mean(dtable, axis=0)
    dtable += table * (dspread / np.sqrt(rows))
    return value, (dtable,)


def sparse_rows(data: Array, columns: Any, starts: Any, x: Array) -> Adjoint:
    """Keep both vectors; a row's columns differ, so what they receive is added at once."""
    count = len(starts) - 1
    kept = []
    for _ in range(2):
        kept.append(x)
        y = np.empty(count)
        for i in range(count):
            here = columns[starts[i] : starts[i + 1]]
            y[i] = data[starts[i] : starts[i + 1]] @ x[here]
        x = y
    value = np.sum(x * x)
    ddata, dy = np.zeros_like(data), 2.0 * x
    for x in reversed(kept):
        dx = np.zeros_like(x)
        for i in range(count - 1, -1, -1):
            row = slice(starts[i], starts[i + 1])
            here = columns[row]
            ddata[row] += dy[i] * x[here]
            dx[here] += dy[i] * data[row]
        dy = dx
    return value, (ddata, dy)


def convolution(images: Array, weights: Array, bias: Array) -> Adjoint:
    """Compute the cotangents of windows and weights as products of matrices."""
    k = weights.shape[0]
    count, height, width, _ = images.shape
    out = np.empty((count, height - k + 1, width - k + 1, weights.shape[3]))
    for i in range(height - k + 1):
        for j in range(width - k + 1):
            window = images[:, i : i + k, j : j + k, :, np.newaxis]
            out[:, i, j, :] = np.sum(window * weights[np.newaxis], axis=(1, 2, 3))
    out += bias
    value = np.sum(np.maximum(out, 0.0))
    dout = (out > 0.0).astype(float)
    dimages, dweights = np.zeros_like(images), np.zeros_like(weights)
    rows, columns = weights.reshape(-1, weights.shape[3]), dweights.reshape(-1, weights.shape[3])
    for i in range(height - k, -1, -1):
        for j in range(width - k, -1, -1):
            g = dout[:, i, j, :]
            window = images[:, i : i + k, j : j + k, :]
            columns += window.reshape(count, -1).T @ g
            dimages[:, i : i + k, j : j + k, :] += (g @ rows.T).reshape(window.shape)
    return value, (dimages, dweights, np.sum(dout, axis=(0, 1, 2)))


def max_pooling(images: Array) -> Adjoint:
    """Keep the maps of each level; equal maxima of a window share what it receives."""
    levels = [images]
    for _ in range(3):
        count, height, width, channels = images.shape
        out = np.empty((count, height // 2, width // 2, channels))
        for i in range(height // 2):
            for j in range(width // 2):
                window = images[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :]
                out[:, i, j, :] = np.max(window, axis=(1, 2))
        images = out
        levels.append(images)
    value = np.sum(images * images)
    dout = 2.0 * images
    for images, out in zip(levels[-2::-1], levels[:0:-1], strict=True):
        dimages = np.zeros_like(images)
        for i in range(out.shape[1] - 1, -1, -1):
            for j in range(out.shape[2] - 1, -1, -1):
                here = slice(None), slice(2 * i, 2 * i + 2), slice(2 * j, 2 * j + 2)
                largest = images[here] == out[:, np.newaxis, np.newaxis, i, j, :]
                g = dout[:, i, j, :] / np.sum(largest, axis=(1, 2))
                np.multiply(largest, g[:, np.newaxis, np.newaxis, :], out=dimages[here])
        dout = dimages
    return value, (dout,)


def self_energies(sigma: Array, blocks: Array, gradients: Array, neighbours: Any) -> Adjoint:
    """Keep both factors of each product; sigma is only added to."""
    energies, sites = blocks.shape[:2]
    kept = []
    for energy in range(energies):
        for shift in range(1, 3):
            if energy >= shift:
                for site in range(sites):
                    for link in range(neighbours.shape[1]):
                        there = blocks[energy - shift, neighbours[site, link]]
                        for axis in range(3):
                            left = gradients[site, link, axis] @ there
                            right = gradients[site, link, 2 - axis] / shift
                            sigma[energy, site] += left @ right
                            kept.append((energy, shift, site, link, axis, left, right))
    value = np.sum(sigma * sigma)
    dsigma = 2.0 * sigma
    dblocks, dgradients = np.zeros_like(blocks), np.zeros_like(gradients)
    for energy, shift, site, link, axis, left, right in reversed(kept):
        g = dsigma[energy, site]
        there = energy - shift, neighbours[site, link]
        dgradients[site, link, 2 - axis] += (left.T @ g) / shift
        dleft = g @ right.T
        dgradients[site, link, axis] += dleft @ blocks[there].T
        dblocks[there] += gradients[site, link, axis].T @ dleft
    return value, (dsigma, dblocks, dgradients)


def mandelbrot(re: Array, im: Array, steps: int) -> Adjoint:
    """Keep which points are inside, and what is squared; cotangents are dx + i dy."""
    c = re + 1j * im[:, None]
    z = np.zeros_like(c)
    kept = []
    for _ in range(steps):
        inside = np.abs(z) < 2.0
        before = z[inside]
        kept.append((inside, before))
        z[inside] = before**2 + c[inside]
    squared = np.abs(z) ** 2
    value = np.sum(np.log1p(squared))
    dz, dc = 2.0 * z / (1.0 + squared), np.zeros_like(c)
    for inside, before in reversed(kept):
        g = dz[inside]
        dc[inside] += g
        dz[inside] = g * np.conj(2.0 * before)
    return value, (np.sum(dc.real, axis=0), np.sum(dc.imag, axis=1))


def masked_bodies(positions: Array, velocities: Array, masses: Array, steps: int) -> Adjoint:
    """Keep the distances and the pull of each force; a step is linear otherwise."""
    kept = []

    def attraction() -> Array:
        x, y, z = positions[:, 0:1], positions[:, 1:2], positions[:, 2:3]
        apart = x.T - x, y.T - y, z.T - z
        pull = apart[0] ** 2 + apart[1] ** 2 + apart[2] ** 2
        np.fill_diagonal(pull, 0.0)
        far = pull > 0.01
        squared = pull[far]
        pull[far] = squared**-1.5
        pull[~far] = 0.0
        kept.append((apart, pull, far, squared))
        return np.stack([(pull * d) @ masses for d in apart], axis=1)

    def attraction_backwards(g: Array) -> None:
        apart, pull, far, squared = kept.pop()
        dpull = np.zeros_like(pull)
        dapart = []
        for k, d in enumerate(apart):
            dproduct = np.dot(g[:, k, None], masses[None])
            dmasses[...] += g[:, k] @ (pull * d)
            dpull += dproduct * d
            dproduct *= pull
            dapart.append(dproduct)
        slope = np.zeros_like(pull)
        slope[far] = -3.0 * dpull[far] * pull[far] / squared
        for k, (d, dd) in enumerate(zip(apart, dapart, strict=True)):
            dd += slope * d
            dpositions[:, k] += np.sum(dd, axis=0) - np.sum(dd, axis=1)

    force = attraction()
    for _ in range(steps):
        velocities += 0.005 * force
        positions += 0.01 * velocities
        force = attraction()
        velocities += 0.005 * force
    value = 0.5 * np.sum(masses[:, None] * velocities**2)
    dvelocities = masses[:, None] * velocities
    dpositions, dmasses = np.zeros_like(positions), 0.5 * np.sum(velocities**2, axis=1)
    dforce = np.zeros_like(velocities)
    for _ in range(steps):
        dforce += 0.005 * dvelocities
        attraction_backwards(dforce)
        dvelocities += 0.01 * dpositions
        dforce = 0.005 * dvelocities
    attraction_backwards(dforce)
    return value, (dpositions, dvelocities, dmasses)
