"""What Python refuses, or the program itself: an error of nobody's guess, if nothing on the way to it was guessed."""

from __future__ import annotations

import ast
import functools
import operator
import sys
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from torchlint.shapes.core.budget import len_of
from torchlint.shapes.core.doubts import Doubt
from torchlint.shapes.core.held_parts import weights_of
from torchlint.shapes.core.standins import Interface, Library
from torchlint.shapes.core.values import Unknown, words_of
from torchlint.shapes.language import functions, program
from torchlint.shapes.language.cut_short import CONTAINERS, is_open
from torchlint.shapes.language.influence import Influence
from torchlint.shapes.language.touching import EVERYTHING, text_of
from torchlint.shapes.libraries.processes import hides
from torchlint.shapes.machine import contracts
from torchlint.shapes.machine.plain_refusals import PlainRefusals

MODULES = 64  # in one container that is lent
REACH = 6  # how far what is lent is looked through
LENT = 1000  # things that are remembered to have been in hands nobody knows
_OWN_KEYS = (str, int, float, bool)
_WITHOUT_PARTS = frozenset({*_OWN_KEYS, types.NoneType, torch.Tensor, nn.Parameter, torch.dtype, torch.device})
_HELD = (*CONTAINERS, nn.Module, Optimizer, LRScheduler)  # what may be filled, moved or set in hands nobody knows
_LEADING_ON = (*_HELD, tuple)
_PLAIN = (int, float, bool, str, list, tuple, dict, set, types.NoneType)  # which cannot be called
_OF_TORCH = (torch.Size, torch.dtype, torch.device)
# The modules whose names are all torch's own: no other library adds to them.
_COMPLETE = {m.__name__: m for m in (nn, nn.functional, torch.optim, torch.optim.lr_scheduler, torch.utils.data)}


def _stores(definition: ast.ClassDef, name: str) -> bool:
    """Whether some method of a class sets an attribute, on whatever object."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store)
        for node in ast.walk(definition)
    )


_OF_MODULES = frozenset(vars(nn.Module()))


def plain_parts(owner: Any) -> list[Any]:
    """The lists and tables that an object or a module keeps under names of its own."""
    held = getattr(owner, "__dict__", {})
    return [part for name, part in held.items() if name not in _OF_MODULES and isinstance(part, CONTAINERS)]


class Certainty(PlainRefusals):
    """The part of the machine that remembers errors no replay can confirm, for it is not torch that raises them."""

    def is_sure(self, parts: int = 0) -> bool:
        """Whether the script came here on values that are all its own: what was guessed, or left out, has nothing to do
        with what runs now; or with how many `parts` a call gives to the names that stand there.
        """
        if not self.scripting or self.presumed or self.expected:
            return False
        return not self.doubts or self._is_apart(parts)

    def is_sure_but_for_sizes(self) -> bool:
        """The same where all that is in doubt may be sizes and numbers of dimensions that nobody gives."""
        kept = self.doubts
        self.doubts = {key: doubted for key, doubted in kept.items() if not _is_of_sizes(key)}
        self._doubted = (None, frozenset(), set())
        try:
            return self.is_sure()
        finally:
            self.doubts, self._doubted = kept, (None, frozenset(), set())

    def doubt(self, node: ast.AST, why: Doubt = Doubt.ANSWERED) -> bool:
        """A condition was answered that nobody knows, a statement was left out, or the later rounds of a loop. Whether
        it was not in doubt before.
        """
        known = len(self.doubts)
        self.doubts.setdefault((id(node), why), node)
        self.changes.missed += 1
        return len(self.doubts) > known

    def settle(self, node: ast.AST) -> None:
        """It makes no difference how a condition was answered."""
        self.doubts.pop((id(node), Doubt.ANSWERED), None)
        self._doubted = (None, frozenset(), set())

    def presume(self, given: ast.arg | None = None, why: Doubt | None = None) -> None:
        """The statement that runs now takes something unknown for something, as the value of an argument it may be."""
        self.changes.missed += 1
        if given is not None:
            self.doubts.setdefault(id(given), given)
        at = self.place and (self.place[0], self.place[1].line, self.place[1].column, why)
        self.doubts.setdefault(at, self.place)

    def miss(self, name: str, program: program.Program) -> None:
        """A script reads a name that has no value: where nothing in its file gives it one, Python ends there. Others
        say that of names; here it may stand for what is elsewhere.
        """
        if self.scripting and program.path == self.script and name in program.read_anyhow:
            self.never = self.never or not program.may_define(name)

    def _is_apart(self, parts: int = 0) -> bool:
        """Whether nothing that the statement reads which runs now, or on which it depends that it runs, comes from what
        is in doubt. A function that always returns so many `parts` returns them whatever else is.
        """
        if self._doubted[0] != (len(self.doubts), len(self.files)):
            self._doubted = ((len(self.doubts), len(self.files)), *self._touched())
        _, touched, asked = self._doubted
        if EVERYTHING in touched:
            return False
        places = [self.place, *(at for _, at in reversed(self.stack))]
        running: list[ast.stmt] = []
        is_of_parts = False
        for place in places:
            source = program.source_of(place[0]) if place is not None else None
            if source is None:
                return False
            text = text_of(source.tree)
            around = text.statements_at(place[1].line, place[1].column - 1)
            if not around:
                return False
            for statement in around:
                if id(statement) in asked or not touched.isdisjoint(text.asked_by(statement)):
                    return False
            running.append(around[-1])
            if len(running) > 1 or hasattr(around[-1], "body") or touched.isdisjoint(text.words_in(around[-1])):
                continue
            if not parts:
                return False
            is_of_parts = True
        return not is_of_parts or self._gives_parts(parts, running)

    def _gives_parts(self, parts: int, running: list[ast.stmt]) -> bool:
        """Whether the innermost of the statements that run unpacks what always has so many parts, and none of them may
        have been left out, by a function or loop that was left before.
        """
        assert self._influence is not None
        influence = self._influence[1]
        return influence.gives_parts(running[0], parts) and not any(
            influence.may_leave(doubted, running) for doubted in self.doubts.values()
        )

    def changes_nothing(self, node: ast.expr) -> bool:
        """Does what is called in an expression of the program change nothing but what it makes?"""
        influence, _ = self._influences()
        text = influence.holds(node)
        return text is not None and not influence.large and not influence.all_effects(text.effects([node]))

    def _influences(self) -> tuple[Influence, dict[Any, Any]]:
        """What depends on what in the files so far, and what was found of things in doubt."""
        if self._influence is None or self._influence[0] != len(self.files):
            sources = [program.source_of(path) for path in {*self.files, self.script or ""}]
            influence = Influence([source.tree for source in sources if source is not None])
            self._influence = len(self.files), influence, {}
        return self._influence[1:]

    def _touched(self) -> tuple[frozenset[str], set[int]]:
        """What depends on all that is in doubt, by word, and the branches that were chosen without knowing."""
        influence, found = self._influences()
        words: set[str] = set()
        asked: set[int] = set()
        for key, doubted in self.doubts.items():
            if key not in found:  # a program may leave thousands of doubts
                found[key] = _reached(influence, key, doubted)
            reached, statement = found[key]
            words |= reached
            if statement is not None:
                asked.add(id(statement))
            if EVERYTHING in reached:
                break
        return influence.touched(words), asked

    def blame(
        self,
        error: Exception,
        says: str = "",
        kind: str = "operation",
        about: Any = None,
        sure: bool = True,
        parts: int = 0,
    ) -> Exception:
        """Remember an error, if it is certain, with what is to be said of it; `about` is a place that belongs to it and
        why. One that is not `sure` depends on what was done before, of which something may have been missed.
        """
        if self.is_sure(parts) and id(error) not in self.failures:
            self.remember(error, operator.getitem, (), {}, certain=True)
            failure = self.failures[id(error)]
            failure.kind, failure.says, failure.about, failure.sure = kind, says or str(error), about, sure
        return error

    def protest(self, error: Exception, says: str = "") -> None:
        """Raise what a library would raise for how its objects are used, if all the uses before are certain."""
        self.blame(error, says)
        if id(error) in self.failures:
            raise error

    def run_text(self) -> Unknown:
        """`exec` and `eval` are not run, and may have done anything."""
        self.presumed = True
        return Unknown("code in a text")

    def names_of_data(self, names: dict[str, Any]) -> list[str]:
        """Those that stand for no function, class or module: a program may give them anew."""
        self.budget.touch(names)
        kinds = (bool, int, float, str, list, tuple, dict, torch.Tensor)
        return [name for name, held in names.items() if held is None or isinstance(held, kinds)]

    def lend(self, values: Any) -> None:
        """Code that nobody knows gets these: it may fill them, and call what it is given."""
        self.changes.missed += 1
        self.changes.lends += 1
        for value in values:
            if type(value) is Unknown:
                self.changes.lengths.forget(value)
                if value.within is not None:  # whichever it is
                    self.budget.spend(1 + (len_of(value.within) >> 4))
                    self.lend(value.within.values() if isinstance(value.within, dict) else value.within)
            elif type(value) in _WITHOUT_PARTS:
                self.budget.spend()
            else:
                for held in self._reached_by(value):
                    self._lend_one(held)
                self.presumed |= self._are_called_back(value)

    def lend_to_fill(self, container: Unknown) -> None:
        """A method is asked for by which a container gets items, or loses some: others may be the same one."""
        self.lend((container,))
        self.changes.lengths.forget_unknown()

    def of_owner(self, method: Unknown) -> list[Any]:
        """What a method of a base that is not known may change, for it may call those of the program."""
        held = method.within
        return held if type(held) is list and held and self.is_own(held[0]) else []

    def lend_called(self, function: Any) -> None:
        """A function or object of the program is called as often as nobody knows: it may fill what it names."""
        closure = functions.closure_of(function)
        owner = getattr(function, "__self__", function if closure is None else None)
        self.lend((owner, *(self._named_by(closure) if closure is not None else ())))

    def lend_hooks(self, module: nn.Module) -> None:
        """Those of a network that was not run to its end may have been called, or not."""
        hooks = [
            hook
            for part in module.modules()
            for hook in (*part._forward_hooks.values(), *part._forward_pre_hooks.values())
        ]
        if hooks:
            self.lend(hooks)

    def _are_called_back(self, value: Any, depth: int = 3) -> bool:
        """Is it a function of the program, or a list of some, as `hooks=[("layer", save)]`? Also one that a library
        has wrapped, `@torch.no_grad()`, or of which a part is given, `partial(save, 1)`.
        """
        if type(value) in (list, tuple, dict):
            self.budget.touch(value)
            parts = value.values() if type(value) is dict else value
            return depth > 0 and any(self._are_called_back(part, depth - 1) for part in parts)
        if type(value) is functools.partial:
            return depth > 0 and self._are_called_back(value.func, depth - 1)
        is_function = type(value) in (types.FunctionType, types.MethodType)
        wrapped = getattr(value, "__wrapped__", None) if is_function else None
        return functions.closure_of(value) is not None or functions.closure_of(wrapped) is not None

    def _reached_by(self, value: Any) -> Iterator[Any]:
        """What may be changed by who gets something: the modules in `{"G": G, "D": D}`, the lists in `[[], []]`, and
        what the program's own objects hold, `callbacks=[history]`.
        """
        waiting, seen = deque([(value, REACH)]), {id(value)}
        while waiting:
            one, depth = waiting.popleft()
            if isinstance(one, _HELD) or self.is_own(one):
                yield one
            kind = one if isinstance(one, type) else type(one)
            parts = list(self._within_reach(kind, one)) if kind in self.codes else []
            if type(one) in (list, tuple, dict, defaultdict, OrderedDict) and len(one) <= MODULES:
                parts += one.values() if isinstance(one, dict) else one
            self.budget.spend(1 + (len(parts) >> 4))
            for part in parts if depth else ():
                if type(part) in _WITHOUT_PARTS or id(part) in seen:
                    continue
                if isinstance(part, _LEADING_ON) or type(part) in self.codes:
                    seen.add(id(part))
                    waiting.append((part, depth - 1))

    def _lend_one(self, value: Any) -> None:
        self.changes.lengths.forget(value)
        if isinstance(value, (Optimizer, LRScheduler)):
            self.changes.rates.lose(value)
        elif len(self.lent) < LENT:
            self.lent[id(value)] = value
        else:
            self.presumed = True

    def _within_reach(self, kind: type, value: Any) -> Iterator[Any]:
        """What the methods of an object may change: what it holds, and containers of the scopes around its class."""
        for held in getattr(value, "__dict__", {}).values() if not isinstance(value, nn.Module) else ():
            if isinstance(held, CONTAINERS) or type(held) in self.codes:
                yield held
        for base in kind.__mro__:
            for held in vars(base).values() if base in self.codes else ():
                if closure := functions.closure_of(held):
                    yield from self._named_by(closure)
                elif isinstance(held, CONTAINERS):
                    yield held

    def _named_by(self, closure: functions.Closure) -> Iterator[Any]:
        """The containers of the scopes around a function that it may fill."""
        words, frame = closure.code.words, closure.frame
        self.budget.spend(1 + len(words) >> 2)
        while frame is not None:
            held = frame.vars
            for name in words & held.keys():
                if isinstance(held[name], CONTAINERS):
                    yield held[name]
            frame = frame.parent

    def may_be_moved(self, tensors: Any) -> bool:
        """Whether one of them is a parameter of a module that is in hands nobody knows: `Flow(net).to(device)`."""
        lent = [value for value in self.lent.values() if isinstance(value, nn.Module)]
        return any(part is tensor for module in lent for part in weights_of(module) for tensor in tensors)

    def is_whole(self, container: Any) -> bool:
        """Whether all that a container holds is known."""
        return id(container) not in self.lent and not is_open(container)

    # Which errors

    def misfit(self, function: Any, error: TypeError) -> None:
        """A call that is written in the program does not fit the function of the program that it calls."""
        if not isinstance(error, functions.ArgumentError) or error.code in self.loosened:
            return
        if isinstance(function, type) and self.is_open(function):
            return
        defined = program.source_of(error.code.path)
        if defined is not None and defined.is_fallback(error.code.node):
            return
        called = getattr(function, "__init__", None) if isinstance(function, type) else function
        closure = functions.closure_of(called) or functions.closure_of(getattr(called, "__wrapped__", None))
        if closure is not None and closure.code is error.code:
            self.blame(error, about=("it is defined here", error.code.place))

    def uneven(self, error: ValueError, value: Any, count: int) -> ValueError:
        """`a, b = value`, and it has not two parts."""
        if isinstance(value, torch.Tensor):
            rows = f"{value.shape[0]} row{'s' * (value.shape[0] != 1)}"
            says = f"a tensor of shape {tuple(value.shape)} has {rows}, for {count} names: {error}"
            return self.blame(error, says)
        named = type(value).__module__ == "torch.return_types"  # `values, indices = x.topk(5)`
        if named or type(value) in (tuple, list, torch.Size) and self.is_whole(value):
            parts = len(value) if type(value) is tuple else 0
            return self.blame(error, f"{len(value)} values for {count} names: {error}", parts=parts)
        return error

    def is_one(self, error: TypeError, value: Any) -> Exception:
        """`a, b = value`, and it has no parts."""
        if value is None:
            return self.of_nothing(TypeError("cannot unpack non-iterable NoneType object"))
        if type(value) in (int, float) or isinstance(value, nn.Module) and self._is_known(type(value)):
            return self.blame(error, f"cannot unpack non-iterable {type(value).__name__} object")
        return error

    def lacks(self, error: AttributeError, owner: Any, name: str) -> AttributeError:
        """An attribute that an object of the program, or a layer of torch, certainly has not."""
        kind = owner if isinstance(owner, type) else type(owner)
        if hides(owner, name) and not self.is_own(owner) and id(owner) not in self.lent:
            says = f"'{kind.__name__}' object has no attribute '{name}': it is one of the model in its `.module`"
            return self.blame(error, says)
        if self._is_of_property(owner):
            self.raised[id(error)] = error
            return error
        if (
            not self.is_sure()
            or id(owner) in self.lent
            or any(name in vars(base) for base in kind.__mro__)
            or not self._is_known(kind)
        ):
            return error
        is_set = any(_stores(self.codes[base].node, name) for base in kind.__mro__ if base in self.codes)
        if is_set and (
            self.starts.leaves_out or any(type(key) is tuple and Doubt.LEFT_OUT in key for key in self.doubts)
        ):
            return error  # by `--config FILE`, which everybody gives, or by a hook that what was left out would call
        made = self.made_at.get(id(owner), (None, None))[1]
        says = f"'{kind.__name__}' object has no attribute '{name}'"
        return self.blame(error, says, about=("it is made here", made) if made is not None else None, sure=not is_set)

    def _is_of_property(self, owner: Any) -> bool:
        """Does a property of a module read it? Where that fails, torch looks for a layer, a weight or a buffer of that
        property's name, and asks so before it registers one.
        """
        if not self.stack or not isinstance(owner, nn.Module):
            return False
        name = self.stack[-1][0].name
        return any(isinstance(vars(base).get(name), property) for base in type(owner).__mro__)

    def _is_known(self, kind: type) -> bool:
        """Whether all classes that a class is made of are the program's, or torch's layers, and have no say in what
        attributes are.
        """
        return not any(
            functions.closure_of(vars(base).get(name)) is not None
            for base in kind.__mro__
            for name in ("__getattr__", "__getattribute__", "__setattr__")
        ) and all(
            base in self.codes
            and base not in self.open_classes
            or base in (object, Interface)
            or base.__module__.startswith("torch.nn.modules.")
            for base in kind.__mro__
        )

    def missing(self, error: Exception, owner: Any, key: Any) -> Exception:
        """A key that a dict of the program has not, or a position behind the end of a list."""
        if self.counted_gpus or self.environment or not self.is_whole(owner) or type(key) not in _OWN_KEYS or key == "":
            return error  # it may be a list of as many as there are GPUs, or a name that is not given or installed here
        if not len(owner) and self.starts.leaves_out:
            return error  # what an option was to choose, which nobody gives
        if not self.is_sure() or self.is_filled_by_others(owner):  # which looks at files: asked where it matters
            return error
        if isinstance(owner, dict):
            if any(type(k) not in _OWN_KEYS for k in owner):
                return error
            keys = ", ".join(map(repr, list(owner)[:8])) + (", …" if len(owner) > 8 else "")
            says = f"there is no {key!r} among the keys {keys}" if keys else f"there is no {key!r} in an empty dict"
            return self.blame(error, says, sure=False)
        return self.blame(error, f"there is no item {key} among {len(owner)}", sure=False)

    def ask_torch(self, module: Library, name: str, says: str, kind: type[Exception]) -> None:
        """A name that one of torch's large modules has not, nor any of its own parts is called by."""
        known = name[:1] == "_" or name in self.patched or module.name not in _COMPLETE
        if not known and not hasattr(_COMPLETE[module.name], name):
            self.protest(kind(says))

    def ask_callable(self, value: Any) -> Unknown | None:
        """Something is called: a number, a tensor, a module of Python, an object of a class that has no `__call__`."""
        kind = type(value)
        if self.is_open(kind):
            self.lend((value,))
            return Unknown("__call__ may come from a class we do not know")
        if kind is Library:
            is_module = "." not in value.name or isinstance(sys.modules.get(value.name), types.ModuleType)
            called = "module" if is_module else None
        elif kind in _OF_TORCH:
            called = f"torch.{kind.__name__}"
        elif kind in (*_PLAIN, torch.Tensor, nn.Parameter):
            is_open = value is None and self.place is not None and self._is_open_call(self.place)
            called = None if is_open else kind.__name__
        else:
            is_own = kind in self.codes and id(value) not in self.lent and self._is_known(kind)
            called = kind.__name__ if is_own else None
        if called is not None:
            self.protest(TypeError(f"'{called}' object is not callable"))
        return None

    def _is_open_call(self, place: program.Place) -> bool:
        """Is what is called a blank of a notebook, to be filled in, or may it be there for others?"""
        call = program.node_at(place)
        return place[0].endswith(".ipynb") or isinstance(call, ast.Call) and self._may_be_there([call.func])

    def _may_be_there(self, named: list[ast.expr]) -> bool:
        """Is one of these a name that the file imports if there is such a library?"""
        source = program.source_of(self.place[0]) if self.place is not None else None
        names = {part.id for part in named if isinstance(part, ast.Name)}
        return source is not None and not names.isdisjoint(source.taken_if_there)

    def ask_base(self, base: Any, code: functions.ClassCode) -> None:
        """`class Net(Base)` where a decorator that returns nothing has made None of it; `class Net(nn)`."""
        if base is None and not self._may_be_there(code.node.bases):
            self.protest(TypeError("NoneType takes no arguments"), "a class is derived from None")
        elif type(base) is Library and base.name in _COMPLETE:
            self.protest(TypeError("module() takes at most 2 arguments (3 given)"), "a class is derived from a module")

    def ask_layer(self, layers: nn.ModuleDict | nn.ModuleList | nn.Sequential, key: Any) -> None:
        """`layers[key]`: a key that no layer can have been given, a place behind the last."""
        if self.changes.built or self.incomplete:
            return
        number = len(layers._modules)
        if type(layers) is nn.ModuleDict:
            if type(key) is str and key not in layers._modules:
                raise self.missing(KeyError(key), layers._modules, key)
        elif type(key) is int and not -number <= key < number and id(layers) not in self.lent:
            raise self.blame(IndexError(f"index {key} is out of range"), f"there is no layer {key} among {number}")

    def is_filled_by_others(self, container: Any) -> bool:
        """Is it a table of an imported file, or asked there, and the package around that file may enter something in
        it: `from . import zoo`, in an `__init__.py` that was not run?
        """
        return any(
            self.is_without_its_package(path)
            for path, module in self.files.items()
            if path != self.script
            and (
                self.place is not None
                and self.place[0] == path
                or any(held is container for held in module.globals.values())
            )
        )

    def own_check(self, frame: Any, error: Exception) -> None:
        """The program itself says that its values do not fit: `raise` or `assert`, on what is all its own."""
        if self.cuda and not self.environment and not self.counted_gpus and self.is_sure():
            broken = contracts.broken(self, frame, error)
            if broken is not None:
                says = words_of(error).strip()
                self.blame(error, says, "check", about=broken)


def _is_of_sizes(key: Any) -> bool:
    return type(key) is tuple and key[-1] is Doubt.SIZES


def _reached(influence: Influence, key: Any, doubted: Any) -> tuple[frozenset[str], ast.stmt | None]:
    """What one thing that is in doubt may change itself, and the branch that was chosen there."""
    if isinstance(doubted, ast.arg):
        text = influence.holds(doubted)
        return frozenset({EVERYTHING if text is None else text.variables.word(doubted)}), None
    if isinstance(doubted, ast.AST):
        if key[1] is Doubt.CUT and influence.is_straight(doubted):
            return frozenset(), None
        text = influence.holds(doubted)
        statement = text.statement_of(doubted) if text is not None else None
        if text is None or statement is None:
            return frozenset({EVERYTHING}), None
        answered = key[1] is Doubt.ANSWERED
        found = text.of_answer(doubted) if answered else text.effects([doubted])
        rest = text.rest(statement) if found.leaves and not answered else frozenset()
        return influence.all_effects(found) | rest, statement
    source = program.source_of(doubted[0]) if doubted is not None else None
    text = text_of(source.tree) if source is not None else None
    around = text.statements_at(doubted[1].line, doubted[1].column - 1) if text is not None else ()
    if text is None or not around:
        return frozenset({EVERYTHING}), None
    return text.of_value(around[-1]).words, around[-1] if hasattr(around[-1], "test") else None
