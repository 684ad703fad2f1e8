"""Python's built-in functions as the dry run answers them."""

from __future__ import annotations

import builtins
import types
from typing import Any

import torch

from torchlint.shapes.core.standins import ImportedFile, Interface, Library
from torchlint.shapes.core.values import ProgramExit, Special, Unknown, report_use
from torchlint.shapes.language import functions
from torchlint.shapes.language.cut_short import MORE, REST
from torchlint.shapes.language.expressions import PLAIN
from torchlint.shapes.libraries.containers import order_of
from torchlint.shapes.libraries.importing import IMPORT
from torchlint.shapes.libraries.randomness import in_any_order
from torchlint.shapes.libraries.settings_files import open_file
from torchlint.shapes.libraries.written_files import WrittenFile, knowing
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import Array

NUMBERS = (int, float)


def _len(machine, value):
    kind = type(value)
    if kind is Unknown:
        if machine.wild and wild.known_of(value) is not None:
            return machine.in_worlds(lambda given: _len(machine, given[0]), [value], value.reason)
        report_use(value, "len")
        return _counted(machine, value, value.reason)
    method = getattr(kind, "__len__", None)
    if functions.closure_of(method) is not None:
        length = method(value)
        machine.ask_ends((length,))
        return length
    if machine.may_miss(value):
        return _counted(machine, value, MORE)
    if isinstance(value, (torch.Tensor, Array)):
        return machine.foreign(len, (value,), {})
    try:
        return len(value)
    except TypeError as error:
        raise machine.of_nothing(error) if value is None else machine.deny(error, value)


def _counted(machine, value, reason):
    """How many items something has of which nobody has counted them."""
    number, lengths = wild.unknown(reason, wild.WHOLE), machine.changes.lengths
    may_be_list = type(value) in (Unknown, list, tuple) and machine.wild
    return lengths.number(number, lengths.measured(value)) if may_be_list else number


def _isinstance(machine, value, kinds):
    machine.budget.touch(kinds)
    if isinstance(kinds, (tuple, types.UnionType)):
        kinds = getattr(kinds, "__args__", kinds)
        answers = [_isinstance(machine, value, kind) for kind in kinds]
        if any(a is True for a in answers):
            return True
        return next((a for a in answers if type(a) is Unknown), False)
    if type(kinds) is Unknown:  # a class of another library: torch's tensors and Python's values are not made of it
        known = type(value) in PLAIN or type(value) is torch.Tensor or isinstance(value, (str, list, tuple, dict))
        return False if known else Unknown("an unknown class")
    if type(value) is Unknown:
        return _unknown_is(machine, value, kinds)
    if isinstance(kinds, Special):
        if "home" in kinds.__dict__ and isinstance(value, torch.Tensor):  # `torch.cuda.FloatTensor`
            where = machine.device_of(value)
            at_home = Unknown("a device") if where is None else where.type == kinds.__dict__["home"]
            return at_home if value.dtype is kinds.__dict__["dtype"] else False
        kinds = kinds.__dict__.get("kind", ())
    if kinds is callable or not isinstance(kinds, type):
        return False
    if isinstance(value, Array) or kinds is Array:
        return kinds is Array and isinstance(value, Array)
    if kinds is torch.Tensor and isinstance(value, torch.nn.Parameter):
        return True
    if isinstance(value, kinds):
        return True
    return Unknown("whether it has the methods of a protocol") if Interface in kinds.__bases__ else False


def _unknown_is(machine, value, kind):
    """A tensor of any size is a tensor, and a number that nobody knows is none, nor a list."""
    known = wild.known_of(value)
    if known is not None and all(isinstance(one, (torch.Tensor, Array)) for one in known.values.values()):
        return _isinstance(machine, known.example, kind)
    kind = kind.__dict__.get("kind") if isinstance(kind, Special) else kind
    if wild.is_number(value) or wild.is_text(value) or known is not None and type(known.example) in PLAIN:
        others = (torch.Tensor, torch.nn.Module, Array, list, tuple, dict, set)
        if isinstance(kind, type) and issubclass(kind, (*others, *(() if wild.is_text(value) else (str,)))):
            return False
    return Unknown("an unknown value")


def _exec(machine, code, *spaces):
    for space in spaces:
        if isinstance(space, dict):
            machine.changes.loosen(space)  # whatever the code defines


def _issubclass(machine, value, kinds):
    if type(value) is Unknown or not isinstance(value, type):
        return Unknown("an unknown class")
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    known = tuple(k for k in kinds if isinstance(k, type))
    if issubclass(value, known):
        return True
    is_open = any(Interface in kind.__bases__ for kind in known)
    return Unknown("whether it has the methods of a protocol") if is_open else False


def _getattr(machine, owner, name, *default):
    if type(name) is not str:
        return Unknown("an attribute of unknown name")
    machine.trying += bool(default)
    try:
        return machine.get(owner, name)
    except AttributeError:
        if default:
            return default[0]
        raise
    finally:
        machine.trying -= bool(default)


def _hasattr(machine, owner, name):
    if type(owner) is Unknown or type(name) is not str:
        return Unknown("whether an unknown has an attribute")
    return machine.has(owner, name)


def _setattr(machine, owner, name, value):
    if type(name) is str:
        machine.set(owner, name, value)
    elif type(name) is Unknown:
        machine.set_somewhere(owner, value)


def _delattr(machine, owner, name):
    if type(name) is str:
        machine.delete_attribute(owner, name)


def _extreme(best):
    def find(machine, *values, key=None, default=None):
        if len(values) == 1:
            if type(values[0]) is Unknown or isinstance(values[0], (torch.Tensor, Array)):
                if isinstance(values[0], torch.Tensor):
                    return machine.foreign(getattr(torch, best.__name__), values, {})
                return Unknown("the largest or smallest of unknown values")
            values = list(machine.iterate(values[0]))
            if not values:
                return default if default is not None else Unknown("the largest or smallest of what was left out")
        if machine.wild and key is None and wild.has_count(values) and wild.choices_in(values)[1] is None:
            return machine.in_worlds(lambda given: best(given), list(values), "the largest or smallest of some counts")
        if any(type(v) is Unknown or machine.is_tensor(v) for v in values):
            kind = wild.kind_among(v for v in values if v is not REST)
            made = wild.unknown("the largest or smallest of unknown values", kind)
            return made if key is not None else machine.changes.lengths.extreme(best, values, made)
        if key is None:
            machine.budget.touch(values)
            return best(values)
        keys = [machine.call(key, [v], {}) for v in values]
        if any(type(k) is Unknown for k in keys):
            found = in_any_order(values) if machine.wild else None
            return found[0] if found else Unknown("the largest or smallest of unknown values")
        machine.budget.touch_all((keys, keys))
        return values[keys.index(best(keys))]

    return find


def _sum(machine, items, start=0):
    if type(items) is Unknown:
        return Unknown(items.reason)
    total = start
    for item in machine.iterate(items):
        total = machine.operate(_add, total, item)
    return total


def _add(a, b):
    return a + b


_add.__name__ = "add"


def _sorted(machine, items, key=None, reverse=False):
    values = list(machine.iterate(items))
    keys = [machine.call(key, [v], {}) if key else v for v in values]
    if any(type(k) is Unknown or isinstance(k, (torch.Tensor, Array)) for k in keys):
        known = in_any_order(values) if machine.wild else None
        return Unknown("it is sorted by unknown keys") if known is None else known
    return [values[i] for i in order_of(machine, keys, reverse)]


def _truth_of(item):
    truth = wild.truth(item.reason)
    truth.likeness = item.likeness
    return truth


def _any(machine, items):
    unknown = None
    for item in machine.iterate(items):
        if type(item) is Unknown:
            unknown = item
        elif machine.truth(item):
            return True
    return False if unknown is None else _truth_of(unknown)


def _all(machine, items):
    unknown = None
    for item in machine.iterate(items):
        if type(item) is Unknown:
            unknown = item
        elif not machine.truth(item):
            return False
    return True if unknown is None else _truth_of(unknown)


def _next(machine, items, *default):
    if type(items) is Unknown:
        report_use(items, "next")
        return Unknown(items.reason)
    method = getattr(type(items), "__next__", None)
    if functions.closure_of(method) is not None:
        return method(items)
    if method is None:
        machine.ask_iterator(items)
        items = iter(machine.iterate(items))
    try:
        return next(items, *default)
    except StopIteration:
        return Unknown("the next item, after the last that was looked at")


def _iter(machine, items, *sentinel):
    if sentinel or type(items) is Unknown:
        return Unknown("an iterator")
    method = getattr(type(items), "__iter__", None)
    if functions.closure_of(method) is not None:
        return method(items)
    return items if hasattr(type(items), "__next__") else machine.iterate(items)


def _round(machine, number, ndigits=None):
    if isinstance(number, NUMBERS) and (ndigits is None or type(ndigits) is int and abs(ndigits) < 30):
        return round(number, ndigits)
    if wild.is_number(number):
        return wild.unknown("a rounded value", wild.WHOLE) if ndigits is None else wild.of_same_kind(number)
    return (
        machine.foreign(torch.round, (number,), {}) if isinstance(number, torch.Tensor) else Unknown("a rounded value")
    )


def _abs(machine, value):
    return machine.operate_alone(abs, value)


def _pow(machine, a, b, *modulus):
    import operator

    return Unknown("a power") if modulus else machine.operate(operator.pow, a, b)


def _divmod(machine, a, b):
    return divmod(a, b) if isinstance(a, NUMBERS) and isinstance(b, NUMBERS) else Unknown("a quotient")


def _callable(machine, value):
    return Unknown("an unknown value") if type(value) is Unknown else callable(value)


def _vars(machine, *owner):
    if owner and machine.is_own(owner[0]) and not isinstance(owner[0], type):
        return machine.get(owner[0], "__dict__")
    if owner and hasattr(owner[0], "values_by_name"):
        return owner[0].values_by_name
    if owner and isinstance(owner[0], (Library, ImportedFile)):
        return machine.get(owner[0], "__dict__")
    return Unknown("names of an object")


def _unlooked(name):
    return lambda machine, *args, **kwargs: Unknown(f"{name}() is not run")


def _nothing(machine, *args, **kwargs):
    return None


def _print(machine, *values, sep=" ", end="\n", file=None, **options):
    """It is read again only where it is written into a file."""
    if isinstance(file, WrittenFile):
        parts = [sep, end, *(machine.text(value) for value in values)]
        is_known = all(type(part) is str for part in parts)
        file.write(sep.join(parts[2:]) + end if is_known else Unknown("what is printed"))


def _exit(machine, status=None, *_):
    raise ProgramExit(status)


def _id(machine, value):
    """Of what a program tells apart by it: tensors and modules."""
    return id(value) if isinstance(value, (torch.Tensor, torch.nn.Module)) else Unknown("an identity")


def _chr(machine, value):
    return chr(value) if type(value) is int and 0 <= value < 0x110000 else Unknown("a character")


def _ord(machine, value):
    return ord(value) if type(value) is str and len(value) == 1 else wild.unknown("a character's number", wild.WHOLE)


TYPES = (
    int,
    float,
    bool,
    str,
    list,
    tuple,
    dict,
    set,
    frozenset,
    range,
    type,
    object,
    property,
    staticmethod,
    classmethod,
    super,
    slice,
    enumerate,
    zip,
    map,
    filter,
    reversed,
    bytes,
    bytearray,
    complex,
)
EXCEPTIONS = {
    name: kind for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)
}
NAMES: dict[str, Any] = {
    **EXCEPTIONS,
    **{kind.__name__: kind for kind in TYPES},
    **{
        name: Special(name, function)
        for name, function in {
            "len": _len,
            "isinstance": _isinstance,
            "issubclass": _issubclass,
            "getattr": _getattr,
            "hasattr": _hasattr,
            "setattr": _setattr,
            "delattr": _delattr,
            "max": _extreme(max),
            "min": _extreme(min),
            "sum": _sum,
            "sorted": _sorted,
            "any": _any,
            "all": _all,
            "next": _next,
            "iter": _iter,
            "round": _round,
            "abs": _abs,
            "pow": _pow,
            "divmod": _divmod,
            "callable": _callable,
            "vars": _vars,
            "id": _id,
            "chr": _chr,
            "ord": _ord,
            "exec": _exec,
            "exit": _exit,
            "quit": _exit,
            **{
                name: _unlooked(name)
                for name in (
                    "input eval compile globals locals dir hash repr format ascii bin hex oct "
                    "memoryview help breakpoint"
                ).split()
            },
        }.items()
    },
    "NotImplemented": NotImplemented,
    "Ellipsis": ...,
    "__debug__": True,
}
NAMES["__import__"] = IMPORT
NAMES["open"] = knowing(Special("open", open_file))
NAMES["print"] = knowing(Special("print", _print))
NAMES["repr"] = Special("repr", lambda machine, value: machine.text(value))
NAMES["format"] = Special("format", lambda machine, value, spec="": machine.format(value, spec))


def find(name: str) -> Any:
    """The built-in called `name`."""
    return NAMES[name] if name in NAMES else Unknown(f"the name {name} is not defined")
