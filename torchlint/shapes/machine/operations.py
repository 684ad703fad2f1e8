"""What Python's syntax does to values: operators, comparisons, indexing, iteration, unpacking."""

from __future__ import annotations

import enum
import operator
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.budget import LIGHT, PYTHON, Budget, len_of
from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Exhausted, Unknown, UnknownUsed, made_of, one_of, report_use, unknown_in
from torchlint.shapes.language import functions
from torchlint.shapes.language.cut_short import MORE, REST, VIEWS, is_open, item_at, loosen, spread
from torchlint.shapes.language.program import Question
from torchlint.shapes.libraries.importing import LoadedModules
from torchlint.shapes.libraries.indexed_data import Dataset
from torchlint.shapes.machine import open_slices
from torchlint.shapes.machine.any_items import any_item, any_value, is_unknown_place
from torchlint.shapes.machine.attributes import is_several
from torchlint.shapes.machine.repeated_items import RepeatedItems, counted, cut, cut_list, lengthened
from torchlint.shapes.machine.texts import Texts
from torchlint.shapes.machine.unknown_comparisons import MIRRORED, against_draw, all_the_same, differ, part_of_texts
from torchlint.shapes.machine.worlds import are_tensors
from torchlint.shapes.tensors import ranges, wild
from torchlint.shapes.tensors.arrays import Array
from torchlint.shapes.tensors.parts import is_beyond
from torchlint.shapes.tensors.wild import RANGE, TEXT, WHOLE, Known, choices_in, is_number, known_of

LISTS = frozenset({list, tuple, set, frozenset, dict, str, bytes, range, torch.Size, deque})
_COUNTED = frozenset({list, tuple, set, dict, OrderedDict, deque, *VIEWS})
_CONSTANTS = frozenset({str, int, float, bool})
_AGAINST_DRAWS = frozenset((apply, kind) for apply in MIRRORED for kind in (int, float, bool))
_FEW = 64  # constants among which something is looked for
LOOPS = 4096  # rounds over a tensor's first dimension, more are taken as unknown
_LAYERS = (nn.ModuleDict, nn.ModuleList, nn.Sequential)
_OPEN_KEYS = frozenset({Unknown, slice})  # which may stand for several
_NO_PLACES = frozenset({list, dict, str, float})  # in a list


class Operations(Texts, RepeatedItems):
    """The part of the machine that evaluates syntax other than calls."""

    def is_tensor(self, value: Any) -> bool:
        """Whether a truth value would need data."""
        return isinstance(value, (torch.Tensor, Array))

    def truth(self, value: Any, place: Any = None, key: Question | None = None, default: bool = True) -> bool:
        """The truth of a value; unknown ones, and tensors without data, are decided."""
        kind = type(value)
        if kind in PYTHON:
            return bool(value)
        if isinstance(value, torch.Tensor) and value.layout is torch.strided:
            if place is not None:
                self.place = place
            answer = self.foreign(bool, (value,), {})  # many values have no truth; a few may be known
            return self.decide(key, default) if type(answer) is Unknown else answer
        if kind is Unknown:
            return self.changes.lengths.decided(value, self.decide(key, default, value.likeness))
        if isinstance(value, Array) or isinstance(value, torch.Tensor):
            return self.decide(key, default)
        for name in ("__bool__", "__len__"):
            method = getattr(kind, name, None)
            if functions.closure_of(method) is not None:
                answer = method(value)
                return self.decide(key, default) if type(answer) is Unknown else bool(answer)
        try:
            return bool(value)
        except UnknownUsed:
            return self.decide(key, default)

    def operate(self, apply: Callable, a: Any, b: Any) -> Any:
        """A binary operator; results that grow are estimated before they are made."""
        if type(a) is Unknown or type(b) is Unknown:
            of_items = self.changes.lengths.numbers or {type(a), type(b)} & {list, tuple}
            return counted(self, apply, a, b, self._operate_unknown) if of_items else self._operate_unknown(apply, a, b)
        if isinstance(a, (int, float)) and isinstance(b, (int, float)):
            if isinstance(a, int) and isinstance(b, int):
                self._estimate_integer(apply, a, b)
            try:
                return apply(a, b)
            except OverflowError:
                return Unknown("a number that is too large")
        name = apply.__name__.lstrip("i") if apply.__name__ != "invert" else ""
        if isinstance(a, (str, bytes)) and name == "mod":
            return self.percent(a, b)
        if name == "mul" and (isinstance(a, int) or isinstance(b, int)):
            items, times = (b, a) if isinstance(a, int) else (a, b)
            if isinstance(items, (nn.Sequential, nn.ModuleList)):  # each of its parts once more
                for _ in range(max(times - 1, 0)):
                    self.walk(items)
            self.budget.length(len_of(items) * max(times, 0))
        elif name in ("add", "concat") and len_of(a) and len_of(b):
            self.budget.length(len_of(a) + len_of(b))
        if self.changes.loops:
            self.changes.operate(apply, a)
        if (
            type(a) in (list, tuple)
            and (type(b) is type(a) or type(b) is int)
            and name in ("add", "iadd", "mul", "imul")
        ):
            return counted(self, apply, a, b) if self.changes.cut and type(b) is not int else apply(a, b)
        if type(a) is dict and type(b) is dict and name in ("or", "or_"):
            self.budget.length(len(a) + len(b))
            return apply(a, b)
        return self.foreign(apply, (a, b), {})

    def operate_alone(self, apply: Callable, value: Any) -> Any:
        """`-x`, `~x`"""
        return wild.of_same_kind(value) if wild.is_number(value) else self.foreign(apply, (value,), {})

    def _operate_unknown(self, apply: Callable, a: Any, b: Any) -> Any:
        unknown, other = (a, b) if type(a) is Unknown else (b, a)
        if type(other) is str and apply.__name__ in ("add", "iadd"):
            self.ask_sum_of_text(a, b)
        if (made := all_the_same(self, self.operate, apply, a, b)) is not None:
            return made
        if self.wild and (
            type(unknown.known) is Known or known_of(other) is not None or isinstance(other, torch.Tensor)
        ):
            return self.operate_in_part(apply, a, b, unknown)
        report_use(unknown, "operator", (apply, other))
        if type(other) in (list, tuple) and (longer := lengthened(self, apply, a, b)) is not None:
            return longer
        if type(other) is Unknown or isinstance(other, (int, float, torch.Tensor)):
            both = (unknown, other) if type(other) is Unknown else (unknown,)
            made = Unknown(unknown.reason, made_of(*both) if apply is not operator.matmul else None)
            if unknown.known is not None and not isinstance(other, torch.Tensor):
                made.known = wild.kind_of_result(apply, (unknown, other))
            return made
        return Unknown(unknown.reason)

    def _estimate_integer(self, apply: Callable, a: int, b: int) -> None:
        name = apply.__name__.lstrip("i")
        if name == "mul":
            bits = a.bit_length() + b.bit_length()
        elif name == "pow":
            bits = a.bit_length() * abs(b) if abs(a) > 1 else 1
        elif name == "lshift":
            bits = a.bit_length() + max(b, 0)
        else:
            return
        if bits > Budget.BITS:
            raise Exhausted("it computes a number that is too large")

    def compare(self, apply: Callable, a: Any, b: Any) -> Any:
        """A comparison other than `is` and `in`."""
        if (apply, type(b)) in _AGAINST_DRAWS or (apply, type(a)) in _AGAINST_DRAWS:
            certain = against_draw(apply, a, b)
            if certain is not None:
                return certain
        if type(a) is Unknown or type(b) is Unknown:
            one = a if type(a) is Unknown else b
            if (made := all_the_same(self, self.compare, apply, a, b)) is not None:
                return made
            if self.wild and (are_tensors(a) or are_tensors(b)):
                return self.in_worlds(lambda given: self.compare(apply, *given), [a, b], one.reason)
            answer, other = Unknown(one.reason), b if one is a else a
            if is_number(one) and (is_number(other) or type(other) in wild.NUMBERS):
                answer = self.changes.lengths.ask(apply, a, b, wild.truth(one.reason))
            if type(other) is str and is_number(one) and apply in (operator.eq, operator.ne):
                return apply is operator.ne
            if apply in (operator.eq, operator.ne) and self._is_another(one, other):
                return apply is operator.ne
            if apply is operator.eq and (type(other) in _CONSTANTS or isinstance(other, enum.Enum)):
                answer.likeness = one, (other,)
            return answer
        if isinstance(a, (torch.Tensor, Array)) or isinstance(b, (torch.Tensor, Array)):
            if a is None or b is None or isinstance(a, str) or isinstance(b, str):
                return apply is operator.ne
            return self.foreign(apply, (a, b), {})
        if (a is None or b is None) and (type(a) is str or type(b) is str):
            self.presumed = True  # an option that is not given here, and always is where it is compared with names
        if type(a) not in LIGHT and type(b) not in LIGHT:
            self.budget.touch(a if len_of(a) <= len_of(b) else b)
            unknown = unknown_in((a, b)) if apply in (operator.eq, operator.ne) else None
            if unknown is not None and not differ(a, b):
                return Unknown(unknown.reason)
        try:
            return apply(a, b)
        except UnknownUsed as used:
            return Unknown(str(used))
        except TypeError as error:
            raise self.of_nothing(error) if a is None or b is None else error

    def same(self, a: Any, b: Any) -> Any:
        """`a is b`; an unknown is taken to be something."""
        if type(a) is Unknown or type(b) is Unknown:
            other = b if type(a) is Unknown else a
            if other is None and not wild.is_something(a if other is b else b):
                self.presume()
            if other is None or other is ... or self._is_another(a if other is b else b, other):
                return False
            answer = wild.truth("it is compared with an unknown")
            if isinstance(other, enum.Enum):
                answer.likeness = (a if other is b else b), (other,)
            return answer
        if type(a) is type(b) and type(a) in (str, bytes, int):
            return a == b  # Python keeps words and small numbers once each, which our reading does not
        return a is b

    def _is_another(self, unknown: Unknown, made: Any) -> bool:
        """An unknown is taken to be no module that the program has made; what a library is asked for never is."""
        if not isinstance(made, nn.Module) or type(made).__eq__ is not object.__eq__:
            return False
        if not unknown.reason.of_name:
            self.presume()
        return True

    def contains(self, items: Any, item: Any) -> Any:
        """`item in items`."""
        if isinstance(items, LoadedModules) and type(item) is Unknown:
            self.presume()
            return False  # a name that the program makes up
        if type(items) is Unknown or type(item) is Unknown:
            answer = wild.truth("it is searched for an unknown")
            if type(items) in (list, tuple, set, dict) and 0 < len(items) <= _FEW:
                if all(type(one) in _CONSTANTS or isinstance(one, enum.Enum) for one in items):
                    answer.likeness = item, tuple(items)
            return answer
        if isinstance(items, (torch.Tensor, Array)):
            return Unknown("values of a tensor")
        method = getattr(type(items), "__contains__", None)
        if functions.closure_of(method) is not None:
            return method(items, item)
        try:
            if isinstance(items, StandIn) and method is not None:
                return method(items, item)
            if type(items) in LISTS or isinstance(items, (dict, types.MappingProxyType, nn.Module)):
                if type(items) is range and type(item) is int:
                    return item in items
                self.budget.length(len_of(items) or len(items))
                if type(item) not in LIGHT:
                    hashed = isinstance(item, str) or isinstance(items, (dict, set, frozenset))
                    self.budget.touch(item if hashed else items)
                found = item in items
                if not found and not isinstance(items, (str, bytes, range)) and Unknown in map(type, items):
                    return wild.truth("one of the items is unknown")
                return found
            return any(item is other or item == other for other in self.iterate(items))
        except UnknownUsed as used:
            return Unknown(str(used))

    def may_miss(self, container: Any) -> bool:
        """Whether a container may hold less than it would, since a loop was cut."""
        if not self.changes.cut:
            return False
        if isinstance(container, (list, tuple, deque)):
            self.budget.spend(len_of(container) >> 6)
        return is_open(container)

    def all_names(self, names: dict[str, Any]) -> dict[str, Any]:
        """`locals()` and `globals()`"""
        self.budget.spend(1 + (len(names) >> 4))
        found = dict(names)
        self.lend([found])  # `exec` may have put more into it
        return found

    def definition_of(self, function: Any) -> Any:
        """The syntax of a function of the program."""
        return closure.code.node if (closure := functions.closure_of(function)) is not None else None

    # Items

    def item(self, owner: Any, key: Any) -> Any:
        """`owner[key]`"""
        kind = type(owner)
        if kind is list or kind is tuple or kind is torch.Size:
            if type(key) is int:
                if not -len(owner) <= key < len(owner):
                    if self.may_miss(owner):
                        return Unknown(MORE)
                    raise self.missing(IndexError(f"{kind.__name__} index out of range"), owner, key)
                return item_at(owner, key) if self.changes.cut else owner[key]
            if is_unknown_place(key):
                return any_item(self, owner, key)
            if type(key) is slice and any(type(part) is Unknown for part in (key.start, key.stop, key.step)):
                return wild.unknown("a slice of unknown length", wild.LIST if kind is list else None)
            if self.scripting and (type(key) in _NO_PLACES or type(key) is tuple and is_several(owner)):
                error = TypeError(f"{kind.__name__} indices must be integers or slices, not {type(key).__name__}")
                self.remember(error, operator.getitem, (owner, key), {}, certain=not self.asked)
                raise error
            if type(key) is slice:
                self.budget.length(len(range(len(owner))[key]))
                return cut_list(self, owner, key) if kind is not torch.Size and self.may_miss(owner) else owner[key]
            return owner[key.__index__() if hasattr(key, "__index__") else key]
        if self.wild:
            key = open_slices.at_any_place(owner, key)
            if (part := open_slices.part(self, owner, key)) is not None:
                return part
        if kind is Unknown:
            if self.wild and type(owner.known) is Known:
                return self.in_worlds(lambda given: self.item(*given), [owner, key], owner.reason)
            if (part := part_of_texts(self, owner, key)) is not None:
                return part
            report_use(owner, "index", key)
            hole = f"{owner.hole}[{key!r}]" if owner.hole and isinstance(key, (int, str)) else None
            return cut(self, owner, key, one_of(owner.within, owner.reason, hole))
        if isinstance(owner, torch.Tensor):
            if type(key) is int:
                self.taken_apart.append(owner)
            if self.wild and choices_in(key)[0]:
                return self.in_worlds(lambda given: self.item(*given), [owner, key], "a part of a tensor")
            index = self._index(key)
            if not self.scripting:
                self.vain_parts += is_beyond(owner, index)
            elif type(index) is Unknown:
                self.progress.reached("an index", index)
            return self.foreign(operator.getitem, (owner, index), {})
        if isinstance(owner, Array):
            return self.foreign(operator.getitem, (owner, key), {})
        if isinstance(owner, type):
            asked = (getattr(owner, "__class_getitem__", None), getattr(kind, "__getitem__", None))
            if any(functions.closure_of(one) is not None for one in asked):
                return Unknown("what a class of the program's own gives for a key")
            if not isinstance(owner, enum.EnumMeta) or not owner.__members__:
                return owner  # `list[int]`, `Generic[T]`
            self.budget.spend(len(owner.__members__) >> 4)
            owner, kind = dict(owner.__members__), dict  # `Kind["SMALL"]`
        method = getattr(kind, "__getitem__", None)
        if functions.closure_of(method) is not None:
            return method(owner, key)
        if isinstance(owner, dict):
            self.budget.touch(key)
            try:
                if type(key) is Unknown:
                    self.changes.asked_somewhere(owner)
                if type(key) is not Unknown:
                    return owner[key]
                return any_value(self, owner, key)
            except TypeError:
                return Unknown("the value of an unhashable key")
            except KeyError as error:
                if self.may_miss(owner):
                    return Unknown(MORE)
                raise self.missing(error, owner, key)
        if kind is deque and is_unknown_place(key):
            return any_item(self, owner, key)
        if kind in _LAYERS:
            self.ask_layer(owner, key)
        if method is None:
            raise self.deny_item(owner)
        if isinstance(owner, Dataset) and type(key) is Unknown and key.known == WHOLE:
            key = 0  # all samples look alike
        if type(key) is int and len_of(owner):
            self.budget.spend(3 + (len_of(owner) >> 10 if isinstance(owner, deque) else 0))
            return self.foreign(operator.getitem, (owner, key), {}, paid=True)
        return self.foreign(operator.getitem, (owner, key), {})

    def _index(self, key: Any) -> Any:
        """An index without unknowns, and arrays as tensors."""
        parts = key if type(key) is tuple else (key,)
        made = []
        for part in parts:
            if type(part) is Unknown:
                if part.known != WHOLE:
                    return part
                part = 0  # whichever it is, what comes of it looks alike
            if type(part) is list and any(type(one) is Unknown for one in part):
                part = [0 if type(one) is Unknown and one.known == WHOLE else one for one in part]
            if type(part) is slice and any(type(p) is Unknown for p in (part.start, part.stop, part.step)):
                return Unknown("a slice of unknown length")
            if isinstance(part, Array):  # torch rounds the floats of an array, of which its own tensors are refused
                part = part.tensor.long() if part.tensor.is_floating_point() else part.tensor
            made.append(part)
        return tuple(made) if type(key) is tuple else made[0]

    def put(self, owner: Any, key: Any, value: Any) -> None:
        """`owner[key] = value`"""
        if type(owner) is dict and type(key) not in _OPEN_KEYS:
            return self._put(owner, key, value)
        if isinstance(owner, torch.Tensor) or type(owner) is Unknown and owner.known is not None:
            unknown = any(type(part) is Unknown for part in (owner, self._index(key), value))
            has_graph = type(value) is Unknown or isinstance(value, torch.Tensor) and value.requires_grad
            self.blurred |= unknown and has_graph
        if self.wild and (known_of(owner) or isinstance(owner, torch.Tensor)) and choices_in([owner, key, value])[0]:
            self.in_worlds(lambda given: self.put(*given), [owner, key, value], "")
            return
        if type(owner) is Unknown:
            self.lend((owner, value))
            return
        method = getattr(type(owner), "__setitem__", None)
        if functions.closure_of(method) is not None:
            method(owner, key, value)
        elif isinstance(owner, torch.Tensor):
            index = self._index(key)
            value = value.put_into(owner) if isinstance(value, Array) else value
            if type(index) is not Unknown and type(value) is not Unknown:
                self.foreign(operator.setitem, (owner, index, value), {})
            else:
                ranges.forget(owner)
        elif isinstance(owner, Array):
            owner[0] = value  # whichever number it is
        elif isinstance(owner, nn.ModuleDict) and type(key) is str and isinstance(value, nn.Module):
            self.foreign(operator.setitem, (owner, key, value), {})
        elif type(key) is Unknown or (type(key) is slice and type(value) is Unknown):
            self.put_somewhere(owner, value)
        elif type(key) is slice and isinstance(owner, list):
            items = list(self.iterate(value))
            self.budget.length(len(owner) + len(items))
            owner[key] = items
        else:
            self._put(owner, key, value)

    def _put(self, owner: Any, key: Any, value: Any) -> None:
        self.budget.touch(key)
        if self.changes.loops:
            self.changes.put(owner, key, value)
        try:
            owner[key] = value
        except TypeError as error:
            raise self.deny(error, owner)

    def put_somewhere(self, owner: Any, value: Any) -> None:
        """`owner[key] = value` where nobody knows the key: what is there may be overwritten, and a dict may grow."""
        if isinstance(owner, nn.Module):
            self.incomplete = True
        elif isinstance(owner, (dict, list)):
            self.budget.spend(len_of(owner))
            self.changes.overwrite(owner, value)
            if isinstance(owner, dict):
                self.changes.loosen(owner)

    def delete_item(self, owner: Any, key: Any) -> None:
        """`del owner[key]`"""
        method = getattr(type(owner), "__delitem__", None)
        if functions.closure_of(method) is not None or isinstance(owner, StandIn) and method is not None:
            method(owner, key)
        elif type(key) is not Unknown and isinstance(owner, (dict, list, nn.Module, deque)):
            self.budget.touch(key)
            self.budget.spend(len_of(owner) >> 10)
            del owner[key]

    def update(self, made: dict, extra: Any, star: bool = False) -> None:
        """`**extra` in a call or a dict display."""
        if type(extra) is Unknown:
            if star:
                made["*"] = extra
            else:
                self.put_somewhere(made, extra)
            return
        if not isinstance(extra, dict):
            keys = self.call(self.get(extra, "keys"), [], {})
            if type(keys) is Unknown:
                return self.update(made, keys, star)
            extra = {key: self.item(extra, key) for key in self.iterate(keys)}
        if star and self.may_miss(extra):
            made["*"] = Unknown(MORE)
            extra = {key: value for key, value in extra.items() if type(key) is not Unknown}
        self.budget.length(len(made) + len(extra))
        made.update(extra)

    def build(self, kind: type, values: list) -> Any:
        """A list, tuple or set of values."""
        if kind is set:
            self.budget.touch(values)
            unknown = [v for v in values if type(v) is Unknown]
            if any(v is not REST and v.known != TEXT for v in unknown):
                return Unknown("a set with unknown items")
            made = {v for v in values if type(v) is not Unknown} | set(unknown[:1])  # one word stands for all
            if unknown:
                self.changes.miss()
                loosen(made)
            return made
        return kind(values)

    # Iteration

    def iterate(self, items: Any, looping: bool = False) -> Iterator:
        """The items of anything iterable, paid for one by one.

        An unknown raises UnknownUsed, or gives two rounds of a loop.
        """
        kind = type(items)
        if self.changes.cut and kind in _COUNTED and self.may_miss(items):
            self.budget.spend(len_of(items))
            return self.changes.short(list(items))
        if kind is list or kind is tuple:
            if kind is list and len(items) < 2 or looping and len(items) > 64:
                return self.counted(iter(items))  # it may grow meanwhile, or the loop may end long before
            self.budget.spend(len(items))
            return iter(items)
        if kind is Unknown:
            if self.wild and type(items.known) is Known:
                return self._rows_in_part(items, looping)
            report_use(items, "iterate", None)
            if looping or items.known == TEXT and self.wild:
                item = {RANGE: WHOLE, TEXT: TEXT}.get(items.known)
                return self.changes.short([wild.unknown(items.reason, item)])
            raise UnknownUsed(items.reason)
        if isinstance(items, (torch.Tensor, Array)):
            return self._rows(items, looping)
        method = getattr(kind, "__iter__", None)
        if functions.closure_of(method) is not None:
            made = method(items)
            return self._by_next(items) if made is items else self.iterate(made, looping)
        if method is None and functions.closure_of(getattr(kind, "__getitem__", None)) is not None:
            return self._by_index(items)
        if functions.closure_of(getattr(kind, "__next__", None)) is not None:
            return self._by_next(items)
        try:
            return self.counted(iter(items))
        except TypeError as error:
            raise self.of_nothing(error) if items is None else self.deny(error, items)

    def counted(self, items: Iterator, price: int = 1) -> Iterator:
        """The same items, each paid for when somebody takes it, be it native code."""
        spend = self.budget.spend
        for item in items:
            spend(price)
            yield item

    def _rows(self, items: Any, looping: bool) -> Iterator:
        size = items.shape
        self.taken_apart.append(items)
        if not size:
            raise TypeError("iteration over a 0-d tensor")
        if size[0] > LOOPS:
            if looping:
                return self.changes.short([items[0], items[0]])
            raise UnknownUsed("a tensor with very many rows")
        self.budget.spend(size[0] * 20)
        if isinstance(items, Array):
            return iter(items)
        return iter(self.foreign(torch.Tensor.unbind, (items,), {}))

    def _rows_in_part(self, items: Unknown, looping: bool) -> Iterator:
        """Rows of a tensor, or other items, of which nobody knows how many there are."""
        found = self.in_worlds(lambda given: list(self.iterate(given[0])), [items], items.reason)
        if type(found) is list:
            return iter(found)
        if not looping:
            raise UnknownUsed(items.reason)
        row = self.in_worlds(lambda given: next(iter(self.iterate(given[0]))), [items], items.reason)
        return self.changes.short([row, row])

    def _by_index(self, items: Any) -> Iterator:
        for position in range(LOOPS):
            self.budget.spend()
            self.trying += 1
            try:
                value = type(items).__getitem__(items, position)
            except IndexError:
                return
            finally:
                self.trying -= 1
            yield value
        self.changes.early = True

    def _by_next(self, items: Any) -> Iterator:
        for _ in range(LOOPS):
            self.budget.spend()
            self.trying += 1
            try:
                value = type(items).__next__(items)
            except StopIteration:
                return
            finally:
                self.trying -= 1
            yield value
        self.changes.early = True

    def unpack(self, value: Any, count: int, star: int | None) -> Iterable:
        """The values for `a, b = value` or `a, *b = value`."""
        if type(value) is Unknown:
            if self.wild and type(value.known) is Known:
                made = self.in_worlds(lambda given: list(self.unpack(given[0], count, star)), [value], value.reason)
                if type(made) is list and len(made) == count:
                    return made
            if star is None:
                report_use(value, "unpack", count)
            return [Unknown(value.reason, f"{value.hole}[{i}]" if value.hole else None) for i in range(count)]
        if type(value) in (tuple, list) and star is None:
            items = value
        else:
            try:
                items = list(self.iterate(value))
            except UnknownUsed as used:
                return [Unknown(str(used))] * count
            except TypeError as error:
                raise self.is_one(error, value)
        if self.may_miss(items):
            items = spread(items, count, star)
        elif star is not None:
            if len(items) < count - 1:
                raise ValueError(f"not enough values to unpack (expected at least {count - 1}, got {len(items)})")
            tail = count - 1 - star
            end = len(items) - tail
            return [*items[:star], items[star:end], *items[end:]]
        if len(items) > count:
            raise self.uneven(ValueError(f"too many values to unpack (expected {count})"), value, count)
        if len(items) < count:
            error = ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
            raise self.uneven(error, value, count)
        return items
