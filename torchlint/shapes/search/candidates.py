"""Modules that no script ran: constructed and called with sizes that are found by trying."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchlint.shapes.core.budget import Budget, work
from torchlint.shapes.core.held_parts import modules_of
from torchlint.shapes.core.undone import undone
from torchlint.shapes.core.values import Exhausted, Overworked, Stop, Unknown, UnknownUsed, on_use, unknown_in, words_of
from torchlint.shapes.language import functions
from torchlint.shapes.language.program import frame_of
from torchlint.shapes.machine.decisions import Way, are_independent
from torchlint.shapes.machine.failures import FailedOperation
from torchlint.shapes.machine.machine import Machine
from torchlint.shapes.record.entries import tensors_in
from torchlint.shapes.record.listening import Listener
from torchlint.shapes.search import varied
from torchlint.shapes.search.advice import Advice
from torchlint.shapes.search.as_written import solved_as_written
from torchlint.shapes.search.attempts import Assumption, OpenParameter, Run, RunResult, Solution
from torchlint.shapes.search.class_callers import Callers
from torchlint.shapes.search.configuration_objects import ConfigurationObjects, GuessedSettings, filled, guessed
from torchlint.shapes.search.constructors import related, solve_constructor
from torchlint.shapes.search.faults_in_words import innermost_layer, is_between_layers, unbound
from torchlint.shapes.search.learned_from_use import Uses
from torchlint.shapes.search.optional import completed
from torchlint.shapes.search.sizes import KNOWN, reach, solve_forward
from torchlint.shapes.search.supposed_values import with_supposed_values
from torchlint.shapes.search.taken_arguments import (
    Signature,
    arguments_of,
    handed_on,
    parameters_of,
    passed_on,
    signature_of,
)
from torchlint.shapes.search.verdict import ANY_MASK, same_fault, stays_with_optional, with_optional
from torchlint.shapes.tensors import examples
from torchlint.shapes.tensors.conflicts import pair_of

CONSTRUCTOR_STEPS = 150_000
FORWARD_STEPS = 150_000
MAKER_STEPS = 100_000
RUN_STEPS = 150  # what one run costs beside the steps of the program
_RELATED = 12  # other arguments that are tried after one run of a forward
_ROUNDS = 3
_NESTED = 2


class Attempt:
    """All tries to run one module class: the constructor is solved first, then the forward."""

    def __init__(
        self,
        machine: Machine,
        kind: type,
        hints: Mapping[str, Any],
        depth: int = 0,
        way: Way = Way(),
        callers: Callers | None = None,
    ):
        self.callers = callers
        self.depth = depth  # attempts around this one, which needs an instance for an argument
        self.way = way
        self.machine = machine
        self.kind = kind
        self.hints = hints
        self.built: Solution | None = None
        self.ran: Solution | None = None
        self.settings: dict[str, GuessedSettings] = {}
        self.supposed = False  # whether the sizes of its failure come of arguments that were guessed
        self.trusted = False  # whether the instance is one that a builder made
        self.given: list[torch.Tensor] = []  # the inputs of the last run
        self.several = False  # whether they are `*inputs` or a list, of which there may be more
        self._forwards: list[tuple[Solution, nn.Module]] = []

    def run(self) -> FailedOperation | None:
        """The failure of the forward that does not depend on a guess, if there is one."""
        failure = self.judge()
        if failure is None and self.built is not None and self.ran is not None:
            self._relate()
        return failure

    def _relate(self) -> None:
        """Where guessed arguments do not fit each other, or the forward, find some that do, so that the class runs to
        its end.
        """
        advice = self._advice(second=False)
        for _ in range(_ROUNDS):
            before = self.built, self.ran
            if self.ended() or self.built.last.stopped or advice is None:
                return
            proposals = itertools.chain(
                related(self.built.assumed, self.ran.last), advice(self.built.assumed, self.ran.last)
            )
            for arguments in itertools.islice(proposals, _RELATED):
                built = self._construct(second=False, exactly=arguments)
                if built.last.stopped is None and isinstance(built.last.detail, nn.Module):
                    ran = self._forward(built.last.detail)
                    if (
                        ran.last.stopped is None
                        or ran.last.place != self.ran.last.place
                        and ran.last.steps > self.ran.last.steps
                    ):
                        why = dict.fromkeys(arguments, "so that the arguments fit each other")
                        self.built, self.ran = built._replace(why=why), ran
                        break
            if (self.built, self.ran) == before:
                return

    def _advice(self, second: bool) -> Advice | None:
        initialiser = functions.closure_of(getattr(self.kind, "__init__", None))
        return (
            Advice(self.machine, initialiser, GuessedSettings.__name__, self._guessed_settings, self._instance, second)
            if initialiser is not None
            else None
        )

    def _instance(self, kind: type) -> nn.Module | None:
        """Some instance of a class of the program."""
        made = self.machine.instances.get(kind, (None, False))[0]
        if made is not None or self.depth >= _NESTED:
            return made

        def make() -> Any:
            last = Attempt(self.machine, kind, {}, self.depth + 1)._construct(second=False).last
            return last.detail if last.stopped is None else None

        return self.machine.remembered.instance(self.machine, kind, self.depth, make)

    def judge(self) -> FailedOperation | None:
        """The failure of the constructor or the forward that does not depend on a guess, if there is one.

        What a builder made is trusted where two layers of torch do not fit: for the rest, the script may have left out
        what builders look up.
        """
        failure = self._retold(self._judge(trusting=True))
        if failure is not None and self.trusted and not is_between_layers(failure, self.machine):
            failure = self._retold(self._judge(trusting=False))
        return failure

    def _judge(self, trusting: bool) -> FailedOperation | None:
        instance, guessed = self.machine.instances.get(self.kind, (None, False))
        self.trusted = trusting and guessed and self.kind in self.machine.built_instances
        if self.trusted:
            instance, guessed = self.machine.built_instances[self.kind], False
        if instance is not None and not self._is_only_put_together(instance):
            fails = self._fails(instance)
            if fails and not guessed:
                return _failure(self.ran.last)
            if self.ended() or functions.closure_of(getattr(self.kind, "__init__", None)) is None:
                return None
            if not fails:
                self.rebuild()
                return None
        self.built = self._construct(second=False)
        if self.built.last.stopped:
            sure = (
                self.built.certain
                and not self.built.assumed
                and not self.machine.asked
                and self._fails_without_arguments(self.built.last)
            )
            return _failure(self.built.last) if sure else None
        if not self._fails(self.built.last.detail):
            return None
        if self.is_known():
            return _failure(self.ran.last)
        if self._takes_parts() or any(type(value) in self.machine.codes for value in self.built.assumed.values()):
            return None  # what it was given was made of guesses that nobody changes
        first, guessed = self.ran, {**self.built.assumed, **self._guessed_settings()}
        if guessed:
            other = self._construct(second=True)
            fails = not other.last.stopped and self._fails(other.last.detail)
            second, self.ran = self.ran, first
            if (
                not fails
                or not same_fault(first, second)
                or not varied.stays(first, guessed, self._with)
                or self.machine.left <= 0
            ):
                return None
            self.supposed = varied.comes_of_several(first, guessed, self._with)
        return _failure(first.last) if self._stays_without_defaults(first) else None

    def _is_only_put_together(self, instance: nn.Module) -> bool:
        """Whether the script may have given a module another part, and came to its end without calling it."""
        loose = self.machine.loose if self.machine.progress.ended else ()
        with suppress(UnknownUsed):  # a part that it was given under an unknown name
            return bool(loose) and any(id(part) in loose for part in modules_of(instance) if part is not instance)
        return True

    def _takes_parts(self) -> bool:
        """Whether the constructor asks for `*layers`, of which a guess has none."""
        initialiser = functions.closure_of(getattr(self.kind, "__init__", None))
        return initialiser is not None and bool(initialiser.code.rest)

    def _fails_without_arguments(self, first: RunResult) -> bool:
        """Whether the constructor fails in the same way with other values in place of defaults that nobody uses."""
        initialiser = functions.closure_of(getattr(self.kind, "__init__", None))
        if initialiser is None:
            return False
        passes_on = initialiser.code.rest or initialiser.code.named_rest
        if passes_on and self.callers is not None and not self.callers.may_give_nothing(self.kind):
            return False
        doubted = self._doubted({p.name: p.default for p in parameters_of(initialiser, skip=1)})
        more = {"*": Unknown("arguments that may be given")} if passes_on else {}
        for turned in (False, True) if any(type(v) is bool for v in doubted.values()) else (False,):
            given = {name: varied.otherwise(value, turned) for name, value in doubted.items()}
            again = (
                self._try(lambda: self.machine.call(self.kind, [], {**given, **more}), CONSTRUCTOR_STEPS)
                if given or more
                else first
            )
            if again.stopped != "torch" or again.place != first.place or self.machine.asked:
                return False
        return True

    def _stays_without_defaults(self, first: Solution) -> bool:
        """Whether a fault is one for other values of the constructor's defaults, too, as far as nobody uses them."""
        initialiser = functions.closure_of(getattr(self.kind, "__init__", None))
        defaults = (
            {p.name: p.default for p in parameters_of(initialiser, skip=1) if p.has_default}
            if initialiser is not None
            else {}
        )
        assumed = self.built.assumed
        defaults = {name: value for name, value in defaults.items() if name not in assumed}

        def stays_without(*names: str) -> bool:
            built = self._construct(
                second=False, exactly={**assumed, **{name: varied.otherwise(defaults[name], True) for name in names}}
            )
            if built.last.stopped or not isinstance(built.last.detail, nn.Module):
                return False
            again = self.runs(built.last.detail)[0](first.assumed)
            return (
                again.stopped == "torch" and again.place == first.last.place and pair_of(again) == pair_of(first.last)
            )

        if not self._doubted(defaults) or stays_without(*defaults):
            return True
        doubted = self._doubted({name: value for name, value in defaults.items() if not stays_without(name)})
        return varied.stays(first, doubted, lambda changed, *seek: self._with({**assumed, **changed}, *seek))

    def _doubted(self, defaults: Assumption) -> Assumption:
        """Those of some defaults that nobody may use: all if every caller gives some of them, else those that only say
        that something must be given.
        """
        used = self.callers.leave_out(self.kind, set(defaults)) if self.callers is not None else None
        return (
            {}
            if used
            else {name: value for name, value in defaults.items() if used is False or varied.says_nothing(value)}
        )

    def _retold(self, failure: FailedOperation | None) -> FailedOperation | None:
        """The same failure with tensors that know which operations made them."""
        instance = self.instance
        if failure is None or instance is None or self.ran.last.detail is not failure:
            return failure
        run, _ = self.runs(instance)
        with Listener(()).hearing():
            again = run(self.ran.assumed)
        return _failure(again) if again.place == failure.place and again.stopped == "torch" else failure

    def _guessed_settings(self) -> dict[str, Any]:
        return guessed(self.settings)

    def _with(self, arguments: Assumption, seek: Callable[..., RunResult | None] = reach) -> RunResult | None:
        """What an instance with these arguments comes to, where the first one failed; None if none can be made."""
        built = self._construct(second=False, exactly=arguments)
        if built.last.stopped == "budget":
            return built.last if seek is reach else None
        if built.last.stopped or not isinstance(built.last.detail, nn.Module):
            return None
        run, signature = self.runs(built.last.detail)
        return seek(run, signature.parameters, self.ran.last.place)

    @property
    def instance(self) -> nn.Module | None:
        """The module that ran at last."""
        return next((instance for solution, instance in self._forwards if solution is self.ran), None)

    def rebuild(self, second: bool = False) -> None:
        """Arguments of our own where an instance that is there cannot be run: what was unknown to its maker may be
        guessed.
        """
        before, self.built = self.ran, self._construct(second)
        if self.built.last.stopped is None:
            self._fails(self.built.last.detail)
        if not self.ended():
            self.ran = before

    def as_called(self) -> None:
        """The class with what its callers give it: the arguments of a call, or the instance that a caller makes."""
        before = self.built, self.ran
        for arguments in self.callers.arguments(self.kind):
            if self.ends_with(arguments):
                return
        for maker in self.callers.makers(self.kind):
            known = self._known()
            self.machine.remembered.made(self.machine, maker, lambda: self._make(maker))
            if self._known() is not known:
                self._fails(self._known())
                if self.ended():
                    self.built = None
                    return
        self.built, self.ran = before

    def ends_with(self, arguments: Assumption, written: Mapping[str, Any] = {}) -> bool:
        """Does the class come to its end with these arguments, and with settings as they are written somewhere?"""
        hints = {**{name: [value] for name, value in arguments.items()}, **self.hints}
        self.built = self._construct(second=False, hints=hints, written=written)
        if self.built.last.stopped is None and isinstance(self.built.last.detail, nn.Module):
            self._fails(self.built.last.detail)
            return self.ended()
        return False

    def _known(self) -> nn.Module | None:
        """The last instance, be it of a copy of the class: a file that imports others in a circle is run twice."""
        code = self.machine.codes[self.kind]
        return next(
            (
                made
                for kind, (made, _) in reversed(self.machine.instances.items())
                if self.machine.codes.get(kind) is code
            ),
            None,
        )

    def _make(self, maker: Any) -> None:
        """Call a function, or construct a class, with arguments that are guessed as far as they must be given."""
        if isinstance(maker, type):
            Attempt(self.machine, maker, {})._construct(second=False)
            return
        closure = functions.closure_of(maker)
        if closure is None:
            return
        parameters = parameters_of(closure, skip=0)
        self.machine.guessing = bool(parameters)
        try:
            solve_constructor(
                lambda assumption: self._try(
                    lambda: self.machine.call(maker, [], arguments_of(parameters, assumption)), MAKER_STEPS
                ),
                parameters,
            )
        finally:
            self.machine.guessing = False

    def ended(self) -> bool:
        """Whether the forward ran to its end, with a result that is known."""
        return self.ran is not None and self.ran.last.stopped is None and type(self.ran.last.detail) is not Unknown

    def _fails(self, instance: Any) -> bool:
        """Whether the forward of an instance is refused by torch, whatever it is given."""
        if not isinstance(instance, nn.Module) or signature_of(type(instance)) is None:
            return False
        self.ran = self._forward(instance)
        return self.ran.last.stopped == "torch" and self.ran.certain

    def is_known(self) -> bool:
        """Whether its forward fails where the script failed before."""
        return self.ran is not None and self.ran.certain == KNOWN

    def reason(self) -> str:
        """Why it did not run to its end, in words that can be counted."""
        if self.built is not None and self.built.last.stopped:
            return f"its constructor {_stopped_by(self.built.last)}"
        if self.ran is None:
            return "it has no forward"
        if self.ran.last.stopped:
            return f"its forward {_stopped_by(self.ran.last)}"
        return f"what it returns is unknown: {self.ran.last.error[:90]}"

    def _construct(
        self,
        second: bool,
        hints: Mapping[str, Any] | None = None,
        exactly: Assumption | None = None,
        written: Mapping[str, Any] = {},
    ) -> Solution:
        """An instance with arguments that are guessed, the second time others; or `exactly` with these. Settings that
        are `written` in a file are taken from there.
        """
        initialiser = functions.closure_of(getattr(self.kind, "__init__", None))
        parameters = parameters_of(initialiser, skip=1) if initialiser is not None else []

        def run(assumption: Assumption) -> RunResult:
            def call():
                arguments = arguments_of(parameters, assumption)
                for name, value in arguments.items():
                    if type(value) is Unknown and not on_use and name not in assumption:
                        made = self._settings(initialiser, name, second, assumption, written)
                        if exactly is None and not second and type(made) is GuessedSettings:
                            self.settings[name] = made
                        arguments[name] = made
                return self.machine.call(self.kind, *passed_on(initialiser, arguments, assumption))

            self.machine.guessing = bool(parameters)
            try:
                return self._try(call, CONSTRUCTOR_STEPS)
            finally:
                self.machine.guessing = False

        if exactly is not None:
            return Solution(exactly, run(exactly), None, {}, 1)
        advice = self._advice(second)
        if advice is not None and hints is None:
            objects = {name: [made] for name, made in advice.objects().items()}
            hints = {**self._configurations(initialiser, parameters), **objects, **self.hints}
        elif hints is None:
            hints = self.hints
        return solve_constructor(run, parameters, hints, second, advice)

    def _configurations(self, initialiser: functions.Closure, parameters: list[OpenParameter]) -> Assumption:
        """Objects of the program's own configuration classes for the arguments that must be given."""
        names = [p.name for p in parameters if not p.has_default]
        found = ConfigurationObjects(self.machine, self.kind, initialiser)

        def make(call: Callable[[], Any]) -> Any:
            self.machine.guessing = True
            try:
                result = self._try(call, CONSTRUCTOR_STEPS)
            finally:
                self.machine.guessing = False
            return result.detail if result.stopped is None else None

        return found.objects(names, make)

    def _settings(
        self, initialiser: functions.Closure, name: str, second: bool, given: Assumption, written: Mapping[str, Any]
    ) -> Any:
        """An object for an argument that is a configuration: of the annotated dataclass, or guessed name by name."""
        annotation = initialiser.code.annotations.get(name)
        word = annotation.id if isinstance(annotation, ast.Name) else ""
        kind = initialiser.frame.globals.get(word)
        if isinstance(kind, type) and kind in self.machine.dataclass_fields:
            try:
                return filled(self.machine.call(kind, [], {}), name, given, second)
            except TypeError:
                pass
        changed = {key.partition(".")[2]: value for key, value in given.items() if key.startswith(f"{name}.")}
        return GuessedSettings(second, changed, Uses.around(initialiser, self.machine), written)

    def runs(self, instance: nn.Module, signature: Signature | None = None) -> tuple[Run, Signature]:
        """What runs the forward of an instance, and what it takes."""
        signature = signature or signature_of(type(instance))

        def run(assumption: Assumption) -> RunResult:
            def call():
                if self.way.evaluating == instance.training:
                    instance.train(not self.way.evaluating)
                positional, named = signature.arguments(assumption)
                named.update(self.way.switches)
                self.given = list(tensors_in((positional, named)))
                self.several = signature.rest is not None or any(
                    type(v) is list for v in (*positional, *named.values())
                )
                with nullcontext() if unknown_in([*positional, *named.values()]) is None else undone(instance):
                    return self.machine.call(instance, positional, named)

            return self._try(call, FORWARD_STEPS)

        return run, signature

    def _forward(self, instance: nn.Module) -> Solution:
        (run, signature), wanted = self.runs(instance), examples.wanted[0]
        solution = None if self.hints else solved_as_written(run, signature, instance, self.machine)
        solution = solution or solve_forward(run, signature.parameters, self.hints, self.machine.known_faults)
        if solution.certain == KNOWN:
            return solution
        for _ in range(_NESTED):
            handed = handed_on(type(instance), signature, solution.last.error)
            if handed is None:
                break
            run, signature = self.runs(instance, handed)
            solution = solve_forward(run, signature.parameters, self.hints, self.machine.known_faults)
        more = with_optional(signature.parameters) if solution.certain and not self.hints else None
        optional = {p.name: ANY_MASK for p in more or () if p.has_default is False and p.default is None}
        if more is not None and not stays_with_optional(solution, solve_forward(run, more, optional)):
            solution = solution._replace(certain=None)
        if solution.last.stopped is not None and not solution.certain and not self.hints:
            solution = completed(run, signature.parameters, solution)
        if solution.last.stopped == "own" and not self.way.evaluating and not self.hints:
            solution = self._evaluated(run, signature) or solution
        is_unknown = solution.last.stopped is None and type(solution.last.detail) is Unknown
        if is_unknown and examples.wanted[0] > wanted and not self.hints:  # else it is unknown for another reason
            solution = with_supposed_values(run, signature.parameters, solution, instance, self.machine)
        self._forwards.append((solution, instance))
        return solution

    def _evaluated(self, run: Run, signature: Signature) -> Solution | None:
        """What a forward comes to in evaluation, if its own checks end it in training: they may ask for targets."""
        trained, self.way = self.way, self.way._replace(evaluating=True)
        solution = solve_forward(run, signature.parameters, self.hints, self.machine.known_faults)
        if solution.last.stopped is None or solution.certain:
            return solution
        self.way = trained
        return None

    def _try(self, call, steps: int) -> RunResult:
        """One run, with a budget of its own."""
        machine = self.machine
        machine.budget = Budget(max(0, min(steps, machine.left)))
        machine.failures.clear()
        machine.stack.clear()
        machine.modules.clear()
        machine.raised.clear()
        machine.forget_answers()
        machine.choices = self.way.answers
        machine.taken_apart.clear()
        machine.vain_parts = 0
        machine.place = machine.last_place = None
        reported = len(machine.reported)
        try:
            work.spend(RUN_STEPS)
            if machine.left <= 0:
                raise Exhausted("the modules before it took all steps of the file")
            made = call()
        except Overworked:
            raise
        except Exhausted as end:
            return RunResult(machine.budget.used, "budget", machine.place, str(end))
        except (Stop, RecursionError, MemoryError) as end:
            return RunResult(machine.budget.used, "own", machine.place, str(end))
        except Exception as error:
            result = self._stopped(error)
            error.__traceback__ = error.__context__ = None  # by which it keeps all that ran, and itself
            return result
        finally:
            machine.choices = {}
            machine.left -= machine.budget.used + RUN_STEPS
            del machine.reported[reported:]  # what it swallowed may be refused of what was guessed alone
        if type(made) is Unknown:
            stopped = "python" if made.reason.startswith("NoneType.") else None  # what is guessed to be None may not be
            return RunResult(machine.budget.used, stopped, None, made.reason, detail=made)
        return RunResult(machine.budget.used, None, detail=made, asked=dict(machine.asked))

    def _stopped(self, error: Exception) -> RunResult:
        machine = self.machine
        text = f"{type(error).__name__}: {words_of(error)}"
        failure = machine.failures.get(id(error))
        if failure is None:
            stopped = "own" if id(error) in machine.raised else "python"
            return RunResult(machine.budget.used, stopped, machine.last_place, text, detail=frame_of(error))
        function, args, kwargs = unbound(failure.function), failure.args, failure.kwargs
        if function is not failure.function:
            args = (failure.function.__self__, *args)
        layer, given, named = failure.innermost = innermost_layer(error)
        if layer is not None and type(layer) not in machine.codes:
            function, args, kwargs = layer, given, named
        visit = (*map(id, failure.modules), id(layer), *(caller for _, caller in failure.stack))
        doubtful = any(taken is given for taken in machine.taken_apart for given in self.given)
        doubtful = doubtful or self.several or machine.vain_parts > 0 or not are_independent(machine.asked)
        doubtful = doubtful or _holds_nothing(args)
        parts = modules_of(failure.function) if isinstance(failure.function, nn.Module) else ()
        # A container calls its layers without a step of ours.
        further = next((i for i, part in enumerate(parts) if part is layer), 0)
        used = machine.budget.used + further
        return RunResult(used, "torch", failure.place, text, function, args, kwargs, failure, doubtful, visit)


def _holds_nothing(given: tuple) -> bool:
    """Is a tensor without elements among them: one that a method is to replace before the forward runs?"""
    parts = (part for value in given for part in (value if isinstance(value, (list, tuple)) else (value,)))
    with torch._C.DisableTorchFunction():
        return any(isinstance(part, torch.Tensor) and not is_lazy(part) and part.numel() == 0 for part in parts)


def _failure(result: RunResult) -> FailedOperation | None:
    return result.detail if isinstance(result.detail, FailedOperation) else None


def _stopped_by(result: RunResult) -> str:
    """Who stopped a run, in words."""
    words = {
        "torch": "is refused by torch",
        "python": "raises an error",
        "own": "stops itself",
        "budget": "takes too long",
    }
    return f"{words.get(result.stopped or '', 'stops')}: {result.error[:90]}"
