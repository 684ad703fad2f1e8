"""Modules that no script ran: constructed and called with sizes that are found by trying."""

from __future__ import annotations

import ast
from typing import Any, Mapping

import torch
from torch import nn

from torchlint.shapes import functions
from torchlint.shapes.constructors import by_name, related, solve_constructor
from torchlint.shapes.explain import innermost_layer, unbound
from torchlint.shapes.machine import Failure, Machine
from torchlint.shapes.sizes import Assumption, Parameter, RunResult, Solution, TensorGuess, solve_forward
from torchlint.shapes.values import Budget, Exhausted, Stop, Unknown, on_use
from torchlint.shapes.verdict import same_fault
from torchlint.shapes.world import Value

DTYPES = {"float": torch.float32, "double": torch.float64, "long": torch.int64, "bool": torch.bool}
CONSTRUCTOR_STEPS = 150_000
FORWARD_STEPS = 150_000
FUNCTION_STEPS = 100_000


class GuessedSettings(Value):
    """A configuration object that nobody made: every setting is guessed by its name, the same each time."""

    def __init__(self, second: bool):
        self._second = second

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = self.__dict__[name] = by_name(name, self._second)
        return value

    def __getitem__(self, name: Any) -> Any:
        return getattr(self, name) if isinstance(name, str) else Unknown("a setting")

    def __iter__(self):
        raise TypeError("settings are not iterable")

    def get(self, name: str, default: Any = None) -> Any:
        return default if default is not None else self[name]


class Attempt:
    """All tries to run one module class: the constructor is solved first, then the forward."""

    def __init__(self, machine: Machine, kind: type, hints: Mapping[str, Any]):
        self.machine = machine
        self.kind = kind
        self.hints = hints
        self.built: Solution | None = None
        self.ran: Solution | None = None

    def run(self) -> Failure | None:
        """The failure of the forward that does not depend on a guess, if there is one."""
        failure = self._judge()
        if failure is None and self.built is not None and self.built.assumed and self.ran is not None:
            self._relate()
        return failure

    def _relate(self) -> None:
        """Where guessed arguments do not fit each other, find some that do, so that the class runs to its end."""
        for arguments in related(self.built.assumed, self.ran.last):
            built = self._construct(second=False, hints={name: [value] for name, value in arguments.items()})
            if built.last.stopped is None and isinstance(built.last.detail, nn.Module):
                ran = self._forward(built.last.detail)
                if ran.last.stopped is None:
                    why = dict.fromkeys(built.why, "so that the arguments fit each other")
                    self.built, self.ran = built._replace(why=why), ran
                    return

    def _judge(self) -> Failure | None:
        instance, guessed = self.machine.instances.get(self.kind, (None, False))
        if instance is not None:
            if not self._fails(instance):
                return None
            if not guessed:
                return _failure(self.ran.last)
            if functions.closure_of(getattr(self.kind, "__init__", None)) is None:
                return None
        self.built = self._construct(second=False)
        if self.built.last.stopped:
            sure = self.built.certain and not self.built.assumed and not self.machine.asked
            return _failure(self.built.last) if sure else None
        if not self._fails(self.built.last.detail):
            return None
        first = self.ran
        if self.built.assumed:
            other = self._construct(second=True)
            fails = not other.last.stopped and self._fails(other.last.detail)
            second, self.ran = self.ran, first
            if not fails or not same_fault(first, second):
                return None
        return _failure(first.last)

    def _fails(self, instance: Any) -> bool:
        """Whether the forward of an instance is refused by torch, whatever it is given."""
        if not isinstance(instance, nn.Module) or functions.closure_of(type(instance).forward) is None:
            return False
        self.ran = self._forward(instance)
        return self.ran.last.stopped == "torch" and self.ran.certain

    def reason(self) -> str:
        """Why it did not run to its end, in words that can be counted."""
        if self.built is not None and self.built.last.stopped:
            return f"constructor: {self.built.last.stopped}: {self.built.last.error[:90]}"
        if self.ran is None:
            return "no forward of its own"
        if self.ran.last.stopped:
            return f"forward: {self.ran.last.stopped}: {self.ran.last.error[:90]}"
        return f"unknown result: {self.ran.last.error[:90]}"

    def _construct(self, second: bool, hints: Mapping[str, Any] | None = None) -> Solution:
        initialiser = functions.closure_of(getattr(self.kind, "__init__", None))
        parameters = parameters_of(initialiser, skip=1) if initialiser is not None else []

        def run(assumption: Assumption) -> RunResult:
            def call():
                arguments = _arguments(parameters, assumption)
                for name, value in arguments.items():
                    if type(value) is Unknown and not on_use:
                        arguments[name] = self._settings(initialiser, name, second)
                return self.machine.call(self.kind, [], arguments)

            self.machine.guessing = bool(parameters)
            try:
                return self._try(call, CONSTRUCTOR_STEPS)
            finally:
                self.machine.guessing = False

        return solve_constructor(run, parameters, hints or self.hints, second=second)

    def _settings(self, initialiser: functions.Closure, name: str, second: bool) -> Any:
        """An object for an argument that is a configuration: of the annotated dataclass, or guessed name by name."""
        annotation = initialiser.code.annotations.get(name)
        word = annotation.id if isinstance(annotation, ast.Name) else ""
        kind = initialiser.frame.globals.get(word)
        if isinstance(kind, type) and kind in self.machine.dataclass_fields:
            try:
                return self.machine.call(kind, [], {})
            except TypeError:
                pass
        return GuessedSettings(second)

    def _forward(self, instance: nn.Module) -> Solution:
        forward = functions.closure_of(type(instance).forward)
        parameters = parameters_of(forward, skip=1)

        def run(assumption: Assumption) -> RunResult:
            return self._try(
                lambda: self.machine.call(instance, *call_arguments(forward, parameters, assumption)), FORWARD_STEPS
            )

        return solve_forward(run, parameters, self.hints)

    def _try(self, call, steps: int) -> RunResult:
        """One run, with a budget of its own."""
        machine = self.machine
        machine.budget = Budget(max(0, min(steps, machine.left)))
        machine.failures.clear()
        machine.stack.clear()
        machine.modules.clear()
        machine.raised.clear()
        machine.asked.clear()
        machine.place = machine.last_place = None
        try:
            if machine.left <= 0:
                raise Exhausted("the modules before it took all steps of the file")
            made = call()
        except Exhausted as end:
            return RunResult(machine.budget.used, "budget", machine.place, str(end))
        except (Stop, RecursionError, MemoryError) as end:
            return RunResult(machine.budget.used, "own", machine.place, str(end))
        except Exception as error:
            return self._stopped(error)
        finally:
            machine.left -= machine.budget.used
        if type(made) is Unknown:
            return RunResult(machine.budget.used, None, None, made.reason, detail=made)
        return RunResult(machine.budget.used, None, detail=made)

    def _stopped(self, error: Exception) -> RunResult:
        machine = self.machine
        text = f"{type(error).__name__}: {error}"
        failure = machine.failures.get(id(error))
        if failure is None:
            stopped = "own" if id(error) in machine.raised else "python"
            return RunResult(machine.budget.used, stopped, machine.last_place, text)
        function, args, kwargs = unbound(failure.function), failure.args, failure.kwargs
        if function is not failure.function:
            args = (failure.function.__self__, *args)
        layer, given, named = innermost_layer(error)
        if layer is not None and type(layer) not in machine.codes:
            function, args, kwargs = layer, given, named
        return RunResult(machine.budget.used, "torch", failure.place, text, function, args, kwargs, detail=failure)


def call_function(machine: Machine, function: Any, required: list[str]) -> Failure | None:
    """Call a function with what its defaults say, and unknowns for the rest; what torch refuses in it."""
    machine.budget = Budget(max(0, min(FUNCTION_STEPS, machine.left)))
    machine.failures.clear()
    machine.stack.clear()
    machine.modules.clear()
    machine.guessing = bool(required)
    try:
        machine.call(function, [], {name: Unknown(f"the argument {name}") for name in required})
    except (Stop, RecursionError, MemoryError):
        return None
    except Exception as error:
        return machine.failures.get(id(error))
    finally:
        machine.guessing = False
        machine.left -= machine.budget.used
    return None


def _failure(result: RunResult) -> Failure | None:
    return result.detail if isinstance(result.detail, Failure) else None


def parameters_of(closure: functions.Closure, skip: int) -> list[Parameter]:
    """The parameters of a function, without `self`."""
    code = closure.code
    first_default = len(code.positional) - len(closure.defaults)
    annotations = code.annotations
    found = []
    for position, name in enumerate(code.positional):
        if position >= skip:
            found.append(Parameter(name, _text(annotations.get(name)), position >= first_default))
    for name in code.only_named:
        found.append(Parameter(name, _text(annotations.get(name)), name in closure.named_defaults))
    return found


def _text(annotation: ast.expr | None) -> str:
    if annotation is None:
        return ""
    return annotation.value if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str) else ast.unparse(annotation)


def _arguments(parameters: list[Parameter], assumption: Assumption) -> dict[str, Any]:
    """Keyword arguments: what is assumed, and unknowns for what has no default."""
    made = {}
    for parameter in parameters:
        if parameter.name in assumption:
            made[parameter.name] = value_of(assumption[parameter.name])
        elif not parameter.has_default:
            made[parameter.name] = Unknown(f"the argument {parameter.name}", parameter.name)
    return made


def call_arguments(closure: functions.Closure, parameters: list[Parameter], assumption: Assumption) -> tuple[list, dict[str, Any]]:
    """Arguments of a forward, by position as far as possible; `*args` and `**kwargs` stay empty."""
    named = _arguments(parameters, assumption)
    positional = []
    for name in closure.code.positional[1:]:
        if name not in named:
            break
        positional.append(named.pop(name))
    if closure.code.rest and len(positional) == len(closure.code.positional) - 1 and closure.code.rest in assumption:
        positional.extend(value_of(v) for v in assumption[closure.code.rest])
    return positional, named


def value_of(guess: Any) -> Any:
    """The value an assumption stands for."""
    if isinstance(guess, TensorGuess):
        return torch.empty(guess.shape, dtype=DTYPES[guess.dtype])
    if isinstance(guess, (list, tuple)):
        return type(guess)([value_of(g) for g in guess])
    if isinstance(guess, dict):
        return {k: value_of(g) for k, g in guess.items()}
    return guess
