"""Reading and setting attributes: what may be seen of a value, and nothing that leads out of the dry run."""

from __future__ import annotations

import ast
import collections
import copy
import enum
import re
import types
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import UninitializedTensorMixin

from torchlint.shapes.core import standins
from torchlint.shapes.core.budget import TORCH_STEPS
from torchlint.shapes.core.module_tables import TABLES, put_table, table_of
from torchlint.shapes.core.values import Special, Unknown, report_use, unknown_in
from torchlint.shapes.language import functions
from torchlint.shapes.language.cut_short import CHANGING, NUMBERS
from torchlint.shapes.language.walking import last_word
from torchlint.shapes.libraries import builtins, free_parameters, guards, inspecting, text_methods, world, written_files
from torchlint.shapes.libraries.dataclass import fields_of
from torchlint.shapes.libraries.free_layers import FreeLayer
from torchlint.shapes.libraries.numpy import Number
from torchlint.shapes.libraries.torchvision import PlainTransform
from torchlint.shapes.machine.certainty import plain_parts
from torchlint.shapes.tensors import dense_stand_ins, wild
from torchlint.shapes.tensors.arrays import Array, of_number
from torchlint.shapes.tensors.wild import Known

# Methods of Python's own values that only look at or change the value itself.
METHODS: dict[type, frozenset[str]] = {
    str: frozenset(
        "capitalize casefold center count endswith expandtabs find format index isalnum isalpha isascii isdecimal"
        " isdigit isidentifier islower isnumeric isspace istitle isupper join ljust lower lstrip partition removeprefix"
        " removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase"
        " title upper zfill encode".split()
    ),
    bytes: frozenset("decode startswith endswith hex".split()),
    list: frozenset("append clear copy count extend index insert pop remove reverse sort".split()),
    tuple: frozenset("count index".split()),
    torch.Size: frozenset("count index numel".split()),
    dict: frozenset("clear copy fromkeys get items keys pop popitem setdefault update values move_to_end".split()),
    set: frozenset(
        "add clear copy difference difference_update discard intersection intersection_update isdisjoint issubset"
        " issuperset pop remove symmetric_difference union update".split()
    ),
    frozenset: frozenset("copy difference intersection isdisjoint issubset issuperset union".split()),
    Number: frozenset("item is_integer real imag conjugate as_integer_ratio".split()),
    int: frozenset("bit_length real imag numerator denominator conjugate is_integer".split()),
    float: frozenset("is_integer real imag conjugate as_integer_ratio".split()),
    complex: frozenset("real imag conjugate".split()),
    range: frozenset("start stop step count index".split()),
    slice: frozenset("start stop step indices".split()),
    collections.deque: frozenset(
        "append appendleft clear copy count extend extendleft pop popleft rotate maxlen remove".split()
    ),
    re.Match: frozenset("group groups groupdict start end span string".split()),
    property: frozenset("setter getter deleter".split()),
    partial: frozenset("func args keywords".split()),
}
# Methods of dicts that only programs for Python 2 use, as what they are now.
_WAS_OF_DICTS = {"iteritems": "items", "iterkeys": "keys", "itervalues": "values", "has_key": "__contains__"}
HIDDEN = frozenset(
    "data_ptr storage untyped_storage share_memory_ share_memory apply_ map_ storage_type cdata record_stream from_file"
    " compile mro".split()
)


# Objects of torch that a program makes for itself. Others (constraints, dtypes, what stands for NumPy's types) are
# there once for all programs.
CHANGEABLE = (
    torch.optim.Optimizer,
    torch.optim.lr_scheduler.LRScheduler,
    torch.distributions.Distribution,
    torch.distributions.Transform,
    torch.autograd.function.FunctionCtx,
)


# What is written out as a method now and then: `self.__setattr__(name, layer)`.
BY_NAME = {f"__{name}__": builtins.NAMES[name].function for name in ("getattr", "setattr", "delattr")}
SUBCLASSED = "what subclasses run"  # where a class keeps its `__init_subclass__`: Python would call it too early
MADE_BY = "the metaclass that made it"  # where a class keeps that, for those that derive from it
READS = "what reads attributes"  # where a class keeps its `__getattribute__`: it is asked for what is not there
_OF_ITSELF = frozenset("__name__ __qualname__ __doc__ __module__".split())  # texts that change nothing else


def is_several(value: Any) -> bool:
    """Whether it is what several tensors were given as: the output and the state of a recurrent layer."""
    return (
        type(value) is tuple and 0 < len(value) < 8 and all(isinstance(v, torch.Tensor) or is_several(v) for v in value)
    )


def _is_meant(kind: type, name: str) -> bool:
    """Whether a list or a dict is asked for what an optimizer, a model or a schedule has: it holds them."""
    return kind in (list, tuple, dict) and any(hasattr(one, name) for one in _HELD)


_CALLED = ("__call__", "_call_impl", "_wrapped_call_impl", "forward")
_HELD = (torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler, nn.Module)


class Attributes:
    """The part of the machine that reads and sets attributes."""

    def get(self, owner: Any, name: str) -> Any:
        """`owner.name`; raises AttributeError as Python does where the value is known well enough."""
        kind = type(owner)
        if kind is Unknown:
            return self._of_unknown(owner, name)
        if kind is standins.Library:
            if name in self.patched:
                return Unknown(f"{name} is set by the program")
            if not self.asked:
                self.ask_torch(owner, name, f"module '{owner.name}' has no attribute '{name}'", AttributeError)
            return self.of_library(owner, name)
        if kind is standins.ImportedFile:
            return self.import_name(owner, name, False)
        if name in self.altered and self.is_altered(owner, name):
            return Unknown(f"{name} is set by the program")
        if kind in METHODS and name in METHODS[kind]:
            return getattr(owner, name)
        if name.startswith("__") and name.endswith("__"):
            return self._dunder(owner, name)
        if isinstance(owner, nn.Module):
            return self._of_module(owner, name)
        if self.is_own(owner):
            return self._of_instance(owner, name)
        if isinstance(owner, torch.Tensor):
            return self._of_tensor(owner, name)
        if isinstance(owner, type):
            return self._of_type(owner, name)
        for base, names in METHODS.items():
            if isinstance(owner, base):
                return getattr(owner, name) if name in names else self._of_plain(owner, base, name)
        if kind is Array and hasattr(torch.Tensor, name) and not hasattr(Array, name):
            self.ask_array(name)
        if isinstance(owner, (Array, standins.StandIn)) or kind is super:
            self.ask_loader(owner, name)
            return getattr(owner, name)
        if kind is types.FunctionType or kind is types.MethodType or kind is Special:
            return self._of_function(owner, name)
        if isinstance(owner, enum.Enum):
            return getattr(owner, name)
        if kind.__module__.startswith("torch") and not name.startswith("_") and name not in HIDDEN:
            return self._of_torch(owner, name)
        if kind is types.GeneratorType and name == "next":
            self.deny_next()
        if owner is None:
            error = self.of_nothing(AttributeError(f"'NoneType' object has no attribute '{name}'"))
            if id(error) in self.failures:
                raise error
        if isinstance(owner, BaseException) and name in ("args", "code", "errno", "strerror", "value"):
            return getattr(owner, name, Unknown("a detail of an error"))
        return Unknown(f"{kind.__name__}.{name} is not looked at")

    def of_library(self, owner: standins.Library, name: str) -> Any:
        """`library.name`; what somebody writes behind the program's name when it is started is not the program's, nor
        is what happens to be installed.
        """
        value = world.member(owner, name)
        self.environment |= name == "__version__"
        self.presumed |= type(value) is list  # `sys.argv`
        return value

    def _of_unknown(self, owner: Unknown, name: str) -> Any:
        if owner.known is not None and type(owner.known) is Known and self.wild:
            return self.get_known(owner, name)
        if owner.known == wild.FLOAT and hasattr(torch.Tensor, name) and not hasattr(float, name):
            says = f"'float' object has no attribute '{name}': `item()` has made a number of a tensor"
            error = self.blame(AttributeError(f"'float' object has no attribute '{name}'"), says)
            if id(error) in self.failures:
                raise error
        if owner.known == wild.TEXT and self.wild and (method := text_methods.of_open(name)) is not None:
            return method
        if name in CHANGING:
            self.lend_to_fill(owner)
        if owner.hole is None:
            if name == "backward" and self.scripting:
                self.progress.reached("a backward pass", owner)
            return Unknown(owner.reason)
        if name in ("shape", "size"):
            return Unknown(owner.reason, f"{owner.hole}.shape")
        report_use(owner, "attribute", name)
        return Unknown(owner.reason, None if hasattr(torch.Tensor, name) else f"{owner.hole}.{name}")

    def _of_plain(self, owner: Any, base: type, name: str) -> Any:
        """An attribute that is no method we know of a number, a text or a container."""
        kind = type(owner)
        if isinstance(owner, tuple) and name in getattr(kind, "_fields", ()):
            return getattr(owner, name)
        if base is dict and name in _WAS_OF_DICTS:
            return getattr(owner, _WAS_OF_DICTS[name])
        if base in (dict, tuple) and kind.__module__.startswith(("torch", "collections")) and name[0] != "_":
            return self._of_torch(owner, name)
        if kind in (int, float) and (found := of_number(owner, name)) is not None:
            return found
        if hasattr(kind, name):
            return Unknown(f"{kind.__name__}.{name} is not looked at")
        if kind in (int, float):  # it may stand for one of a library
            raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")
        error = self.deny_attribute(owner, name)
        is_meant = is_several(owner) and hasattr(torch.Tensor, name) or _is_meant(kind, name)
        if id(error) not in self.failures and self.scripting and is_meant:
            self.remember(error, getattr, (owner, name), {}, certain=not self.asked)
        raise error

    def _of_torch(self, owner: Any, name: str) -> Any:
        """An attribute of what torch has made: an optimizer, a pair of values and places."""
        if self.changes.rates.is_lost(owner, name):
            return Unknown("how often a schedule is stepped")
        try:
            return own_part(owner, name)
        except AttributeError as error:
            if name in self.patched:
                return Unknown(f"{name} was added to a class of torch")
            raise self.deny_part(error, owner)

    def _of_tensor(self, owner: torch.Tensor, name: str) -> Any:
        if name == "device":
            return self.device_of(owner)
        if name == "is_cuda":
            return self.device_of(owner).type == "cuda"
        if name in ("is_sparse", "layout") and dense_stand_ins.is_sparse(owner):
            return Unknown("how a sparse tensor is kept")
        if name in HIDDEN or (name.startswith("_") and name not in owner.__dict__):
            return Unknown(f"Tensor.{name} is not looked at")
        try:
            value = getattr(owner, name)
            if value is None and name == "grad" and not self.gradients.is_none(self, owner):
                return Unknown("the gradient of what may not have been differentiated")
            return value
        except AttributeError as error:
            if name in self.patched:
                return Unknown(f"{name} was added to a class of torch")
            if name in ("full_tensor", "to_local"):
                return Unknown("a tensor that several processes share, as `fully_shard` makes them of parameters")
            if self.is_sure():
                raise self.deny_attribute(owner, name)
            return self.foreign(_raise, (error,), {})

    def _of_module(self, owner: nn.Module, name: str) -> Any:
        if name in HIDDEN and functions.closure_of(getattr(type(owner), name, None)) is None:
            return Unknown(f"Module.{name} is not looked at")
        if name in TABLES and name in vars(owner):
            return table_of(owner, name)
        try:
            found = own_part(owner, name)
            if type(found) is types.MethodType and self._may_be_field(owner, name, found):
                return Unknown(f"{name} may be a field")
            return Unknown("a parameter without sizes") if isinstance(found, UninitializedTensorMixin) else found
        except AttributeError as error:
            if name in self.patched or self.is_open(type(owner)) or guards.may_have_more(owner):
                return _of_base(owner, name)
            if type(owner) in (FreeLayer, guards.Placeholder):
                return Unknown("a part of a layer of unknown sizes")
            raise self.lacks(error, owner, name)

    def _of_instance(self, owner: Any, name: str) -> Any:
        try:
            found = getattr(owner, name)
            if type(found) is types.MethodType and self._may_be_field(owner, name, found):
                return Unknown(f"{name} may be a field")
            return found
        except AttributeError as error:
            kind = owner if isinstance(owner, type) else type(owner)
            reads = None if kind is owner else getattr(owner, READS, None)
            if reads is not None:
                return reads(name)
            if self.is_open(kind) or name in self.patched or guards.is_unfinished(owner):
                return _of_base(owner, name)
            raise self.lacks(error, owner, name)

    def _may_be_field(self, owner: Any, name: str, found: types.MethodType) -> bool:
        """Whether a function that is set in the body of a class becomes no method of its objects: `step: Callable =
        train` in one of which a base or a decorator is not known, which may make fields of what is set there.
        """
        if found.__self__ is not owner or not self.is_open(type(owner)):
            return False
        kind = next((base for base in type(owner).__mro__ if name in vars(base)), None)
        if kind not in self.codes:
            return False
        if name in vars(kind).get("__annotations__", ()):
            return True
        node, closure = self.codes[kind].node, functions.closure_of(found)
        targets = (target for one in node.body if isinstance(one, ast.Assign) for target in one.targets)
        is_set = any(last_word(target) == name for target in targets)
        return is_set and (closure is None or closure.code.node not in ast.walk(node))  # else it is `run = forward`

    def _of_type(self, owner: type, name: str) -> Any:
        if name in METHODS.get(owner, ()) or issubclass(owner, enum.Enum):
            return getattr(owner, name)
        if owner.__module__.startswith(("torch", "torchlint")) and not name.startswith("_") and name not in HIDDEN:
            return own_part(owner, name)
        return Unknown(f"{owner.__name__}.{name} is not looked at")

    def _of_function(self, owner: Any, name: str) -> Any:
        if isinstance(owner, types.MethodType):
            owner = owner.__func__
        if name in owner.__dict__:
            return owner.__dict__[name]
        if type(owner) is Special or functions.closure_of(owner) is not None:
            return Unknown(f"the attribute {name} of a function")
        raise AttributeError(f"'function' object has no attribute '{name}'")

    def _may_be_of_another(self, owner: Any, name: str) -> bool:
        """Is it what a base has that stands behind one nobody knows? That one comes first, and calls it as it likes."""
        behind = self.behind_unknown.get(owner.__thisclass__, ())
        return any(name in vars(kind) for base in behind for kind in base.__mro__ if kind in self.codes)

    def _dunder(self, owner: Any, name: str) -> Any:
        """Names between double underscores: a few are harmless and used, methods of the program's own classes are its
        own.
        """
        if name == "__class__":
            kind = type(owner)
            return kind if self.is_own(owner) or isinstance(owner, (nn.Module, torch.Tensor)) else Unknown("a class")
        kind = owner if isinstance(owner, type) else type(owner)
        if kind is super:
            if name == "__getattribute__":
                return Special(name, lambda machine, wanted: getattr(owner.__self__, wanted))
            if name not in standins.SUPER_DUNDERS or self._may_be_of_another(owner, name):
                return Unknown(f"{name} of a base class")
            found = getattr(owner, SUBCLASSED if name == "__init_subclass__" and hasattr(owner, SUBCLASSED) else name)
            if name == "__setattr__" and not isinstance(owner.__self__, type) and functions.closure_of(found) is None:
                # a base that we do not know may do more, and sets it in the end
                return Special(name, lambda machine, *given: _set_in_base(machine, owner.__self__, found, *given))
            native = isinstance(found, types.MethodWrapperType) and found.__objclass__ is object
            of_object = native and self.is_open(owner.__self_class__)
            return Unknown(f"{name} may come from a class we do not know") if of_object else found
        closure = functions.closure_of(owner) if name == "__code__" else None
        if closure is not None:
            return inspecting.CodeObject(closure.code)
        if name == "__dict__" and self.is_own(owner) and not isinstance(owner, type):
            if guards.is_unfinished(owner):
                return Unknown("what an object holds, of which a base makes more")
            return owner.__dict__
        if name == "__dict__" and isinstance(owner, type) and owner in self.codes:
            hidden = (SUBCLASSED, READS, MADE_BY, "__dict__", "__weakref__")
            return {k: v for k, v in vars(owner).items() if k not in hidden}
        if name == "__mro__" and isinstance(owner, type):
            return tuple(
                k for k in owner.__mro__ if k in self.codes or k in (object, torch.Tensor, nn.Module) or k in METHODS
            )
        if name == "__isabstractmethod__" and functions.closure_of(owner) is not None:
            return name in getattr(owner, "__func__", owner).__dict__
        if name == "__dataclass_fields__" and (fields := fields_of(self, kind)):
            return fields
        if name in _OF_ITSELF:
            return getattr(owner, name, Unknown(name))
        for base in kind.__mro__:
            if name in vars(base):
                value = vars(base)[name]
                function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
                if functions.closure_of(function) is not None or not callable(function) and base in self.codes:
                    return getattr(owner, name)
                break
        if isinstance(owner, type) and issubclass(owner, nn.Module) and name in ("__init__", "__setattr__", "__call__"):
            found = getattr(owner, name)
            if found is not nn.Module.__setattr__:
                return found
            return Special(name, lambda machine, held, *rest: _set_in_base(machine, held, partial(found, held), *rest))
        if name == "__setattr__" and owner in (object, *guards.PYTHON_TYPES):
            return Special(name, _set_past_its_class)
        if isinstance(owner, type) and name == "__init__" and owner.__init__ is not object.__init__:
            return Special(name, lambda machine, held, *args, **kwargs: _begin(machine, owner, held, args, kwargs))
        if isinstance(owner, nn.Module) and (name == "__call__" or name == "__len__" and not self.may_miss(owner)):
            return getattr(owner, name)
        if name in BY_NAME and not isinstance(owner, type):
            return Special(name, lambda machine, *given: BY_NAME[name](machine, owner, *given))
        if name in ("__getitem__", "__len__", "__iter__", "__contains__", "__setitem__") and kind in METHODS:
            if not hasattr(kind, name):
                raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")
            return Special(
                name,
                {
                    "__getitem__": lambda machine, key: machine.item(owner, key),
                    "__setitem__": lambda machine, key, value: machine.put(owner, key, value),
                    "__len__": lambda machine: len(owner),
                    "__iter__": lambda machine: machine.iterate(owner),
                    "__contains__": lambda machine, key: machine.contains(owner, key),
                }[name],
            )
        return Unknown(f"{name} is not looked at")

    def has(self, owner: Any, name: str) -> Any:
        """`hasattr`"""
        self.trying += 1
        try:
            value = self.get(owner, name)
        except AttributeError:
            return False
        finally:
            self.trying -= 1
        return value if type(value) is Unknown and value.reason.endswith("not looked at") else True

    def set(self, owner: Any, name: str, value: Any) -> None:
        """`owner.name = value`; classes and modules that are not the program's own stay as they are."""
        if type(owner) is Unknown and type(owner.known) is Known and self.wild and name == "requires_grad":
            self.in_worlds(lambda given: self.set(given[0], name, value), [owner], "")
        if type(owner) is Unknown or (name.startswith("__") and name.endswith("__")):
            self.lend((owner, value) if type(owner) is Unknown else ())
            if name in _OF_ITSELF and (self.is_own(owner) or functions.closure_of(owner) is not None):
                if type(value) is str and (name == "__doc__" or not isinstance(owner, type)):
                    setattr(owner.__func__ if isinstance(owner, types.MethodType) else owner, name, value)
            elif self.is_own(owner):  # `kind.__init__ = wrapped`, `self.__dict__ = options` may give its objects more
                self.open_classes.add(owner if isinstance(owner, type) else type(owner))
                if name == "__dict__" and _may_be_shared(owner, value):
                    owner.__dict__ = value
            elif isinstance(owner, type):
                self.alter(owner, name, value)
                self.open_classes.add(owner)
            return
        if self.changes.loops:
            self.changes.fields.append((owner, name, value))
        if isinstance(owner, nn.Module):
            if "_modules" not in owner.__dict__ and self.is_open(type(owner)):
                nn.Module.__init__(owner)  # a base or a metaclass that we do not know may have called it
            if name in TABLES:
                put_table(owner, name, value)
                return
            if "_modules" not in owner.__dict__ and isinstance(value, PlainTransform):
                owner.__dict__[name] = value
                return
            self.make_room(owner, name, value)
            if type(value) in NUMBERS and _sets_plainly(owner, name):
                self.budget.spend(TORCH_STEPS)
                owner.__dict__[name] = value
            elif unknown_in((value,)) is None:
                self.foreign(setattr, (owner, name, value), {})
            else:
                setattr(owner, name, value)  # a pair of which one is unknown is an attribute all the same
        elif isinstance(owner, torch.Tensor):
            if type(value) is not Unknown and not name.startswith("_"):
                self.foreign(setattr, (owner, name, value), {})
        elif type(owner) is Array and name == "shape" and unknown_in((value,)) is None:
            self.foreign(setattr, (owner, name, value), {})
        elif type(owner) is standins.ImportedFile:
            owner.globals[name] = value
        elif self.is_own(owner) or functions.closure_of(owner) is not None or isinstance(owner, standins.StandIn):
            setattr(owner.__func__ if isinstance(owner, types.MethodType) else owner, name, value)
        elif isinstance(owner, CHANGEABLE) and not name.startswith("_") and type(value) is not Unknown:
            try:
                setattr(owner, name, value)
            except (AttributeError, TypeError):
                pass
        elif isinstance(owner, (type, standins.Library)) or type(owner).__module__.startswith("torch"):
            written_files.forget(self, [value])  # `sys.stdout = file`
            self.patched.add(name)  # it is there for all files that will be looked at
            if isinstance(owner, type):
                self.alter(owner, name, value)

    def alter(self, kind: type, name: str, value: Any) -> None:
        """`nn.Linear.forward = mine`: what torch has there is not what runs, until it is put back."""
        if value is getattr(kind, name, None):
            if not any(code._generator for code, _ in self.stack):  # which runs on to its end before it is left
                self.altered.get(name, set()).discard(kind)
        elif hasattr(kind, name):
            self.altered.setdefault(name, set()).add(kind)

    def is_altered(self, owner: Any, name: str) -> bool:
        """Whether what is found under a name was put there by the program, in a class of torch or Python."""
        kind = owner if isinstance(owner, type) else type(owner)
        bases = kind.__mro__
        if kind is super:
            bases = owner.__self_class__.__mro__
            bases = bases[bases.index(owner.__thisclass__) + 1 :]
        changed = self.altered.get(name, ())
        return next((base in changed for base in bases if base in changed or name in vars(base)), False)

    def runs_altered(self, module: nn.Module) -> bool:
        """Whether a class of torch that runs when a module is called is not as torch has it."""
        self.walk(module, called=True)
        kinds = {type(part) for part in module.modules()}
        if any(self.is_altered(kind, name) for kind in kinds for name in _CALLED):
            return True
        changed = set().union(*self.altered.values()) - {nn.Module}
        return any(functions.closure_of(k.forward) is None and not changed.isdisjoint(k.__mro__) for k in kinds)

    def make_room(self, owner: nn.Module, name: str, value: Any) -> None:
        """What nobody knows takes the place of a part of a module, and may be one."""
        self.incomplete |= guards.may_be_layer(self, value)
        if type(value) is Unknown:
            for place in TABLES:
                owner.__dict__.get(place, {}).pop(name, None)
            free_parameters.keep_with(owner, name, value)

    def set_somewhere(self, owner: Any, value: Any) -> None:
        """`setattr(owner, name, value)` where nobody knows the name: it may be one that is there."""
        if self.is_own(owner) and not isinstance(owner, type):
            held = vars(owner)
            self.budget.spend(len(held))
            self.changes.overwrite(held, value, but=vars(nn.Module()) if isinstance(owner, nn.Module) else ())
            self.incomplete |= isinstance(owner, nn.Module)
            guards.leave_unfinished(self, owner)

    def delete_attribute(self, owner: Any, name: str) -> None:
        """`del owner.name`"""
        if (self.is_own(owner) or isinstance(owner, (nn.Module, standins.StandIn))) and not name.startswith("__"):
            try:
                delattr(owner, name)
            except AttributeError:
                pass

    def is_own(self, value: Any) -> bool:
        """Whether a value is a class of the program, or an instance of one."""
        kind = value if isinstance(value, type) else type(value)
        known = self.owned.get(kind)
        if known is None:
            known = self.owned[kind] = not self.codes.keys().isdisjoint(kind.__mro__)
        return known

    def is_open(self, kind: type) -> bool:
        """Whether a class has a base that is not known, so that it may have any attribute."""
        return not self.open_classes.isdisjoint(kind.__mro__)


def _may_be_shared(owner: Any, fields: Any) -> bool:
    """`self.__dict__ = self._shared`: what all objects of a class hold in common."""
    if isinstance(owner, (type, nn.Module)) or type(fields) is not dict:
        return False
    return all(type(name) is str for name in fields)


def _of_base(owner: Any, name: str) -> Unknown:
    """An attribute or method of a class that is not known: who calls it may change what its owner holds."""
    found = Unknown(f"{name} may come from a class we do not know")
    found.within = [owner, *plain_parts(owner)]
    return found


def _begin(machine, kind: type, held: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """`Base.__init__(self, …)` of a base that is not the program's."""
    if isinstance(held, torch.optim.Optimizer) and issubclass(kind, torch.optim.Optimizer):
        return machine.call(types.MethodType(kind.__init__, held), list(args), kwargs)
    if machine.is_own(held) and not isinstance(held, type):
        guards.leave_unfinished(machine, held)
    return Unknown(f"{kind.__name__}.__init__ is not looked at")


def _set_in_base(machine, held: Any, setting: Callable, name: Any, value: Any) -> None:
    """`super().__setattr__(name, value)` where that is Python's or torch's: what nobody knows is an attribute, too."""
    if type(name) is not str:
        machine.set_somewhere(held, value)
    elif name.startswith("__") or not machine.is_own(held) or unknown_in((value,)) is None:
        machine.foreign(setting, (name, value), {})
    else:
        if isinstance(held, nn.Module):
            machine.make_room(held, name, value)
        setting(name, value)


def _set_past_its_class(machine, held: Any, name: Any, value: Any) -> Any:
    """`object.__setattr__(self, name, value)`: what a class itself says of setting attributes is not asked."""
    if not machine.is_own(held) or isinstance(held, type) or not hasattr(held, "__dict__"):
        return Unknown("an attribute of what is not the program's")
    if type(name) is not str or name.startswith("__") or _is_set_by_class(type(held), name):
        machine.set_somewhere(held, value)
        return None
    if machine.changes.loops:
        machine.changes.fields.append((held, name, value))
    held.__dict__[name] = value
    return None


def _is_set_by_class(kind: type, name: str) -> bool:
    """Does a class say what becomes of an attribute, as a property does, and no default?"""
    said = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    return hasattr(type(said), "__set__")


def _sets_plainly(owner: nn.Module, name: str) -> bool:
    """Whether an attribute that is a number becomes just that: nobody has a say in it, and it is no part so far."""
    kind, held = type(owner), owner.__dict__
    if kind.__setattr__ is not nn.Module.__setattr__ or "_modules" not in held or hasattr(kind, name):
        return False
    return name not in held["_modules"] and name not in held["_parameters"] and name not in held["_buffers"]


def own_part(owner: Any, name: str) -> Any:
    """An attribute; a container that a class of torch holds for everybody is copied, so that it stays as it is."""
    value = getattr(owner, name)
    if (
        isinstance(value, (dict, list, set))
        and (isinstance(owner, type) or name not in vars(owner))
        and not functions.closure_of(value)
    ):
        return copy.copy(value)
    return value


def _raise(error: Exception):
    raise error
