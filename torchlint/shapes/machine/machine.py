"""The machine that runs a program: calls, errors, decisions on unknowns, and the state that one run has."""

from __future__ import annotations

import functools
import operator
import types
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn

from torchlint.project import View
from torchlint.shapes.core import budget
from torchlint.shapes.core.budget import TORCH_STEPS, Budget
from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import (
    Exhausted,
    Likeness,
    ProgramError,
    ProgramExit,
    Special,
    Unknown,
    UnknownUsed,
    report_use,
    unknown_in,
)
from torchlint.shapes.language import functions
from torchlint.shapes.language.cut_short import CHANGING, CONTAINERS, MORE, Changes
from torchlint.shapes.language.program import Frame, Place, Program, Question
from torchlint.shapes.libraries import builtins, guards, open_optimizers, temporary
from torchlint.shapes.libraries.equal_layers import EqualLayers
from torchlint.shapes.libraries.free_layers import FreeLayer
from torchlint.shapes.libraries.schedules import Schedules
from torchlint.shapes.libraries.starts import Starts
from torchlint.shapes.libraries.written_files import FilesWritten
from torchlint.shapes.machine import decisions, extensions, holes
from torchlint.shapes.machine.attributes import Attributes
from torchlint.shapes.machine.certainty import Certainty, plain_parts
from torchlint.shapes.machine.checked_shapes import AsWritten
from torchlint.shapes.machine.contexts import Contexts
from torchlint.shapes.machine.failures import FailedOperation
from torchlint.shapes.machine.fitting import is_of_torch
from torchlint.shapes.machine.going import Going
from torchlint.shapes.machine.gradients import Gradients
from torchlint.shapes.machine.how_far import ScriptProgress
from torchlint.shapes.machine.imports import Imports
from torchlint.shapes.machine.operations import Operations
from torchlint.shapes.machine.reach import Reach
from torchlint.shapes.machine.surroundings import Surroundings
from torchlint.shapes.machine.types import Classes
from torchlint.shapes.machine.worlds import Worlds
from torchlint.shapes.tensors import dispatch, ranges, wild
from torchlint.shapes.tensors.arrays import Array

IMPORT_STEPS = 600_000  # for all files of the project that a program imports
GUESSED_STEPS = 1_000_000  # for all modules of a file that no script runs


_PARTS = ("split", "rsplit", "partition", "rpartition")  # of a text
_RESHAPES = frozenset({"view", "reshape", "flatten"})
_RESIZES = frozenset({"resize_", "resize_as_", "set_"})
_WITHOUT_PARTS = frozenset({types.NoneType, types.ModuleType, str, list, dict, set, tuple})  # that may be missing
_TURNS = 16  # changes of rows that are remembered


class Turn(NamedTuple):
    """A reshape that gave a tensor another number of rows."""

    place: Place
    before: int
    after: int


class Machine(Operations, Attributes, Classes, Imports, Certainty, AsWritten, Worlds, Going, Contexts, Surroundings):
    """One run of a program. `choices` are the answers to unknown conditions that this run must take."""

    def __init__(self, view: View, steps: int, choices: dict[str, bool] | None = None, cuda: bool = True):
        self.view = view
        self.budget = Budget(steps)
        self.import_budget = Budget(IMPORT_STEPS)
        self.choices = choices or {}
        self.cuda = cuda
        self.asked_cuda = False
        self.gpus = 1
        self.counted_gpus = False
        self.processes = 1  # that run the program together
        self.counted_processes = False
        self.place: Place | None = None
        self.last_error: Exception | None = None
        self.last_place: Place | None = None
        self.stack: list[tuple[Any, Place | None]] = []
        self.caller: Frame | None = None  # of what looks at the names of its caller
        self.modules: list[nn.Module] = []
        self.failures: dict[int, FailedOperation] = {}
        self.reported: list[FailedOperation] = []
        self.failed: Callable[[FailedOperation], None] | None = None  # hears at once of what torch refuses
        self.refused: dict[Any, int] = {}  # how often that was, by its place
        self.raised: dict[int, Exception] = {}  # the program's own errors; held: no other gets the number of one
        self.finished: set[type] = set()
        self.ended_codes: set[Any] = set()  # of the finished classes
        self.instances: dict[type, tuple[nn.Module, bool]] = {}  # the last one made, and whether of guessed arguments
        self.built_instances: dict[
            type, nn.Module
        ] = {}  # the last one made of arguments that nobody guessed, by a builder that asked nothing
        self.guessing = False
        self.taken_apart: deque[Any] = deque(
            maxlen=64
        )  # tensors whose items the program took, as it does with lists of tensors
        self.progress = ScriptProgress()
        self.vain_parts = 0  # squeezes that took nothing away, parts behind the end: of sizes that were guessed
        self.placed: list[Any] = []  # the devices that it is in, as contexts: the outermost first
        self.wild = False  # whether what is known in part is carried through several worlds
        self.evaluations = 0  # of operations in such worlds
        self.trying = 0  # how many `try` stand around what runs now: their handlers may have an answer to an error
        self.turns: deque[Turn] = deque(maxlen=_TURNS)
        self.entered: set[Any] = set()
        self.asked: dict[str, bool] = {}
        self.equals: dict[int, Likeness] = {}  # unknowns, by their identity, and the constants they are one of
        self.decided = False  # whether anything was asked since the run began
        self.decided_here = False  # the same since a function that nobody calls was called
        self.decisions = 0  # how often, by now
        self.expected = 0
        self.presumed = False  # whether something unknown may have changed anything
        self.doubts: dict[
            Any, Any
        ] = {}  # conditions answered, statements left out, places where something was presumed
        self.newest_doubt: Any = None  # a condition that was just taken to hold, and was not in doubt before
        self.never = False  # whether a name was read that nothing defines: Python ends there
        self._doubted: tuple = ((0, 0), frozenset(), set())  # what depends on those
        self._influence: tuple | None = None  # of how many files, and what each doubt reaches there
        self.known_faults: set[Any] = set()  # the places where the script fails
        self.starts = Starts()
        self.environment = False  # whether anything was asked that depends on how the program is started, and where
        self.lent: dict[int, Any] = {}  # what code that nobody knows was given, and may have filled
        self.reach = Reach()
        self.gradients = Gradients()
        self.sizes: dict[
            int, tuple[Any, tuple[int, int]]
        ] = {}  # unknown numbers that were sizes, and what stands for them
        self.saved: dict[Any, Any] = {}  # what was saved in files, by their paths
        self.files_written = FilesWritten()
        self.gone: set[Any] = set()  # which of these were removed
        self.folders: set[str] = set()  # of its own, in which there is nothing else
        self.trusts = False  # whether the program says what `torch.load` may make besides weights
        self.nothing: dict[Any, Any] = {}  # the calls of functions that return nothing, by their places
        self.incomplete = False  # whether a module got something unknown as a part
        self.blurred = False  # whether a tensor was given something unknown in place, which may have a graph
        self.resized = False  # whether a tensor, under whatever name, got a shape that nobody knows
        self.left = GUESSED_STEPS
        self.remembered: Any = None  # what the search for arguments keeps of what it tried
        self.schedules = Schedules(self)
        self.step: Any = None  # who wants to see the first training step
        self.updates = 0  # backward passes and optimizer steps so far
        self.changes = Changes()
        self.layers = EqualLayers()
        self.files: dict[str, Any] = {}
        self.names: dict[str, Any] = {}
        self.classes: list[type] = []
        self.made_at: dict[int, tuple[Any, Place]] = {}
        self.loose: set[int] = set()  # modules that the script's own statements make, by their identity
        self.codes: dict[type, Any] = {}
        self.owned: dict[type, bool] = {}  # whether a class is one of these, or made of one
        self.open_classes: set[type] = set()
        self.behind_unknown: dict[type, list[type]] = {}  # the bases of a class that stand behind one nobody knows
        self.patched: set[str] = set()
        self.altered: dict[str, set[type]] = {}  # classes of others in which the program puts something in this place
        self.dataclass_fields: dict[type, dict] = {}
        self.importing = 0
        self.imported_text = 0  # characters
        self.awaited: set[tuple[str, str]] = set()  # names of files that import each other
        self.loosened: set[Any] = set()  # code that a decorator nobody knows may have changed
        self.scripting = False
        self.script: str | None = None  # the path of what runs as a script
        self.comparing: Any = None  # the code whose shapes are compared with what is written, though inputs are assumed
        self.misfits: dict[Any, FailedOperation] = {}  # what came of it, by where and what
        self.yielded = functions.yielded
        self.lexical_class = functions.lexical_class

    def builtin(self, name: str, program: Program | None = None, node: Any = None) -> Any:
        """A name that nothing has defined in the file yet."""
        if program is not None and name not in builtins.NAMES:
            self.miss(name, program)
            self.ask_name(name, program, node)
        return builtins.find(name)

    def let_go(self) -> None:
        """The run is over. What it made refers to itself, and through its frames to all the rest: taken apart by hand
        it is gone at once, and nobody has to look for it.
        """
        for names in (self.names, *(module.globals for module in self.files.values())):
            names.clear()
        self.__dict__.clear()

    def ended(self, kind: type) -> bool:
        """Whether a forward of a class came to its end; a file that is imported in a circle makes its classes twice."""
        return self.codes[kind] in self.ended_codes

    def device_of(self, tensor: torch.Tensor) -> torch.device:
        """The device a tensor would be on."""
        return dispatch.device_of(tensor)

    # Calls

    def called_from(self, frame: Frame) -> Frame:
        self.caller = frame
        return frame

    def call(self, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
        """Call any value. What is not the program's own runs only if it is on the allow-list."""
        kind = type(function)
        if kind is types.FunctionType or kind is types.MethodType:
            closure = functions.closure_of(function)
            if closure is not None:
                given = args if kind is types.FunctionType else (function.__self__, *args)
                return closure.call(tuple(given), dict(kwargs))
            if functions.closure_of(getattr(function, "__wrapped__", None)) is not None:
                return function(*args, **kwargs)
        if kind is Unknown:
            return self._call_unknown(function, args, kwargs)
        if kind is Special:
            if "*" in kwargs:
                return Unknown("its arguments are unknown")
            return self.run_special(function, args, kwargs)
        if kind is functools.partial:
            return self.call(function.func, [*function.args, *args], {**function.keywords, **kwargs})
        if kind is not types.BuiltinFunctionType:
            if isinstance(function, type):
                return self.construct(function, args, kwargs)
            if isinstance(function, nn.Module):
                return self.call_module(function, args, kwargs)
            if functions.closure_of(getattr(kind, "__call__", None)) is not None:
                return kind.__call__(function, *args, **kwargs)
        if "*" in kwargs:
            return self._left_out(function, "its arguments are unknown", args)
        if not callable(function) and (called := self.ask_callable(function)) is not None:
            return called
        if self.changes.loops:
            self.changes.call(function)
        guard = guards.find(function)
        if guard is not None:
            budget.work.spend(budget.Work.NATIVE)
            budget.pay(self.budget, function, args, kwargs)
            return self.guarded(guard, function, args, kwargs)
        return self.foreign(function, tuple(args), kwargs)

    def guarded(self, guard: Callable, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
        """Call what must be looked at before: it may grow, or it has a meaning of its own here."""
        if self.wild and guard in guards.IN_PART and wild.choices_in(args)[0]:
            made = self.in_worlds(lambda one: self.guarded(guard, function, *one), [args, kwargs], "a number")
            return wild.known_at_least(made, guards.MAKING_NUMBERS.get(guard))
        unknown = unknown_in(args) if guard in guards.STRICT else None
        if unknown is not None:
            return wild.unknown(unknown.reason, guards.MAKING_NUMBERS.get(guard))
        try:
            return guard(self, function, *args, **kwargs)
        except UnknownUsed as used:
            return Unknown(str(used))

    def run_special(self, special: Special, args: list, kwargs: dict[str, Any]) -> Any:
        """Call one of our own functions."""
        self.budget.spend(1, budget.Work.NATIVE)
        if self.files_written.any:
            self.files_written.give(self, special, [*args, *kwargs.values()])
        if self.wild and special.__dict__.get("pure") and wild.choices_in([args, kwargs])[0]:
            return self.stacked(
                special.name,
                lambda given: self.run_special(special, list(given[0]), dict(given[1])),
                args,
                kwargs,
                "what is known in part",
            )
        try:
            return special.function(self, *args, **kwargs)
        except UnknownUsed as used:
            return Unknown(str(used))

    def foreign(self, function: Callable, args: tuple, kwargs: dict[str, Any], paid: bool = False) -> Any:
        """Call a function of torch or Python that is known to be harmless; an error is remembered with its place."""
        if kwargs and type(kwargs.get("generator")) is Unknown:  # whichever it is, what it draws looks alike
            kwargs = {**kwargs, "generator": None}
        unknown = unknown_in((*args, *kwargs.values()) if kwargs else args)
        if unknown is not None and not _takes_unknown(function):
            report_use(unknown, "call", (function, args, kwargs))
            self.resized |= getattr(function, "__name__", "") in _RESIZES
            if self.wild and is_of_torch(function):
                return self.in_part(function, args, kwargs, unknown)
            result = self._left_out(function, unknown.reason, args)
            result.hole = holes.of_call(function, args)
            return result
        owner = getattr(function, "__self__", None)
        if type(owner) is str and not owner and function.__name__ in _PARTS:
            self.presume()  # a path or a name that is not given here: `options.checkpoint.split("/")`
        is_plain = type(owner) in _WITHOUT_PARTS
        if not is_plain and guards.is_unfinished(owner) and not guards.is_of_every_module(function):
            return Unknown("an object of which only a part is known")
        if not paid:
            self._pay(function, owner, args, kwargs)
        try:
            result = function(*args, **kwargs)
            if type(result) is torch.Tensor and getattr(function, "__name__", "") in _RESHAPES:
                self._turn(owner if isinstance(owner, torch.Tensor) else args[0], result)
            return result
        except UnknownUsed as used:
            made = self.as_many_as_data_say(function, args, kwargs, str(used))
            if made is not None:
                return made
            number = getattr(function, "__name__", "") == "item"
            whose = guards.kind_of_values(owner) if isinstance(owner, torch.Tensor) else None
            kind = wild.DRAWN if number and ranges.is_drawn(owner) else whose or wild.NUMBER
            drawn = number and ranges.is_drawn_whole(owner)
            return wild.drawn() if drawn else wild.unknown(str(used), kind if number else None)
        except RecursionError:
            raise Exhausted("it nests too deeply") from None
        except Exception as error:
            if self.may_miss(owner) or open_optimizers.holds_unknown(owner):
                return Unknown(MORE)  # `names.index("x")` of what a loop over unknown files fills
            if getattr(function, "__name__", "") == "__init__" and self.is_own(owner) and self.is_open(type(owner)):
                return self._left_out(function, "a base that is not known would have come first")
            if isinstance(owner, (StandIn, Array)) and type(error) is TypeError and error.__traceback__.tb_next is None:
                return Unknown("an argument that we do not know")  # what the library takes is more than what we do
            if isinstance(error, AttributeError) and any(type(a) in (FreeLayer, guards.Placeholder) for a in args):
                return Unknown("a part of a layer of unknown sizes")
            if extensions.brings_device(error, self.place):
                is_moved = getattr(function, "__name__", "") == "to"
                return owner if is_moved else Unknown("a device of an extension")
            ours = error is self.last_error or isinstance(
                error, functions.ArgumentError
            )  # of the program, which torch called back
            if type(error) is TypeError:
                self.deny_call(function, error)
            self.ask_who_gave_nothing(error)
            if id(error) not in self.failures and id(error) not in self.raised and not ours:
                self.remember(error, function, args, kwargs)
            raise

    def _turn(self, value: torch.Tensor, result: torch.Tensor) -> None:
        """Remember where a tensor got another number of rows: a loss that misses them says so much later."""
        with torch._C.DisableTorchFunction():
            before, after = value.shape, result.shape
        if before and after and before[0] != after[0] and self.place is not None:
            self.turns.append(Turn(self.place, before[0], after[0]))

    def _left_out(self, function: Callable, reason: str, args: tuple = ()) -> Unknown:
        """A call that is not made, because of what is unknown: the `__init__` of a base class then leaves an object of
        which only a part is known, and a container that would be filled may hold anything.
        """
        owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if name == "__init__" and owner is None and args:
            owner = args[0]  # `Base.__init__(self, size)`
        if name == "__init__" and self.is_own(owner):
            guards.leave_unfinished(self, owner)
        elif name == "update" and isinstance(owner, dict):
            self.put_somewhere(owner, Unknown(reason))
        elif name == "__setitem__" and isinstance(owner, dict) and len(args) == 2 and type(args[0]) is str:
            dict.__setitem__(owner, *args)  # `super().__setitem__(key, value)`
        elif isinstance(owner, CONTAINERS) and (name in CHANGING or name == "__setitem__"):
            self.may_have_changed(owner)
        elif isinstance(owner, torch.Tensor) and name.endswith("_") and not name.endswith("__"):
            self.blurred = True
        return Unknown(reason)

    def _pay(self, function: Callable, owner: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        of_python = guards.is_of_python(type(owner))
        self.budget.spend(3 if of_python else TORCH_STEPS)
        if isinstance(owner, nn.Module) and function.__name__ not in guards.CHEAP_ON_MODULES:
            self.walk(owner)
        budget.pay(self.budget, function, args, kwargs)
        for value in () if of_python else args:
            if type(value) in (list, tuple) and len(value) > 64:
                self.budget.spend(4 * len(value))
            elif isinstance(value, nn.Module) and value.__dict__.get("_modules") and function is not setattr:
                (
                    self.budget.spend(len(value._modules) >> 4)
                    if function is operator.getitem and type(args[1]) is int
                    else self.walk(value)
                )

    def walk(self, module: nn.Module, called: bool = False) -> None:
        """Pay for torch's code that walks through a module, all of it; a part that is `called` pays for itself if its
        forward is the program's.
        """
        most, parts, stack = budget.work.left // budget.Work.PART, 0, [module]
        while stack and parts <= most:
            one = stack.pop()
            parts += 1
            if isinstance(one, nn.Module) and not (called and functions.closure_of(type(one).forward) is not None):
                held = one.__dict__  # of one that is not initialised yet there is nothing
                parts += len(held.get("_parameters", ())) + len(held.get("_buffers", ()))
                stack += held.get("_modules", {}).values()
        budget.work.spend(parts * budget.Work.PART)

    def remember(
        self, error: Exception, function: Callable, args: tuple, kwargs: dict[str, Any], certain: bool = False
    ) -> None:
        """Keep what failed, and where, for the case that nobody catches it."""
        if len(self.failures) > 200:  # each holds what it failed on
            self.failures.clear()
        budget.work.spend(budget.Work.REFUSED)
        failure = self.failures[id(error)] = FailedOperation(self, error, function, args, kwargs)
        failure.certain = certain

    def call_module(self, module: nn.Module, args: list, kwargs: dict[str, Any]) -> Any:
        """Call a module: torch's own `__call__` runs hooks and forward, ours or the program's."""
        unknown = unknown_in(args)
        if unknown is not None:
            report_use(unknown, "layer", module)
            if self.scripting and type(unknown.known) is not wild.Known:
                self.progress.reached("a layer", unknown)
                result = self._call_module(module, args, kwargs, unknown)
                if type(result) is Unknown and result.known is None:
                    self.progress.lose(unknown)
                return result
        return self._call_module(module, args, kwargs, unknown)

    def _call_module(self, module: nn.Module, args: list, kwargs: dict[str, Any], unknown: Unknown | None) -> Any:
        native = functions.closure_of(type(module).forward) is None  # a Sequential of the program's own is, too
        if self.altered and self.runs_altered(module):
            self.lend((module, *args, *kwargs.values()))
            return Unknown("the program changes the class of a layer")
        if unknown is not None and native and self.wild and "*" not in kwargs and type(module) is not FreeLayer:
            made = self.layer_in_part(module, args, kwargs, unknown)
            if made is not None:
                return made
        if "*" in kwargs and native:
            return Unknown("its arguments are unknown")
        if native and (guards.is_unfinished(module) or not self.scripting and guards.takes_fewer(module, args)):
            return Unknown("a layer of unknown sizes")
        self.ask_tensors(module, args)
        self.budget.spend(TORCH_STEPS)
        if module.__dict__.get("_modules"):
            self.walk(module, called=True)
        self.modules.append(module)
        self.progress.asks = True
        result = None
        if self.scripting and len(self.modules) == 1:
            self.reach.begin(self, module)
        try:
            result = module(*args, **kwargs)
            self.reach.run(self, module)
            if unknown is not None and type(result) is Unknown:
                result.hole = holes.of_layer(module, unknown)
            if unknown is None and type(result) is not Unknown:
                self.finished.add(type(module))
                self.ended_codes.add(self.codes.get(type(module)))
            return result
        except UnknownUsed as used:
            return Unknown(str(used))
        except RecursionError:
            raise Exhausted("it nests too deeply") from None
        except Exception as error:
            misused = self._misused(module, error)
            if misused and self.is_open(type(module)):
                self.lend(plain_parts(module))
                return Unknown("forward may come from elsewhere")
            self.ask_who_gave_nothing(error)
            if id(error) not in self.failures and id(error) not in self.raised and (native or misused):
                if unknown is not None:
                    return Unknown(unknown.reason)
                failure = self.failures[id(error)] = FailedOperation(self, error, module, tuple(args), kwargs)
                failure.certain = misused
            raise
        finally:
            self.modules.pop()
            if not self.modules:
                self.reach.end(self, module, result)

    def _misused(self, module: nn.Module, error: Exception) -> bool:
        """Whether a module of the program has no forward, or is called with arguments that its forward does not
        have.
        """
        if type(module) not in self.codes:
            return False
        closure = functions.closure_of(type(module).forward)
        if closure is None:
            return getattr(module.forward, "__name__", "") == "_forward_unimplemented"
        return self.scripting and isinstance(error, functions.ArgumentError) and error.code is closure.code

    def refuse(self, error: Exception, function: Any, args: tuple) -> None:
        """Raise what torch would raise before it looks at any data."""
        certain = self.is_sure() or not self.scripting
        if certain or any(self.is_tensor(value) for value in args):  # which is judged by its sizes, as others are
            self.remember(error, function, args, {}, certain)
        raise error

    def _call_unknown(self, function: Unknown, args: list, kwargs: dict[str, Any]) -> Unknown:
        # It may add to the classes it is given: in notebooks `@add_to_class(Net)` spreads a class over cells.
        self.open_classes.update(value for value in args if isinstance(value, type) and value in self.codes)
        self.budget.spend(budget.Work.NATIVE)
        report_use(function, "call", (args, kwargs))
        self.lend((*self.of_owner(function), *args, *kwargs.values()))
        temporary.written(self, (*args, *kwargs.values()))
        return Unknown(function.reason.here())

    def decorate(self, decorator: Any, value: Any) -> Any:
        """Apply a decorator; one that is unknown, or makes something unknown, leaves the definition as it is."""
        if type(decorator) is Unknown:
            self.loosen(value)
            return value
        made = self.call(decorator, [value], {})
        if type(made) is Unknown:
            self.loosen(value)
            return value
        return made

    def loosen(self, value: Any) -> None:
        """A definition that a decorator nobody knows may have changed."""
        closure = functions.closure_of(value) or functions.closure_of(getattr(value, "__wrapped__", None))
        if closure is not None:
            self.loosened.add(closure.code)
        elif isinstance(value, type):
            self.open_classes.add(value)

    def super_of(self, frame: Frame) -> Any:
        """`super()` without arguments."""
        owner, first = functions.lexical_class(frame)
        if type(first) is Unknown:
            return Unknown(first.reason)
        return super(owner, first)

    # Decisions

    def forget_answers(self) -> None:
        """A run begins in which nothing has been asked."""
        self.asked.clear()
        self.equals.clear()
        self.changes.lengths.clear()

    def decide(self, question: Question | None, default: bool = True, likeness: Likeness | None = None) -> bool:
        """Answer an unknown condition: as this run was told to, else by default; remembered, so that the other way is
        tried. A value that was found to be one of some constants is no other, under whatever name.
        """
        self.decisions += 1
        if question is None:
            return default
        text, turned = question.asked
        if likeness is not None and id(likeness[0]) in self.equals:
            found = [one in likeness[1] for one in self.equals[id(likeness[0])][1]]
            if all(found) or not any(found):
                return found[0] != turned
        answer = self.choices.get(text)
        if answer is None and default:
            answer = self.asked.get(text)
        if answer is None:
            answer = default != turned and not decisions.excluded(text, self.asked)
        self.asked.setdefault(text, answer)
        self.newest_doubt = question.node if self.doubt(question.node) and answer != turned else None
        if answer and likeness is not None:
            self.equals[id(likeness[0])] = likeness
        self.decided = self.decided_here = True
        return answer != turned

    # Errors

    def throw(self, frame: Frame, value: Any) -> None:
        """`raise`: the program's own errors are never findings."""
        if value is None:
            while frame is not None and frame.handling is None:
                frame = frame.parent
            raise frame.handling if frame else RuntimeError("No active exception to reraise")
        if isinstance(value, type) and issubclass(value, BaseException):
            value = self.call(value, [], {})
        if isinstance(value, Exception):
            self.own_check(frame, value)
            budget.work.spend(budget.Work.RAISED)
            self.raised[id(value)] = value
            raise value
        if isinstance(value, BaseException):
            raise ProgramExit(*BaseException.args.__get__(value)[:1])
        raise ProgramError("an unknown error")

    def catches(self, kind: Any, error: Exception) -> bool:
        """Whether an except clause for `kind` catches an error."""
        kinds = kind if type(kind) is tuple else (kind,)
        for one in kinds:
            if isinstance(one, type) and issubclass(one, BaseException):
                if isinstance(error, one):
                    return True
            elif id(error) not in self.failures:
                return True
        return False

    def report(self, error: Exception) -> None:
        """An error that the program swallows by printing it is still an error."""
        failure = self.failures.get(id(error))
        if failure is not None and (
            failure.certain
            and failure.function in (getattr, operator.getitem)
            or getattr(failure.function, "__name__", "") == "__getattr__"
        ):
            return  # a program may ask what it has by trying
        if failure is not None and not failure.expected and all(f.place != failure.place for f in self.reported):
            self.reported.append(failure)


def _takes_unknown(function: Callable) -> bool:
    owner = getattr(function, "__self__", None)
    return isinstance(owner, StandIn) and function.__name__ in ("__init__", *owner.takes_unknown)
