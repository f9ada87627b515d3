"""Statements with state: data made lazily, caches, locals of threads, queues, weak references."""

from __future__ import annotations

from tests.programs.brought.fragments import Fragment, Statement, written_of

__all__ = ["STATEMENTS"]

LAZY = [
    Fragment(
        "m{k} = Lazy{k}({s}, {a})\n{o} = m{k}.c + np.sum(m{k}.d) * m{k}.c\n{a}[0] *= 0.7\n"
        "{o} = {o} + np.sum(m{k}.d) + m{k}.made",
        "class Lazy{k}:\n    made = 0\n    def __init__(self, s, a):\n        self.s, self.a = s, a\n"
        "    @functools.cached_property\n    def c(self):\n        self.made += 1\n"
        "        return self.s * {c}\n    @functools.cached_property\n    def d(self):\n"
        "        self.made += 1\n        return self.a * self.c",
    ),
    Fragment(
        "MODEL{k}.s = {s}\n{o} = MODEL{k}.value() + MODEL{k}.value()\nMODEL{k}.kept = None\n"
        "{o} = {o} * MODEL{k}.value() + MODEL{k}.calls",
        "class Model{k}:\n    kept = None\n    calls = 0\n    s = 0.5\n    def value(self):\n"
        "        if self.kept is None:\n            self.calls += 1\n"
        "            self.kept = self.s ** 2 + {c}\n        return self.kept\nMODEL{k} = Model{k}()",
    ),
    Fragment(
        "{o} = cached{k}({s}) + cached{k}({s}) * cached{k}({t}) + len(CACHE{k})",
        "CACHE{k} = {{}}\ndef cached{k}(u):\n    key = round(float(u), 6)\n"
        "    if key not in CACHE{k}:\n        CACHE{k}[key] = u * u * {c}\n    return CACHE{k}[key]",
    ),
    Fragment(
        "{o} = cached{k}({s}) + cached{k}({s}) * cached{k}({t})",
        "@functools.lru_cache\ndef cached{k}(u):\n    return u * u * {c}",
    ),
    Fragment(
        "u{k} = {s}\n{o} = cached{k}(u{k}) + cached{k}(u{k}) + 0.1 * COUNT{k}[0]",
        "COUNT{k} = [0]\n@functools.cache\ndef cached{k}(u):\n    COUNT{k}[0] += 1\n"
        "    return u * u * {c}",
    ),
    Fragment(
        "{o} = cached{k}(({s}, 'u')) + cached{k}(({s}, 'u')) * cached{k}(({t}, 'v'))",
        "@functools.cache\ndef cached{k}(key):\n    return key[0] * key[0] * {c} + len(key[1])",
    ),
    Fragment(
        "u{k} = {s}\n{o} = cached{k}(State{k}(u{k}, 3)) + cached{k}(State{k}(u{k}, 3))"
        " + 0.1 * COUNT{k}[0]",
        "COUNT{k} = [0]\n@dataclasses.dataclass(frozen=True)\nclass State{k}:\n    u: float\n"
        "    n: int\n@functools.cache\ndef cached{k}(state):\n    COUNT{k}[0] += 1\n"
        "    if state.n < 2:\n        return state.u * {c}\n    u = state.u\n"
        "    return cached{k}(State{k}(u, state.n - 1)) + 0.5 * cached{k}(State{k}(u, state.n - 2))",
    ),
    Fragment(
        "{o} = cached{k}(Site{k}({s}, 'u')) + cached{k}(Site{k}({t}, 'u')) * cached{k}(Site{k}({t}, "
        "'v')) + 0.1 * COUNT{k}[0]",
        "COUNT{k} = [0]\nclass Site{k}:\n    def __init__(self, u, name):\n"
        "        self.u, self.name = u, name\n    def __eq__(self, other):\n"
        "        return self.name == other.name\n    def __hash__(self):\n"
        "        return hash(self.name)\n@functools.cache\ndef cached{k}(site):\n"
        "    COUNT{k}[0] += 1\n    return site.u * site.u * {c}",
    ),
    Fragment(
        "m{k} = Mesh{k}({a} * {s})\n{o} = m{k}.total(2) * m{k}.total(1)\nm{k}.a[0] *= 3.0\n"
        "{o} = {o} + m{k}.total(2)",
        "class Mesh{k}:\n    def __init__(self, a):\n        self.a = a\n"
        "    def __eq__(self, other):\n        return self is other\n    def __hash__(self):\n"
        "        return id(self)\n    @functools.cache\n    def total(self, n):\n"
        "        return self.a.sum() ** n * {c}",
    ),
    Fragment(
        "{o} = series{k}(9) * {s} + series{k}.cache_info().misses * 0.01",
        "@functools.lru_cache(maxsize=None)\ndef series{k}(i):\n"
        "    return {c} if i < 2 else 0.5 * series{k}(i - 1) + 0.3 * series{k}(i - 2)",
    ),
    Fragment(
        "LOG{k}.append({s})\nLOG{k}.append({a})\n{a}[1] = {t}\n{o} = LOG{k}[0] + np.sum(LOG{k}[1])"
        " + len(LOG{k})",
        "LOG{k} = []",
    ),
    Fragment("global TOTAL{k}\nTOTAL{k} = TOTAL{k} + {s}\n{o} = TOTAL{k} * {t}", "TOTAL{k} = {c}"),
    Fragment(
        "{o} = counter{k}({s}) + counter{k}({t})",
        "def counter{k}(u, calls=[0]):\n    calls[0] += 1\n    return u * calls[0]",
    ),
    Fragment(
        "{o} = counter{k}({s}) + counter{k}({t}) + counter{k}.calls",
        "def counter{k}(u):\n    counter{k}.calls += 1\n    counter{k}.last = u\n"
        "    return u * counter{k}.calls\ncounter{k}.calls = 0",
    ),
    Fragment(
        "Kept{k}.items.append({s})\nKept{k}.total = Kept{k}.total + {t}\n"
        "{o} = Kept{k}.items[-1] * Kept{k}.total",
        "class Kept{k}:\n    items = []\n    total = 0.4",
    ),
]
REFERENCES = [
    Fragment(
        "b{k} = Node{k}({s})\nw{k} = weakref.ref(b{k})\n{o} = w{k}().u * {t}\ndel b{k}\n"
        "{o} = {o} + (0.2 if w{k}() is None else 0.9)",
        "class Node{k}:\n    def __init__(self, u):\n        self.u = u * {c}",
    ),
    Fragment(
        "b{k} = Node{k}({s})\nKEPT{k}['b'] = b{k}\n{o} = KEPT{k}['b'].u * {t} + len(KEPT{k})\n"
        "b{k} = None\n{o} = {o} + 0.1 * ('b' in KEPT{k}) + (KEPT{k}.get('b') is None)",
        "class Node{k}:\n    def __init__(self, u):\n        self.u = u * {c}\n"
        "KEPT{k} = weakref.WeakValueDictionary()",
    ),
    Fragment(
        "b{k} = Node{k}({s})\nKEPT{k}[b{k}] = {t}\n{o} = KEPT{k}[b{k}] * b{k}.u\n"
        "c{k} = Node{k}({t})\nALL{k}.add(c{k})\n{o} = {o} + sum(v.u for v in ALL{k})",
        "class Node{k}:\n    def __init__(self, u):\n        self.u = u * {c}\n"
        "KEPT{k} = weakref.WeakKeyDictionary()\nALL{k} = weakref.WeakSet()",
    ),
    Fragment(
        "LOCAL{k}.u = {s}\n{o} = LOCAL{k}.u * LOCAL{k}.v\nLOCAL{k}.v = LOCAL{k}.v + {t}\n"
        "{o} = {o} + LOCAL{k}.v\ndel LOCAL{k}.u\n{o} = {o} + hasattr(LOCAL{k}, 'u')",
        "LOCAL{k} = threading.local()\nLOCAL{k}.v = {c}",
    ),
    Fragment(
        "QUEUE{k}.put({s})\nQUEUE{k}.put({a})\n{o} = QUEUE{k}.get() * {t}\n"
        "{o} = {o} + np.sum(QUEUE{k}.get()) + QUEUE{k}.qsize()",
        "QUEUE{k} = queue.Queue()",
    ),
    Fragment(
        "heapq.heappush(HEAP{k}, {s})\nheapq.heappush(HEAP{k}, 9.0)\n{o} = heapq.heappop(HEAP{k}) * {t}",
        "HEAP{k} = [0.4]",
    ),
    Fragment(
        "t{k} = CONTEXT{k}.set({s})\n{o} = CONTEXT{k}.get() * {t}\nCONTEXT{k}.reset(t{k})\n"
        "{o} = {o} + CONTEXT{k}.get()",
        "CONTEXT{k} = contextvars.ContextVar('CONTEXT{k}', default={c})",
    ),
    Fragment(
        "with contextlib.redirect_stdout(io.StringIO()) as own{k}:\n    pprint.pprint([{c}])\n"
        "    print(len({a}))\njson.dump([{c}], own{k})\n{o} = {s} * len(own{k}.getvalue())",
    ),
    Fragment(
        "with LOCK{k}:\n    DEQUE{k}.appendleft({s})\n    DEQUE{k}.rotate(1)\n"
        "{o} = DEQUE{k}[0] * {t} + DEQUE{k}[-1] + len(DEQUE{k}) + LOCK{k}.locked()",
        "LOCK{k} = threading.Lock()\nDEQUE{k} = deque([{c}, 0.2], maxlen=3)",
    ),
]

STATEMENTS: dict[Statement, int] = {
    written_of("data_made_lazily", LAZY): 5,
    written_of("references_and_queues", REFERENCES): 4,
}
