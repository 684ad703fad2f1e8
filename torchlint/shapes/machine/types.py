"""Classes of the program become real types, without the hooks by which a type could reach out of the dry run."""

from __future__ import annotations

import abc
import collections.abc
import enum
import types
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core import standins
from torchlint.shapes.core.held_parts import number_of_weights
from torchlint.shapes.core.values import Exhausted, Special, Unknown, on_use, report_use, unknown_in
from torchlint.shapes.language import functions
from torchlint.shapes.language.cut_short import CONTAINERS
from torchlint.shapes.libraries import guards, open_optimizers, written_files
from torchlint.shapes.libraries.equal_layers import overheard
from torchlint.shapes.libraries.free_layers import of_free_sizes
from torchlint.shapes.libraries.lightning import OpenModule
from torchlint.shapes.machine.attributes import MADE_BY, READS, SUBCLASSED

# Python calls these behind everybody's back, or lets them decide how objects are made and copied.
DROPPED = frozenset(
    "__del__ __getattribute__ __reduce__ __reduce_ex__ __slots__ __metaclass__ __prepare__ __getnewargs__"
    " __getnewargs_ex__ __getstate__ __setstate__ __class__ __dict__ __weakref__ __mro_entries__ __instancecheck__"
    " __subclasscheck__ __subclasshook__ __torch_function__ __torch_dispatch__ __array__ __array_function__"
    " __array_interface__".split()
)
BASES = (
    nn.Module,
    torch.autograd.Function,
    torch.optim.Optimizer,
    torch.optim.lr_scheduler.LRScheduler,
    BaseException,
    enum.Enum,
    dict,
    list,
    tuple,
    str,
    int,
    float,
    set,
    torch.distributions.Distribution,
    torch.distributions.Transform,
    standins.StandIn,
    abc.ABC,  # whose classes may take others for subclasses of theirs
    standins.Interface,
)


_KEYED = dict.fromkeys((collections.abc.Mapping, collections.abc.MutableMapping), standins.Keyed)
METACLASSES = (type, enum.EnumMeta, abc.ABCMeta)  # any other may do more when an object is made


class Classes:
    """The part of the machine that makes classes and instances."""

    def make_class(self, code: functions.ClassCode, bases: list, namespace: dict, keywords: dict) -> Any:
        """The type for a class statement."""
        self.budget.spend(100)
        known, is_open = [], keywords.get("metaclass", type) not in METACLASSES
        behind: list[type] = []
        for base in (*bases, *([abc.ABC] if keywords.get("metaclass") is abc.ABCMeta else [])):
            base = _KEYED.get(base, base) if isinstance(base, type) else base
            made_by = base.__dict__.get("kind", object) if isinstance(base, Special) else object
            if issubclass(made_by, standins.StandIn) and not issubclass(made_by, written_files.WrittenFile):
                base = made_by  # one of ours that a function makes: a loader
            if base is standins.NAMED_TUPLE:
                return self._named_tuple(code, namespace)
            if isinstance(base, type) and (base in self.codes or issubclass(base, BASES)):
                if base not in known:
                    known.append(base)
                    behind += [base] if is_open and base in self.codes else []
                is_open = is_open or base not in self.codes and issubclass(base, OpenModule)
            elif base is not object:
                is_open = True
                self.ask_base(base, code)
        if "__subclasshook__" in namespace and standins.Interface not in known:
            known.append(standins.Interface)  # Python would ask it about the classes of other programs, too
        body = {
            k: v for k, v in namespace.items() if k not in DROPPED and type(v) is not Unknown or k == "__annotations__"
        }
        unknowns = {k: v for k, v in namespace.items() if type(v) is Unknown and k not in DROPPED}
        body.update(unknowns)
        if functions.closure_of(namespace.get("__getattribute__")) is not None:
            body[READS] = namespace["__getattribute__"]
        if "__init_subclass__" in body:
            body[SUBCLASSED] = classmethod(body.pop("__init_subclass__"))
        body["__module__"] = code.path
        body["__qualname__"] = code.name
        body.setdefault("__doc__", code.doc)
        if "__eq__" in body and "__hash__" not in body and any(issubclass(b, nn.Module) for b in known):
            body["__hash__"] = nn.Module.__hash__
        if functions.closure_of(body.get("__hash__")) is not None:
            body["__hash__"] = _hashing(body["__hash__"])
        try:
            made = types.new_class(code.name, tuple(known), {}, lambda namespace: namespace.update(body))
        except (TypeError, ValueError, AttributeError):
            return Unknown(f"the class {code.name} cannot be made")
        self.codes[made], self.owned[made] = code, True
        if is_open:
            self.open_classes.add(made)
            self.behind_unknown[made] = behind
        self.classes.append(made)
        self._made_by(keywords.get("metaclass", getattr(made, MADE_BY, None)), made)
        if hasattr(super(made, made), SUBCLASSED):
            self._tell_bases(made, {k: v for k, v in keywords.items() if k != "metaclass"})
        return made

    def _made_by(self, metaclass: Any, made: type) -> None:
        """A metaclass of the program, which is not run, may write each class down that it makes."""
        if metaclass not in self.codes:
            return
        setattr(made, MADE_BY, metaclass)
        making = [getattr(metaclass, name, None) for name in ("__new__", "__init__")]
        own = [method for method in making if functions.closure_of(method) is not None]
        for method in own:
            self.lend_called(method)
        if own:
            holders = [kind for one in (metaclass, made) for kind in one.__mro__ if kind in self.codes]
            self.lend([held for kind in holders for held in vars(kind).values() if isinstance(held, CONTAINERS)])

    def _tell_bases(self, made: type, keywords: dict[str, Any]) -> None:
        """What a base class does with every class that derives from it; where that fails, nobody knows what it gave."""
        try:
            result = self.call(getattr(super(made, made), SUBCLASSED), [], keywords)
        except Exception:
            self.open_classes.add(made)
        else:
            if type(result) is Unknown:
                self.open_classes.add(made)

    def _named_tuple(self, code: functions.ClassCode, namespace: dict) -> type:
        fields = [n for n in namespace.get("__annotations__", {}) if n.isidentifier() and not n.startswith("_")]
        defaults = [namespace[n] for n in fields if n in namespace]
        base = collections.namedtuple(code.name, fields, defaults=defaults)
        kinds = (property, staticmethod, classmethod)
        own = {k: v for k, v in namespace.items() if k not in DROPPED and k not in fields}
        methods = {k: v for k, v in own.items() if functions.closure_of(v) is not None or isinstance(v, kinds)}
        made = type(code.name, (base,), methods)
        self.codes[made], self.owned[made] = code, True
        return made

    def construct(self, kind: type, args: list, kwargs: dict[str, Any]) -> Any:
        """Call a class."""
        if kind in self.codes:
            if functions.closure_of(getattr(getattr(kind, MADE_BY, None), "__call__", None)) is not None:
                return Unknown("a metaclass decides which object it is")
            if self.is_open(kind):
                written_files.forget(self, [*args, *kwargs.values()])
            return self._own(kind, args, kwargs)
        if self.altered and (self.is_altered(kind, "__init__") or self.is_altered(kind, "__new__")):
            return Unknown("the program changes how it is made")
        if "*" in kwargs:
            return Unknown("its arguments are unknown")
        if kind in guards.CONSTRUCT:
            return self.guarded(guards.CONSTRUCT[kind], kind, args, kwargs)
        if issubclass(kind, nn.Module):
            unknown = unknown_in((*args, *kwargs.values()))
            if kind in guards.CONTAINERS:
                args = [guards.layers(self, a) for a in args]
                kwargs = {name: guards.layers(self, a) for name, a in kwargs.items()}
            elif unknown is not None:
                report_use(unknown, "construct", (kind, args, kwargs))
                return of_free_sizes(self, kind, args, kwargs, unknown) or Unknown(unknown.reason)
            code = getattr(kind.__init__, "__code__", None)
            given = {**dict(zip(code.co_varnames[1:], args)), **kwargs} if code is not None else kwargs
            for name in guards.LAYER_COUNTS:
                if isinstance(given.get(name), int) and given[name] > guards.LAYERS:
                    raise Exhausted(f"{name} is {given[name]}")
            if issubclass(kind, nn.RNNBase) and len(args) > 2 and isinstance(args[2], int) and args[2] > guards.LAYERS:
                raise Exhausted(f"num_layers is {args[2]}")
            place = self.place
            made = self._layer(kind, tuple(args), kwargs)
            if type(made) is not Unknown:
                if kind not in guards.CONTAINERS:
                    self.budget.spend(10 * max(0, number_of_weights(made) - 2))  # one layer may be many
                self.made_at[id(made)] = (made, place)
                self.note_if_loose(made)
            return made
        if issubclass(kind, BaseException):
            return kind(*[a for a in args if type(a) is not Unknown])
        if issubclass(kind, torch.optim.Optimizer):
            return open_optimizers.make(self, kind, args, kwargs)
        if kind.__module__.startswith("torch"):
            return self.foreign(kind, tuple(args), kwargs)
        if issubclass(kind, enum.Enum):
            return self.foreign(kind, tuple(args), kwargs)
        return Unknown(f"{kind.__name__} is not made in a dry run")

    def _layer(self, kind: type, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A layer of torch, made like one before where that is known to be the same."""
        if kind.__new__ is not object.__new__:
            return self.foreign(kind, args, kwargs)
        new = object.__new__(kind)
        key = self.layers.key(new, kind.__init__, args, kwargs)
        if self.layers.give(new, key, self.place):
            self._pay(kind, None, args, kwargs)
            return new
        with overheard(key) as calls:
            made = self.foreign(kind, args, kwargs)
        if type(made) is kind:
            self.layers.keep(made, key, calls)
        return made

    def initialise(self, method: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """`super().__init__(…)` of a layer of torch."""
        made = method.__self__
        key = self.layers.key(made, getattr(method, "__func__", None), args, kwargs)
        if self.layers.give(made, key, self.place):
            self._pay(method, made, args, kwargs)
            return None
        with overheard(key) as calls:
            result = self.foreign(method, args, kwargs)
        self.layers.keep(made, key, calls)
        return result

    def note_if_loose(self, made: nn.Module) -> None:
        """Remembers what no function makes, but the script itself."""
        if not self.stack:
            self.loose.add(id(made))

    def _own(self, kind: type, args: list, kwargs: dict[str, Any]) -> Any:
        if "*" in kwargs and functions.closure_of(getattr(kind, "__init__", None)) is None:
            if self.dataclass_fields.keys().isdisjoint(kind.__mro__):
                del kwargs["*"]
        place = self.place
        if issubclass(kind, enum.Enum):
            return self.foreign(kind, tuple(args), kwargs)
        own_init = (
            isinstance(getattr(kind, "__init__", None), types.FunctionType) and kind.__init__ is not nn.Module.__init__
        )
        if issubclass(kind, BaseException) and not own_init:
            return kind(*[a for a in args if type(a) is not Unknown])
        if not own_init and functions.closure_of(getattr(kind, "__new__", None)) is None and (args or kwargs):
            if self.is_open(kind) and not issubclass(kind, (nn.Module, dict, list, tuple)):
                return self._of_others(kind, args, kwargs)
            elif not issubclass(kind, tuple) and unknown_in((*args, *kwargs.values())) is not None:
                return Unknown("it is made of unknowns")
        try:
            made = kind(*args, **kwargs)
        except TypeError as error:
            if not own_init:
                self.deny_arguments(kind, error)
            raise
        if isinstance(made, nn.Module):
            self.made_at[id(made)] = (made, place)
            self.note_if_loose(made)
            is_module_yet = "_modules" in made.__dict__  # else its constructor never called that of `nn.Module`
            if is_module_yet and not on_use:  # nobody is looking what consumes unknown arguments
                self.instances[type(made)] = (
                    made,
                    self.guessing or self.decided,
                )  # an answer to an unknown condition is a guess, too
                if not self.guessing and not self.decided_here:
                    self.built_instances[type(made)] = made
        return made

    def _of_others(self, kind: type, args: list, kwargs: dict[str, Any]) -> Any:
        """An object that a constructor nobody knows makes, as that of `class Settings(BaseModel)`: what it was given
        is instead of the defaults in its class, whatever is made of it.
        """
        made = kind()
        fields = [name for base in kind.__mro__ if args for name in vars(base).get("__annotations__", ())]
        for name in (*fields, *kwargs):
            if any(name in vars(base) for base in kind.__mro__):  # else it is unknown anyway
                vars(made)[name] = Unknown(f"a constructor that is not known is given {name}")
        return made


def _hashing(method: Callable) -> Callable:
    """The program's `__hash__`, which Python asks behind everybody's back; a hash that nobody knows is the object's."""

    def hashed(owner: Any) -> int:
        found = method(owner)
        return found if type(found) is int else object.__hash__(owner)

    return hashed
