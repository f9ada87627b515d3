"""Statements that write into what a function returned, and look whose memory it is."""

from __future__ import annotations

from tests.programs.brought.fragments import Fragment, Statement, write_fragment
from tests.programs.writer import Writer

__all__ = ["STATEMENTS"]

OF_VECTOR = (  # give an array of the size of a vector, in its memory or in memory of their own
    "np.ravel({a})", "{a}.ravel()", "{a}.reshape(-1)", "np.reshape({a}, (1, {n}))[0]",
    "np.asarray({a})", "np.ascontiguousarray({a})", "np.atleast_1d({a})", "np.atleast_2d({a})[0]",
    "np.squeeze({a}[None])", "np.transpose({a})", "np.real({a})", "{a}.real", "np.flip({a})",
    "np.array({a}, copy=False) if {a}.flags.owndata else np.array({a})", "{a}.astype(float)",
    "{a}.astype(float, copy=False)", "np.asfortranarray({a})", "np.require({a}, float, 'C')",
    "np.nan_to_num({a}, copy=False)", "np.nan_to_num({a})", "np.expand_dims({a}, 0)[0]",
    "np.split({a}, [0])[1]", "np.array_split({a}, 1)[0]", "np.moveaxis({a}[None], 0, 1)[:, 0]",
    "np.broadcast_arrays({a}, {a} * 1.0)[1]", "np.diag({a}).diagonal().copy()", "{a}.view()",
    "np.take({a}, range({n}))", "{a}.take(range({n}))", "np.compress([True] * {n}, {a})",
    "np.roll({a}, 0)", "np.copy({a})", "{a}.flatten()", "np.swapaxes({a}[None], 0, 1)[:, 0]",
    "np.asanyarray({a})", "{a}[...]", "{a}[:]", "{a}[()]", "{a}.squeeze()", "{a}.swapaxes(0, 0)",
    "np.concatenate([{a}])", "np.stack([{a}])[0]", "np.hstack([{a}])", "np.resize({a}, {n})",
    "np.repeat({a}, 1)", "np.tile({a}, 1)", "np.positive({a})", "np.fft.fftshift({a})",
    "np.array_split({a}[::-1], 1)[0]", "np.asarray_chkfinite({a})", "np.block([{a}])",
    "np.delete({a}, [])", "np.insert({a}, [], [])", "np.trim_zeros({a} + 3.0) - 3.0",
    "np.unwrap({a} * 0.1)", "np.maximum({a}, -9.0)", "np.clip({a}, -9.0, 9.0)", "{a}.conj()",
    "np.conj({a})", "np.real_if_close({a})", "np.select([{a} > -9.0], [{a}])", "np.sort({a})",
    "np.lib.stride_tricks.sliding_window_view({a}, 1)[:, 0] * 1.0", "np.rot90({a}[None], 2)[0]",
    "np.lib.stride_tricks.as_strided({a}, ({n},), {a}.strides)", "np.einsum('i->i', {a})",
    "np.einsum('i', {a})", "np.partition({a}, 1)", "np.extract([True] * {n}, {a})",
    "np.choose([0] * {n}, [{a}, {a} * 2])", "{a}.repeat(1)", "np.dstack([{a}])[0, :, 0]",
    "np.vstack([{a}])[0]", "np.column_stack([{a}])[:, 0]", "np.fliplr({a}[None])[0]",
    "np.flipud({a})", "np.cumsum({a})", "np.add({a}, 0.0)", "np.append({a}, [])",
    "np.apply_along_axis(lambda v: v, 0, {a})", "np.vectorize(lambda v: v * 1.0)({a})",
    "np.fromiter({a}, float)", "np.array(list({a}))", "np.array({a}.tolist())",
    "np.stack(np.meshgrid({a}, [0.0]))[0, 0]", "np.ix_({a})[0]", "np.unstack({a}[None])[0]",
    "np.matrix_transpose({a}[None])[:, 0]", "np.piecewise({a}, [{a} > -9.0], [lambda v: v])",
)  # fmt: skip
OF_SCIPY = (
    "scipy.linalg.solve(np.eye({n}), {a})", "scipy.ndimage.gaussian_filter1d({a}, 0.7)",
    "scipy.signal.lfilter([1.0], [1.0], {a})", "scipy.signal.detrend({a})",
    "scipy.fft.ifft(scipy.fft.fft({a})).real", "scipy.ndimage.shift({a}, 0)",
    "scipy.linalg.toeplitz({a})[:, 0]", "scipy.special.expit({a})",
    "scipy.linalg.circulant({a})[:, 0]", "scipy.linalg.cho_solve((np.eye({n}), True), {a})",
    "scipy.integrate.cumulative_trapezoid({a}, initial=0.0)", "scipy.linalg.diagsvd({a}, {n}, {n})"
    ".diagonal().copy()", "scipy.linalg.solve_triangular(np.eye({n}), {a})",
)  # fmt: skip
OF_MATRIX = (  # give an array made of a matrix w
    "w{k}.ravel()", "w{k}.T.ravel()", "np.ravel(w{k}.T)", "w{k}.reshape(-1)", "w{k}.T.reshape(-1)",
    "w{k}[:, 0]", "w{k}[:, ::-1]", "w{k}.T", "np.diagonal(w{k}).copy()", "np.asfortranarray(w{k})",
    "np.ascontiguousarray(w{k}.T)", "w{k}.ravel(order='K')", "w{k}.ravel(order='F')",
    "w{k}.flatten(order='F')", "np.copy(w{k}.T)", "w{k}.T.copy()", "np.array(w{k}.T)",
    "w{k}.T * 2.0", "np.sin(w{k}.T)", "w{k}.T + w{k}[0, 0]", "np.rot90(w{k})", "w{k} @ w{k}.T",
    "np.cumsum(w{k}, axis=1)", "np.triu(w{k})", "np.vsplit(w{k}, 2)[1]", "np.hsplit(w{k}, 2)[0]",
    "w{k}[[1, 0]]", "w{k}[:, [1, 0]]", "w{k}[w{k} > -9.0]", "w{k}.swapaxes(0, 1)",
    "np.linalg.inv(np.eye(2) + 0.1 * w{k}[:, :2])", "np.einsum('ij->ji', w{k})",
    "w{k}.astype(np.float64, order='K', copy=False)", "w{k}.T.astype(float)", "w{k}.reshape(2, 2, 1)",
    "np.moveaxis(w{k}, 0, 1)", "np.broadcast_to(w{k}[0], (2, 2)) * 1.0", "np.fft.fft(w{k}.T).real",
    "np.sort(w{k}.T, axis=0)", "np.take(w{k}, [1, 0], axis=1)", "np.tensordot(w{k}, w{k}, 1)",
    "np.linalg.qr(np.eye(2) + 0.1 * w{k})[0]", "np.linalg.cholesky(np.eye(2) * 5 + w{k} @ w{k}.T)",
    "np.where(w{k}.T > -9, w{k}.T, 0)", "np.zeros_like(w{k}.T) + w{k}", "np.empty_like(w{k}.T) * 0",
    "w{k}.T.mean(axis=0)", "np.maximum(w{k}.T, -9.0)", "-w{k}.T", "w{k}.T ** 2", "w{k}.T.clip(-9, 9)",
)  # fmt: skip


def write_into_result(w: Writer) -> bool:
    """Write into what a function of a vector gave, or into the vector, and look at both."""
    bodies = OF_VECTOR if w.chance(0.85) else OF_SCIPY
    source = w.pick("{a}", "{a}", "w{k}[::2][:{n}]", "w{k}[::-1][:{n}]")
    lines = [] if source == "{a}" else ["w{k} = np.repeat({a}, 2)"]
    lines += [f"v{{k}} = {source}", "{r} = " + w.rng.choice(bodies).replace("{a}", "v{k}")]
    change = w.pick("{r}[1:] *= {t}", "{r} += 0.1", "v{k}[0] = {t}", "v{k} *= 0.9", "{r}.sort()")
    lines += [
        "if {r}.flags.writeable:",
        f"    {change}",
        "{o} = seen({r}, v{k}) + {r}[0] * v{k}[0]",
    ]
    return write_fragment(w, Fragment("\n".join(lines)))


def write_into_part_of_matrix(w: Writer) -> bool:
    """Write into what a function of a matrix gave, and look at both."""
    made = w.pick("np.outer({a}[:2], [1.0, 0.4]) + np.eye(2)", "np.array([{a}[:2], {a}[1:3]])",
                  "np.asfortranarray(np.array([{a}[:2], {a}[1:3]]))",
                  "np.outer({a}, {a}[:3])[1:3, ::2]", "np.outer({a}, {a})[:2, :2].T")  # fmt: skip
    lines = [f"w{{k}} = {made}", "q{k} = " + w.rng.choice(OF_MATRIX)]
    change = w.pick("q{k}[...] *= {t}", "q{k}[0] += {t}", "w{k}[0] = {t}", "w{k} *= 0.9")
    lines += ["if q{k}.flags.writeable:", f"    {change}",
              "{o} = seen(q{k}, w{k}) + np.sum(q{k}) * w{k}[0, 1] + np.sum(w{k} ** 2)"]  # fmt: skip
    return write_fragment(w, Fragment("\n".join(lines)))


STATEMENTS: dict[Statement, int] = {write_into_result: 5, write_into_part_of_matrix: 5}
