"""Python's standard library, as far as it configures models and scripts."""

from __future__ import annotations

import abc
import collections
import copy
import enum
import functools
import itertools
import math
import numbers
import operator
import types
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.budget import Budget, len_of
from torchlint.shapes.core.held_parts import modules_of
from torchlint.shapes.core.standins import NAMED_TUPLE, Interface, StandIn
from torchlint.shapes.core.values import Exhausted, ProgramExit, Special, Unknown, unknown_in
from torchlint.shapes.language import functions
from torchlint.shapes.libraries import onlookers
from torchlint.shapes.libraries.argparse import ARGPARSE
from torchlint.shapes.libraries.caching import CACHING
from torchlint.shapes.libraries.compilers import transparent
from torchlint.shapes.libraries.dataclass import DATACLASSES
from torchlint.shapes.libraries.dates import DATES
from torchlint.shapes.libraries.dumped import DUMPED
from torchlint.shapes.libraries.environment import ENVIRONMENT
from torchlint.shapes.libraries.generator_contexts import context_manager
from torchlint.shapes.libraries.importing import IMPORTING
from torchlint.shapes.libraries.inspecting import INSPECT
from torchlint.shapes.libraries.path_texts import path_text
from torchlint.shapes.libraries.paths import PATHS
from torchlint.shapes.libraries.plain_functions import PLAIN
from torchlint.shapes.libraries.processes import PROCESSES
from torchlint.shapes.libraries.randomness import RANDOM
from torchlint.shapes.libraries.regexes import REGEXES
from torchlint.shapes.libraries.settings_files import JSON
from torchlint.shapes.libraries.tables_of_text import TABLES_OF_TEXT
from torchlint.shapes.libraries.temporary import TEMPORARY
from torchlint.shapes.libraries.written_files import IN_MEMORY
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.supposed import surely_has_graph

_VERSION = collections.namedtuple("_VERSION", "major minor micro releaselevel serial")

# Modules that exist; names of them that are not in FOUND are unknown.
MODULES = frozenset(
    "math typing typing_extensions collections functools itertools operator copy dataclasses enum abc argparse types"
    " numbers os sys time datetime random json re logging warnings pathlib shutil glob string pickle contextlib inspect"
    " tempfile subprocess threading multiprocessing queue traceback csv io gc platform socket signal struct hashlib"
    " uuid urllib statistics heapq bisect textwrap pprint unittest getpass base64 codecs tarfile zipfile gzip"
    " weakref concurrent asyncio importlib secrets fractions decimal cmath array itertools locale calendar sched pdb"
    " timeit configparser http email html xml sqlite3 tkinter colorsys zlib bz2 lzma fnmatch difflib unicodedata ast"
    " dis atexit keyword cProfile pstats profile tracemalloc resource fcntl select mmap ctypes optparse getopt"
    " ordereddict __main__".split()
)
KNOWN = MODULES | frozenset(
    "os.path collections.abc concurrent.futures logging.handlers urllib.request importlib.metadata multiprocessing.pool"
    " unittest.mock importlib.util urllib.parse xml.etree xml.etree.ElementTree".split()
)


class Context(StandIn):
    """A context manager that does nothing, or counts the errors it expects."""

    def __init__(self, value: Any = None, swallow: bool = False):
        self.value = value
        self.swallow = swallow

    def __enter__(self):
        if self.swallow:
            machine().expected += 1
        return self.value

    def __exit__(self, kind, error, trace):
        if self.swallow:
            machine().expected -= 1
        return self.swallow

    def __call__(self, function):
        """As a decorator: every call happens inside the context."""
        if functions.closure_of(function) is None:
            return function

        @functools.wraps(function)
        def run(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return run


def machine():
    from torchlint.shapes.core.values import machines

    return machines[-1]


_PAIRS = (math.frexp, math.modf, math.isnan, math.isinf, math.isfinite)  # these give pairs, or answers


def _math(function):
    def compute(machine, *args, **kwargs):
        for value in (*args, *kwargs.values()):
            if machine.is_tensor(value):
                machine.ask_one_number(value, function)
            if type(value) is Unknown or machine.is_tensor(value):
                number = wild.is_number(value) and function not in _PAIRS
                kind = wild.WHOLE if function in (math.floor, math.ceil, math.trunc) else wild.REAL
                return wild.unknown("a number computed from an unknown", kind if number else None)
        if function in (math.factorial, math.comb, math.perm) and any(abs(a) > 500 for a in args):
            raise Exhausted("it computes a number that is too large")
        if len(args) > 1000:
            return Unknown("a number computed from very many")
        if function in (math.prod, math.fsum, math.gcd, math.lcm, math.dist, math.hypot):
            args = tuple(list(machine.iterate(a)) if not isinstance(a, (int, float)) else a for a in args)
            if any(
                isinstance(a, list) and (unknown_in(a) is not None or len(a) > 1000 or any(abs(v) > 1e18 for v in a))
                for a in args
            ):
                return Unknown("a number computed from unknowns")
        made = function(*args, **kwargs)
        return (
            made
            if not isinstance(made, int) or made.bit_length() <= Budget.BITS
            else Unknown("a number that is too large")
        )

    made = Special(function.__name__, compute)
    made.__dict__["pure"] = True
    return made


def _partial(machine, function, /, *args, **kwargs):
    return Unknown(function.reason) if type(function) is Unknown else functools.partial(function, *args, **kwargs)


def _wraps(machine, wrapped, *_, **__):
    def copy_names(machine, function):
        if functions.closure_of(function) is not None and type(wrapped) is not Unknown:
            for name in ("__name__", "__doc__"):
                if isinstance(getattr(wrapped, name, None), str):
                    setattr(function, name, getattr(wrapped, name))
            function.__wrapped__ = wrapped
        return function

    return Special("wraps", copy_names)


def _reduce(machine, function, items, *start):
    values = list(machine.iterate(items))
    if not start and not values:
        raise TypeError("reduce() of empty iterable with no initial value")
    total, rest = (start[0], values) if start else (values[0], values[1:])
    for value in rest:
        total = machine.call(function, [total, value], {})
    return total


def _count(machine, start=0, step=1):
    return machine.counted(itertools.count(start, step))


def _repeat(machine, value, times=None):
    return machine.counted(itertools.repeat(value) if times is None else itertools.repeat(value, times))


def _cycle(machine, items):
    return machine.counted(itertools.cycle(list(machine.iterate(items))))


def _chain(machine, *sources):
    return itertools.chain(*[list(machine.iterate(s)) for s in sources])


def _chain_from(machine, sources):
    return _chain(machine, *machine.iterate(sources))


def _lazily(function):
    def make(machine, *sources, **options):
        return function(*[machine.iterate(s) if not isinstance(s, int) else s for s in sources], **options)

    return make


def _product(machine, *sources, repeat=1):
    pools = [list(machine.iterate(s)) for s in sources]
    machine.budget.length(sum(map(len, pools)) * repeat + len(pools) * repeat)
    return machine.counted(itertools.product(*pools, repeat=repeat), 1 + (len(pools) * repeat >> 4))


def _combine(function):
    def make(machine, items, size):
        items = list(machine.iterate(items))
        return machine.counted(function(items, size), 1 + (min(len(items), size) >> 4))

    return make


def _starmap(machine, function, items):
    return (machine.call(function, list(machine.iterate(given)), {}) for given in machine.iterate(items))


def _islice(machine, items, *bounds):
    return itertools.islice(machine.iterate(items), *bounds)


def _accumulate(machine, items, function=None):
    made = []
    for item in machine.iterate(items):
        made.append(
            item
            if not made
            else (
                machine.call(function, [made[-1], item], {})
                if function
                else machine.operate(operator.add, made[-1], item)
            )
        )
    return iter(made)


def _operate(function):
    return Special(function.__name__, lambda machine, a, b: machine.operate(function, a, b))


def _itemgetter(machine, *keys):
    def get(machine, owner):
        values = tuple(machine.item(owner, key) for key in keys)
        return values if len(values) > 1 else values[0]

    return Special("itemgetter", get)


def _attrgetter(machine, *names):
    def get(machine, owner):
        values = []
        for name in names:
            value = owner
            machine.budget.touch_all((name, name, name))
            for part in name.split("."):
                machine.budget.spend()
                value = machine.get(value, part)
            values.append(value)
        return tuple(values) if len(values) > 1 else values[0]

    return Special("attrgetter", get)


def _methodcaller(machine, name, *args, **kwargs):
    return Special("methodcaller", lambda machine, owner: machine.call(machine.get(owner, name), list(args), kwargs))


def _copy(machine, value):
    """Copies share no containers; modules and tensors are copied by torch."""
    if not isinstance(value, (list, dict, set)):
        return _deepcopy(machine, value)
    machine.budget.length(len_of(value))
    return copy.copy(value)


def _deepcopy(machine, value, *_):
    machine.budget.spend(200)
    if type(value) is Unknown or isinstance(value, type) or type(value).__name__ == "Library":
        return value
    if isinstance(value, nn.Module):
        machine.walk(value)
        machine.budget.spend(200 * sum(1 for _ in modules_of(value)))
    machine.budget.touch_all([value] * 8)
    if isinstance(value, torch.Tensor) and not value.is_leaf and surely_has_graph(value):
        return machine.foreign(copy.deepcopy, (value,), {})
    if isinstance(value, nn.Module):
        for held in (one for part in modules_of(value) for one in vars(part).values()):
            if isinstance(held, torch.Tensor) and not held.is_leaf and surely_has_graph(held):
                machine.foreign(copy.deepcopy, (held,), {})  # torch refuses: a layer keeps what a forward computed
    try:
        made = copy.deepcopy(value)
    except (Exception, RecursionError):
        return Unknown("a copy")
    if isinstance(made, nn.Module):
        for old, new in zip(modules_of(value), modules_of(made)):
            if id(old) in machine.made_at:
                machine.made_at[id(new)] = (new, machine.made_at[id(old)][1])
    return made


def _namedtuple(machine, typename, field_names, *, defaults=(), **options):
    is_one_text = isinstance(field_names, str)
    names = field_names.replace(",", " ").split() if is_one_text else list(machine.iterate(field_names))
    machine.budget.spend(20 * len(names))
    if not all(isinstance(n, str) and n.isidentifier() and n[0] != "_" for n in names):
        return Unknown("a named tuple")
    made = collections.namedtuple("namedtuple_", names, defaults=list(defaults or ()))
    machine.codes[made] = None
    return made


def _exit(machine, status=None, *_):
    raise ProgramExit(status)


def _nothing(machine, *args, **kwargs):
    return None


def _suppress(machine, *kinds):
    return Context(None, swallow=True)


def _cast(machine, kind, value):
    return value


def _identity(machine, value=None, *args, **kwargs):
    return value


def _abstract(machine, function=None, *args, **kwargs):
    if isinstance(function, types.FunctionType):
        function.__isabstractmethod__ = True
    return function


def _type_variable(machine, *args, **kwargs):
    return object


def _cached_property(machine, function):
    return property(function)


def _singledispatch(machine, function):
    """Which function runs is for the kinds to say that are registered."""
    made = Special("singledispatch", lambda machine, *args, **kwargs: Unknown("a function for each kind of argument"))
    made.__dict__.update(bound=True, register=Unknown("singledispatch"))
    return made


def _dirname(machine, path):
    path = path_text(path)
    return path.rpartition("/")[0] if type(path) is str else Unknown("a path")


def _absolute(machine, path):
    path = path_text(path)
    return path if type(path) is str and path.startswith("/") and ".." not in path else Unknown("a path")


def _join(machine, *parts):
    parts = tuple(map(path_text, parts))
    if any(type(p) is not str for p in parts):
        return Unknown("a path")
    machine.budget.length(sum(map(len, parts)))
    return "/".join(parts)


def _basename(machine, path):
    path = path_text(path)
    return path.rpartition("/")[2] if isinstance(path, str) else Unknown("a path")


class Chained(dict):
    """`ChainMap(given, defaults)`: the first that has a key says what it is. Nobody works out what it is chained of."""

    maps = parents = new_child = Unknown("tables one after another")


def _chained(machine, *tables):
    if not all(isinstance(table, dict) for table in tables):
        return Unknown("tables one after another")
    machine.budget.length(sum(map(len_of, tables)))
    return Chained({key: value for table in reversed(tables) for key, value in dict.items(table)})


def _special(**table) -> dict[str, Any]:
    return {name.replace("__", "."): Special(name.rpartition("__")[2], function) for name, function in table.items()}


FOUND: dict[str, Any] = {
    **{f"math.{n}": _math(getattr(math, n)) for n in dir(math) if callable(getattr(math, n)) and n[0] != "_"},
    **{f"math.{n}": getattr(math, n) for n in ("pi", "e", "inf", "nan", "tau")},
    **{
        f"operator.{n}": _operate(getattr(operator, n))
        for n in "add sub mul truediv floordiv mod pow matmul and_ or_ xor".split()
    },
    **{
        f"operator.{n}": Special(n, lambda machine, a, b, f=getattr(operator, n): machine.compare(f, a, b))
        for n in "eq ne lt le gt ge".split()
    },
    **{
        f"typing.{n}": object
        for n in (
            "Any Union Optional Callable Generic TypeVar Literal Final ClassVar Annotated Type NewType "
            "Hashable Sized SupportsFloat SupportsInt Self TypeAlias ParamSpec Concatenate"
        ).split()
    },
    **{
        f"typing.{n}": k
        for n, k in {
            "List": list,
            "Dict": dict,
            "Tuple": tuple,
            "Set": set,
            "FrozenSet": frozenset,
            "OrderedDict": collections.OrderedDict,
            "DefaultDict": collections.defaultdict,
            "Text": str,
        }.items()
    },
    **{
        f"typing.{n}": getattr(collections.abc, n)
        for n in "Iterable Sequence Mapping Iterator MutableMapping MutableSequence Container Collection".split()
    },
    **{f"collections.abc.{n}": getattr(collections.abc, n) for n in collections.abc.__all__},
    **{
        f"types.{n}": getattr(types, n)
        for n in (
            "FunctionType",
            "LambdaType",
            "MethodType",
            "ModuleType",
            "GeneratorType",
            "BuiltinFunctionType",
            "NoneType",
        )
        if hasattr(types, n)
    },
    "typing.NamedTuple": NAMED_TUPLE,
    "typing.Protocol": Interface,
    "typing.TYPE_CHECKING": False,
    "collections.OrderedDict": collections.OrderedDict,
    "collections.defaultdict": collections.defaultdict,
    "collections.deque": collections.deque,
    "collections.Counter": collections.Counter,
    "collections.Iterable": collections.abc.Iterable,
    "numbers.Number": numbers.Number,
    "numbers.Integral": numbers.Integral,
    "numbers.Real": numbers.Real,
    "abc.ABC": abc.ABC,
    "abc.ABCMeta": abc.ABCMeta,
    "enum.Enum": enum.Enum,
    "enum.IntEnum": enum.IntEnum,
    "enum.Flag": enum.Flag,
    "enum.EnumMeta": enum.EnumMeta,
    "enum.EnumType": enum.EnumMeta,
    "itertools.zip_longest": Special("zip_longest", _lazily(itertools.zip_longest)),
    "itertools.chain.from_iterable": Special("from_iterable", _chain_from),
    "sys.exit": Special("exit", _exit),
    "os._exit": Special("exit", _exit),
    "sys.argv": ["program.py"],
    "sys.version_info": _VERSION(3, 11, 0, "final", 0),
    "sys.maxsize": 2**63 - 1,
    "sys.platform": "linux",
    "os.sep": "/",
    "os.name": "posix",
    "types.SimpleNamespace": Special("SimpleNamespace", lambda machine, **values: _namespace(values)),
    **onlookers.of(*MODULES),
    **ARGPARSE,
    **INSPECT,
    **RANDOM,
    **REGEXES,
    **PROCESSES,
    **PLAIN,
    **PATHS,
    **DATES,
    **IMPORTING,
    **ENVIRONMENT,
    **DATACLASSES,
    **DUMPED,
    **IN_MEMORY,
    **JSON,
    **TABLES_OF_TEXT,
    **TEMPORARY,
    **CACHING,
    **_special(
        functools__partial=_partial,
        functools__wraps=_wraps,
        functools__cached_property=_cached_property,
        functools__singledispatch=_singledispatch,
        functools__reduce=_reduce,
        itertools__count=_count,
        itertools__repeat=_repeat,
        itertools__cycle=_cycle,
        itertools__chain=_chain,
        itertools__product=_product,
        itertools__combinations=_combine(itertools.combinations),
        itertools__permutations=_combine(itertools.permutations),
        itertools__islice=_islice,
        itertools__accumulate=_accumulate,
        operator__itemgetter=_itemgetter,
        operator__attrgetter=_attrgetter,
        operator__methodcaller=_methodcaller,
        copy__copy=_copy,
        copy__deepcopy=_deepcopy,
        collections__namedtuple=_namedtuple,
        collections__ChainMap=_chained,
        contextlib__contextmanager=context_manager,
        contextlib__closing=lambda machine, value: Context(value),
        contextlib__redirect_stdout=lambda machine, target=None: Context(target),
        contextlib__redirect_stderr=lambda machine, target=None: Context(target),
        warnings__catch_warnings=lambda machine, **options: Context(),
        itertools__pairwise=_lazily(itertools.pairwise),
        itertools__starmap=_starmap,
        itertools__combinations_with_replacement=_combine(itertools.combinations_with_replacement),
        contextlib__nullcontext=lambda machine, value=None: Context(value),
        contextlib__suppress=_suppress,
        abc__abstractmethod=_abstract,
        typing__cast=_cast,
        typing__overload=_identity,
        typing__final=_identity,
        typing__override=_identity,
        typing__dataclass_transform=transparent,
        typing__runtime_checkable=_identity,
        typing__no_type_check=_identity,
        os__path__join=_join,
        os__path__dirname=_dirname,
        os__path__abspath=_absolute,
        os__path__realpath=_absolute,
        os__path__basename=_basename,
        random__seed=_nothing,
        warnings__warn=_nothing,
    ),
}
FOUND["functools.partialmethod"] = Unknown("functools.partialmethod")
FOUND["functools.partial"].__dict__["kind"] = functools.partial
for _name in ("typing.NewType", "typing.TypeVar", "typing.ParamSpec"):
    FOUND[_name] = Special(_name, _type_variable)
for _name, _value in list(FOUND.items()):
    if _name.startswith("typing."):
        FOUND["typing_extensions." + _name.partition(".")[2]] = _value


def _namespace(values: dict[str, Any]) -> Any:
    from torchlint.shapes.libraries.argparse import Namespace

    return Namespace(values)
