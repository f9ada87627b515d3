"""Statements with other dtypes: index arrays, masks, single precision, complex numbers."""

from __future__ import annotations

from tests.programs.views import random_view
from tests.programs.writer import Writer

__all__ = ["STATEMENTS"]


def new_index(w: Writer) -> None:
    """Bind an array of indices below three."""
    name = w.fresh("ix")
    count = w.rng.choice((2, 3, 4))
    values = [w.rng.randrange(3) for _ in range(count)]
    w.write(
        w.pick(
            f"{name} = np.array({values})", f"{name} = {values}", f"{name} = np.arange({count}) % 3"
        )
    )
    kind = "index"
    w.scope.add(name, kind, (count,))


def change_index(w: Writer) -> bool:
    """Rewrite an array of indices, after it may have been used."""
    index = w.name("index")
    if index is None:
        return False
    t = index.text
    w.write(w.pick(f"{t}[0] = ({t}[0] + 1) % 3", f"{t}[:] = {t}[::-1]",
                   f"{t}[-1] = {w.rng.randrange(3)}", f"{t}[0], {t}[1] = {t}[1], {t}[0]",
                   f"{t}[1:] = {t}[:-1]", f"{t}[:2] = [2, 0]"))  # fmt: skip
    return True


def new_mask(w: Writer) -> bool:
    """Bind a mask."""
    array = w.name("array")
    if array is None:
        return False
    name = w.fresh("k")
    w.write(w.pick(f"{name} = {array.text} > 0.12",
                   f"{name} = np.arange({array.text}.size).reshape({array.shape}) % 2 == 0",
                   f"{name} = np.abs({array.text}) < 0.4"))  # fmt: skip
    w.scope.add(name, "mask", array.shape)
    return True


def change_mask(w: Writer) -> bool:
    """Rewrite a mask, after it may have been used."""
    mask = w.name("mask")
    if mask is None:
        return False
    t = mask.text
    w.write(w.pick(f"{t}[0] = ~{t}[0]", f"np.logical_not({t}, out={t})",
                   f"{t} ^= True" if mask.rebinds else "pass", f"{t}[...] = {t}[::-1]",
                   f"{t}[-1] = True", f"{t}.fill(True)"))  # fmt: skip
    return True


def new_single(w: Writer) -> bool:
    """Bind an array of single precision, or change one."""
    array = w.name("array")
    if array is None:
        return False
    known = w.name("single")
    if known is not None and w.chance(0.6):
        t = known.text
        w.write(w.pick(f"{t}[1:] += {t}[:-1]", f"{t} *= {w.scalar(1)}" if known.rebinds else "pass",
                       f"{t}[...] = {w.array(known.shape, 1)}", f"{t}[0] = {w.scalar(1)}",
                       f"np.sin({t}, out={t})"))  # fmt: skip
        return True
    name = w.fresh("h")
    w.write(w.pick(f"{name} = {array.text}.astype(F32)", f"{name} = np.array({array.text}, F32)",
                   f"{name} = np.ones({array.shape}, dtype=F32) * F32(0.5)"))  # fmt: skip
    w.scope.add(name, "single", array.shape)
    return True


def use_single(w: Writer) -> bool:
    """Bring single precision back to double."""
    single = w.name("single")
    if single is None:
        return False
    name = w.fresh("a")
    form = w.pick("{0}.astype(float)", "{0} * np.ones({1})", "np.float64({0}) + 0.1",
                  "np.add({0}, {0}, dtype=np.float64)")  # fmt: skip
    w.write(f"{name} = {form.format(single.text, single.shape)}")
    w.scope.add(name, "array", single.shape)
    return True


def new_complex(w: Writer) -> bool:
    """Bind an array of complex numbers."""
    array = w.name("array")
    if array is None:
        return False
    name, other = w.fresh("z"), w.array(array.shape, 1)
    w.write(w.pick(f"{name} = {array.text} + 1j * ({other})", f"{name} = np.exp(1j * {array.text})",
                   f"{name} = np.zeros({array.shape}, complex)",
                   f"{name} = {array.text}.astype(complex)"))  # fmt: skip
    w.scope.add(name, "complex", array.shape)
    return True


def change_complex(w: Writer) -> bool:
    """Change complex numbers in place, through their parts and as a whole."""
    known = w.name("complex")
    if known is None:
        return False
    t, shape = random_view(w.rng, known.text, known.shape, w.rng.choice((0, 1)))
    value = w.operand(shape, 1)
    whole = known.text
    w.write(w.pick(
        f"{t}.real[...] = {value}", f"{t}.imag[...] += {value}", f"{t}[...] *= 0.6 + 0.5j",
        f"{whole}.imag = {w.operand(known.shape, 1)}", f"{whole}.real *= {w.scalar(1)}",
        f"{t}[...] += 1j * ({value})", f"np.conjugate({t}, out={t})", f"{t}[...] = {t}.conj()",
        f"{t}[...] = np.sin({t})", f"{t}[...] /= 1.2 + 0.3j", f"{t}[0] = 1j * {w.scalar(1)}",
        f"{t}[...] *= np.exp(1j * ({value}))", f"np.multiply({t}, {t}, out={t})",
        f"{whole}[1:] += 1j * {whole}[:-1]", f"{t}[...] = {t} * {t}.conj() + {t}",
        f"{t}.real[...], {t}.imag[...] = {t}.imag.copy(), {t}.real.copy()",
    ))  # fmt: skip
    return True


def use_complex(w: Writer) -> bool:
    """Bring complex numbers back to real ones."""
    known = w.name("complex")
    if known is None:
        return False
    name = w.fresh("a")
    form = w.pick("{0}.real", "{0}.imag", "np.abs({0}) ** 2", "np.real({0} * {0}.conj())",
                  "np.imag(np.exp({0}))", "({0} * (0.4 + 0.2j)).imag", "{0}.real[...]",
                  "np.real({0})", "abs({0} + 2.0)", "({0} ** 2).real")  # fmt: skip
    w.write(f"{name} = {form.format(known.text)}")
    w.scope.add(name, "array", known.shape)
    return True


STATEMENTS = {
    new_index: 2, change_index: 4, new_mask: 2, change_mask: 3, new_single: 2, use_single: 2,
    new_complex: 2, change_complex: 5, use_complex: 3,
}  # fmt: skip
