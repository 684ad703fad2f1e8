"""What `json` and `pickle` make of values, and give again: all that is known of them, and what is not stays unknown."""

from __future__ import annotations

import ast
import json
from collections import OrderedDict, defaultdict, deque
from typing import Any

import torch

from torchlint.shapes.core.values import Special, Unknown, from_unknown
from torchlint.shapes.language import functions
from torchlint.shapes.language.cut_short import REST, is_open, loosen
from torchlint.shapes.libraries.open_files import FileOfParts
from torchlint.shapes.libraries.written_files import Dumped, WrittenFile, knowing, reader_of
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import Array

_LOOKED_AT = 100  # items of one list or dict
_DEPTH = 20  # of dicts and lists within each other
_PLAIN = (str, int, float, bool, type(None))
_DICTS = (dict, OrderedDict, defaultdict)
_WORDS = {True: "true", False: "false", None: "null"}
_FORMATS = ("indent", "separators", "sort_keys", "ensure_ascii", "allow_nan")
_OF_PICKLE = frozenset(
    "__reduce__ __reduce_ex__ __getstate__ __setstate__ __getnewargs__ __getnewargs_ex__ __new__ __slots__".split()
)


class _Unwritable(Exception):
    """There is something in a value of which nobody knows what is written."""


# JSON


def _json(name: str) -> Special:
    """`json.dump`: it knows numbers, texts and what holds them."""

    def write(machine, data, *args, **options):
        kind = _no_json(data) if not options.keys() & {"default", "cls"} else None
        if kind is not None:
            error = TypeError(f"Object of type {kind} is not JSON serializable")
            machine.refuse(error, getattr(json, name), (data,))
        text = _text_of_json(machine, data, options) if "*" not in options else wild.text()
        if name == "dumps":
            return text
        file = args[0] if args else options.get("fp")
        return file.write(text) and None if isinstance(file, WrittenFile) else None

    return knowing(Special(name, write))


def _text_of_json(machine, data: Any, options: dict[str, Any]) -> Any:
    formats = {key: value for key, value in options.items() if key not in ("default", "fp")}
    if not formats.keys() <= set(_FORMATS) or not _are_plain_formats(formats):
        return wild.text()
    made = as_json(machine, data, options.get("default"))
    if _is_known(machine, made):
        try:
            text = json.dumps(made, **formats)
        except (TypeError, ValueError, RecursionError):
            return wild.text()
        machine.budget.length(len(text))
        return text
    return machine.files_written.remember(wild.text(), Dumped("json", made))


def _are_plain_formats(formats: dict[str, Any]) -> bool:
    indent = formats.get("indent")
    is_indent = indent is None or type(indent) is int and 0 <= indent <= 16
    others = (value for key, value in formats.items() if key not in ("indent", "separators"))
    return (
        is_indent
        and formats.get("separators") in (None, (",", ":"), (", ", ": "))
        and all(type(v) is bool for v in others)
    )


def as_json(machine, value: Any, default: Any = None, depth: int = _DEPTH) -> Any:
    """A value as JSON gives it again: lists for tuples, texts for keys."""
    machine.budget.spend()
    kind = type(value)
    if kind in _PLAIN or value is REST:
        return value
    if kind is Unknown:
        return value if wild.is_number(value) or wild.is_text(value) else Unknown(value.reason)
    if depth and (kind in (list, tuple) or _is_named_tuple(value)):
        if not machine.is_whole(value) and not is_open(value):
            return Unknown("a list that others may have changed")
        machine.budget.length(len(value))
        return [as_json(machine, part, default, depth - 1) for part in value]
    if depth and kind in _DICTS:
        return _object_of_json(machine, value, default, depth)
    if default is not None and depth and kind not in _DICTS:
        return as_json(machine, machine.call(default, [value], {}), default, depth - 1)
    return Unknown("what JSON makes of an object")


def _object_of_json(machine, value: dict, default: Any, depth: int) -> Any:
    if id(value) in machine.lent:
        return Unknown("a dict that others may have changed")
    machine.budget.length(len(value))
    made: dict[Any, Any] = {}
    for key, part in dict.items(value):
        if key is REST:
            loosen(made)
        elif type(key) not in _PLAIN:
            return Unknown("an object of JSON with other keys")
        else:
            is_word = key is None or type(key) is bool
            text = key if type(key) is str else _WORDS[key] if is_word else machine.text(key)
            made[text] = as_json(machine, part, default, depth - 1)
    return made


def _is_known(machine, made: Any) -> bool:
    if type(made) is Unknown:
        return False
    parts = made.values() if type(made) is dict else made if type(made) is list else ()
    return all(_is_known(machine, part) for part in parts)


def _no_json(data: Any, depth: int = 8) -> str | None:
    """The kind of something in it that JSON has no word for."""
    if isinstance(data, (torch.Tensor, Array)):
        return "ndarray" if isinstance(data, Array) and data.ndim else "Tensor" if type(data) is torch.Tensor else None
    if type(data) not in (list, tuple, dict) or not depth:
        return None
    parts = list(data.values() if type(data) is dict else data)[:_LOOKED_AT]
    return next(filter(None, (_no_json(part, depth - 1) for part in parts)), None)


# pickle


def _pickle(name: str) -> Special:
    def write(machine, data=None, file=None, *args, **options):
        try:
            part = Dumped("pickle", _pickled(machine, data, {}))
        except _Unwritable:
            part = None
        if name == "dumps":
            made = Unknown("bytes with unknown parts")
            return made if part is None else machine.files_written.remember(made, part)
        if isinstance(file, WrittenFile):
            file.put(part)
        return None

    return knowing(Special(name, write))


def _unpickle(machine, source=None, *args, **options):
    source = reader_of(source)
    if isinstance(source, FileOfParts):
        part = source.parts_left.pop(0) if source.parts_left else None
    else:
        part = machine.files_written.part_of(source)
    if type(part) is not Dumped or part.how != "pickle" or args or options:
        return from_unknown(source, "what is in a file of pickle")
    return _pickled(machine, part.data, {})


def _pickled(machine, value: Any, seen: dict[int, Any], depth: int = _DEPTH) -> Any:
    """What pickle gives again for a value: a copy, in which what was one thing is one thing again."""
    machine.budget.spend()
    kind = type(value)
    if kind in _PLAIN or kind in (Unknown, bytes, complex, torch.Size, torch.dtype, torch.device) or kind is range:
        return value
    if id(value) in seen:
        return seen[id(value)][1]
    if not depth or functions.closure_of(value) is not None:
        raise _Unwritable
    if isinstance(value, (torch.Tensor, Array)):
        has_graph = isinstance(value, torch.Tensor) and (value.requires_grad or type(value) is not torch.Tensor)
        return value if not has_graph else Unknown("a tensor in a file of pickle")
    made = _copied(machine, value, seen, depth)
    seen[id(value)] = value, made
    return made


def _copied(machine, value: Any, seen: dict[int, Any], depth: int) -> Any:
    kind = type(value)
    if kind in (list, deque, *_DICTS, set):
        if id(value) in machine.lent:
            return Unknown("a container that others may have changed")
        machine.budget.length(len(value))
    if kind in _DICTS:
        if kind is defaultdict and functions.closure_of(value.default_factory) is not None:
            raise _Unwritable  # a lambda
        table = defaultdict(value.default_factory) if kind is defaultdict else kind()
        seen[id(value)] = value, table
        for key, part in dict.items(value):
            copied = key if key is REST else _pickled(machine, key, seen, depth - 1)
            kind.__setitem__(table, copied, _pickled(machine, part, seen, depth - 1))
        return table
    if kind in (list, deque):
        items = [] if kind is list else deque(maxlen=value.maxlen)
        seen[id(value)] = value, items
        items.extend(_pickled(machine, part, seen, depth - 1) for part in value)
        return items
    if kind is set or kind is tuple or kind is frozenset:
        return kind([_pickled(machine, part, seen, depth - 1) for part in value])
    if _is_named_tuple(value):
        return tuple.__new__(kind, [_pickled(machine, part, seen, depth - 1) for part in value])
    return _object(machine, value, seen, depth)


def _object(machine, value: Any, seen: dict[int, Any], depth: int) -> Any:
    kind = type(value)
    is_plain = all(base is object or base in machine.codes for base in kind.__mro__)
    if not is_plain or kind in machine.open_classes or id(value) in machine.lent:
        return Unknown("an object in a file of pickle")
    if any(_has_say(machine.codes[base]) for base in kind.__mro__[:-1]):
        return Unknown("an object in a file of pickle")
    made = object.__new__(kind)
    seen[id(value)] = value, made
    made.__dict__.update({name: _pickled(machine, part, seen, depth - 1) for name, part in vars(value).items()})
    return made


def _has_say(code: Any) -> bool:
    """Whether a class of the program says itself what pickle makes of it."""
    if code is None:
        return True
    named = {node.name for node in code.node.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    named |= {
        part.id
        for node in code.node.body
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    return not named.isdisjoint(_OF_PICKLE)


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and type(value) is not tuple and hasattr(type(value), "_fields")


DUMPED: dict[str, Any] = {
    "json.dump": _json("dump"),
    "json.dumps": _json("dumps"),
    "pickle.dump": _pickle("dump"),
    "pickle.dumps": _pickle("dumps"),
    "pickle.load": knowing(Special("load", _unpickle)),
    "pickle.loads": knowing(Special("loads", _unpickle)),
}
