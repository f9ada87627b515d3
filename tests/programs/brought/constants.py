"""Statements with constants of other packages and of the standard library."""

from __future__ import annotations

from importlib.util import find_spec

from tests.programs.brought.fragments import Fragment, Statement, written_of

__all__ = ["STATEMENTS"]

SERIES = "SERIES{k} = pd.Series(np.linspace(0.3, {c} + 1.0, {n}))"
FRAME = "FRAME{k} = pd.DataFrame({{'u': np.linspace(0.3, 1.4, {n}), 'v': np.full({n}, {c})}})"
OF_SERIES = (
    "{r} = np.asarray({a} * SERIES{k})", "{r} = np.asarray(np.multiply(SERIES{k}, {a}))",
    "{r} = (SERIES{k} + {a}).to_numpy()", "{r} = {a} * SERIES{k}.to_numpy()",
    "{r} = SERIES{k}.values - {a}", "{o} = np.dot(SERIES{k}, {a}) * 1.0",
    "{o} = float(np.sum(SERIES{k} * {a}))", "{o} = SERIES{k}.iloc[1] * {s}",
    "{o} = sum(v * {s} for v in SERIES{k})", "{o} = SERIES{k}.mean() * {s} + SERIES{k}.max()",
    "{r} = np.add({a}, SERIES{k}.to_numpy(), out=np.empty({n}))",
    "{r} = {a} * 1.0\n{r} *= SERIES{k}.values", "{r} = {a} * 1.0\n{r}[:] = SERIES{k} * 2",
    "{r} = {a}.copy()\n{r}[SERIES{k} > 0.6] *= {s}",
    "{o} = {s}\nfor i, v in SERIES{k}.items():\n    {o} = {o} + v * {a}[i]",
)  # fmt: skip
OF_FRAME = (
    "{r} = FRAME{k}['u'].values * {a}", "{o} = np.sum(FRAME{k}.to_numpy().T @ {a})",
    "{o} = {s}\nfor _, row in FRAME{k}.iterrows():\n    {o} = {o} * row['v'] + row['u']",
    "{o} = {s}\nfor row in FRAME{k}.itertuples():\n    {o} = {o} * row.v + {a}[row.Index]",
    "{o} = FRAME{k}.loc[0, 'u'] * {s}", "{r} = np.asarray(FRAME{k}['u'] * {a} + FRAME{k}['v'])",
    "{o} = sum(FRAME{k}[name].sum() * {s} for name in FRAME{k}.columns)",
    "{r} = np.where(FRAME{k}['u'].to_numpy() > 0.6, {a}, {s})",
)  # fmt: skip
SPARSE = "SPARSE{k} = scipy.sparse.{kind}(np.eye({{n}}) * {{c}} + np.eye({{n}}, k=1))"
OF_SPARSE = (
    "{r} = SPARSE{k} @ {a}", "{r} = SPARSE{k}.dot({a})", "{r} = SPARSE{k}.T @ {a}",
    "{r} = {a} @ SPARSE{k}", "{r} = SPARSE{k}.toarray() @ {a}", "{o} = SPARSE{k}.sum() * {s}",
    "{r} = (SPARSE{k} * {c}) @ {a}", "{r} = SPARSE{k}.diagonal() * {a}",
    "{o} = {s}\nfor i, j, v in zip(*scipy.sparse.find(SPARSE{k})):\n    {o} += v * {a}[i] * {a}[j]",
    "{r} = np.zeros({n})\nfor i in range({n}):\n"
    "    for p in range(SPARSE{k}.indptr[i], SPARSE{k}.indptr[i + 1]):\n"
    "        {r}[i] += SPARSE{k}.data[p] * {a}[SPARSE{k}.indices[p]]",
)  # fmt: skip
OF_NUMBERS = (
    "{o} = Fraction(2, 3) * {s}", "{o} = (1.2 + {s} ** 2) ** Fraction(1, 2)",
    "{o} = float(Fraction(1, 3)) * {s}", "{o} = {s} - Fraction(1, 7)",
    "{o} = {s} * 1.0 if {t} > Fraction(1, 9) else {t} * 0.5",
    "{o} = sum([Fraction(1, 3), {s}, {t}])", "{o} = Fraction(3, 4) / (1.3 + {s} ** 2)",
    "{o} = math.fsum([Fraction(1, 3), {s}])", "{o} = max(Fraction(1, 9), {s}) * 1.0",
    "{o} = np.float64({s}) * Fraction(1, 3)", "{r} = {a} * float(Fraction(5, 7))",
    "{o} = float(Decimal('0.7')) * {s}", "{o} = {s} * 2.0 if {t} > Decimal('0.1') else {t}",
    "try:\n    {o} = {s} * Decimal('0.7')\nexcept TypeError:\n    {o} = {s} * 0.25",
    "{o} = {s} * int(Decimal('2.9')) + Decimal('1.5').as_tuple().exponent",
    "{o} = round({s} * 0.0 + 0.7, 2) * {t}", "{o} = {s} * (True + Fraction(1, 2))",
    "{o} = (1.1 + {s} * {s}) ** Decimal('0.5').__float__()",
)  # fmt: skip
MATRIX = "MATRIX{k} = np.matrix(np.eye({n}) * {c} + np.arange({n}) * 0.1)"
OF_MATRIX = (
    "{r} = np.asarray(MATRIX{k}) @ {a}", "{r} = MATRIX{k}.A @ {a}",
    "{r} = np.asarray(MATRIX{k} @ {a}).ravel()", "{o} = np.sum(MATRIX{k} * {a}.reshape(-1, 1))",
    "{r} = MATRIX{k}.A1[:{n}] * {a}", "{r} = np.asarray(np.multiply(MATRIX{k}, {a}))[0]",
    "{o} = MATRIX{k}[0, 1] * {s} + MATRIX{k}.sum()", "{r} = np.asarray(np.dot({a}, MATRIX{k}))[0]",
    "q{k} = MATRIX{k} @ {a}\n{o} = seen(q{k}, {a}) + np.sum(q{k})",
)  # fmt: skip
MASKED = "MASKED{k} = np.ma.masked_array(np.linspace(0.4, 1.3, {n}), mask=np.arange({n}) == 1)"
OF_MASKED = (
    "{r} = MASKED{k}.filled(0.2) * {a}", "{r} = MASKED{k}.data + {a}",
    "{r} = np.where(MASKED{k}.mask, {a}, MASKED{k}.data * {s})",
    "{r} = np.ma.filled(MASKED{k} * {a}, 0.3)", "{o} = float(np.ma.sum(MASKED{k} * {a}))",
    "{o} = MASKED{k}.sum() * {s}", "{o} = sum(v * {s} for v in MASKED{k}.compressed())",
    "{r} = {a} * 1.0\n{r}[~MASKED{k}.mask] *= {s}",
)  # fmt: skip
BUFFER = "BUFFER{k} = (ctypes.c_double * {n})(*np.linspace(0.4, {c} + 0.5, {n}))"
OF_BUFFER = (
    "{r} = np.ctypeslib.as_array(BUFFER{k}) * {a}", "{o} = BUFFER{k}[1] * {s}",
    "{r} = np.frombuffer(BUFFER{k}) - {a}", "{o} = sum(v * {s} for v in BUFFER{k})",
    "{r} = np.array(BUFFER{k}) * {a}", "{r} = np.asarray(memoryview(BUFFER{k})) * {a}",
    "BUFFER{k}[0] = 0.8\n{o} = BUFFER{k}[0] * {s}",
    "v{k} = np.frombuffer(BUFFER{k})\nv{k}[1] = 0.6\n{o} = BUFFER{k}[1] * {s}",
)  # fmt: skip
ARRAY = "NUMBERS{k} = array.array('d', np.linspace(0.4, {c} + 0.5, {n}))"
OF_ARRAY = (
    "{r} = np.frombuffer(NUMBERS{k}) * {a}", "{o} = NUMBERS{k}[1] * {s}",
    "{r} = np.array(NUMBERS{k}) + {a}", "{o} = sum(v * {s} for v in NUMBERS{k})",
    "NUMBERS{k}[0] = 0.8\n{o} = NUMBERS{k}[0] * {s}", "{r} = np.multiply({a}, NUMBERS{k})",
)  # fmt: skip
XARRAY = "DATA{k} = xr.DataArray(np.linspace(0.3, {c} + 1.0, {n}), dims='i')"
OF_XARRAY = (
    "{r} = DATA{k}.values * {a}", "{r} = np.asarray(np.multiply(DATA{k}, {a}))",
    "{r} = (DATA{k} * {a}).values", "{o} = float(DATA{k}.sum()) * {s}",
    "{o} = sum(float(v) * {s} for v in DATA{k})",
)  # fmt: skip


def family(name: str, module: str, bodies: tuple[str, ...]) -> Statement:
    return written_of(name, [Fragment(body, module) for body in bodies])


def sparse_constants() -> Statement:
    kinds = "csr_array", "csr_matrix", "coo_array"
    modules = [SPARSE.replace("{kind}", kind).replace("{{", "{").replace("}}", "}")
               for kind in kinds]  # fmt: skip
    return written_of("constant_sparse_matrix", [
        Fragment(body, module) for body in OF_SPARSE for module in modules
        if "csr" in module or "indptr" not in body
    ])  # fmt: skip


STATEMENTS: dict[Statement, int] = {
    written_of("numbers_of_python", [Fragment(body) for body in OF_NUMBERS]): 3,
    family("constant_matrix", MATRIX, OF_MATRIX): 1,
    family("constant_masked_array", MASKED, OF_MASKED): 1,
    family("constant_buffer_of_ctypes", BUFFER, OF_BUFFER): 2,
    family("constant_array_of_python", ARRAY, OF_ARRAY): 1,
}
if find_spec("scipy"):
    STATEMENTS[sparse_constants()] = 2
if find_spec("pandas"):
    STATEMENTS[family("constant_series", SERIES, OF_SERIES)] = 2
    STATEMENTS[family("constant_frame", FRAME, OF_FRAME)] = 1
if find_spec("xarray"):
    STATEMENTS[family("constant_data_array", XARRAY, OF_XARRAY)] = 1
