"""Where dry runs start: the file as a script, the modules no script built, and what of it is worth saying."""

from __future__ import annotations

import ast
import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
from torch import nn

from torchlint.finding import Note
from torchlint.project import View
from torchlint.shapes.core.budget import work
from torchlint.shapes.core.faults import DryRun, Fault, Trace
from torchlint.shapes.core.room import with_room
from torchlint.shapes.core.values import Exhausted, Overworked, Stop, machines
from torchlint.shapes.language.functions import ClassCode, closure_of, required
from torchlint.shapes.language.program import Program, last_call_in, load
from torchlint.shapes.language.walking import walk
from torchlint.shapes.libraries.command_lines import MISSING, command_lines
from torchlint.shapes.libraries.start_values import no_initialisers
from torchlint.shapes.libraries.starts import Start, Starts
from torchlint.shapes.machine import decisions
from torchlint.shapes.machine.decisions import are_independent, explore
from torchlint.shapes.machine.failures import FailedOperation
from torchlint.shapes.machine.machine import GUESSED_STEPS, Machine
from torchlint.shapes.record.tensor_watch import Watch
from torchlint.shapes.search.alone import call_alone
from torchlint.shapes.search.candidates import Attempt
from torchlint.shapes.search.chosen import found_by_choosing
from torchlint.shapes.search.class_callers import Callers
from torchlint.shapes.search.endings import FAILS_HERE, gave_up, stopped, without_step
from torchlint.shapes.search.evidence import TOO_EARLY
from torchlint.shapes.search.faults_in_words import fault_of
from torchlint.shapes.search.inputs import configured
from torchlint.shapes.search.misspelt import misspelt
from torchlint.shapes.search.moved_modules import goes_on_when_moved
from torchlint.shapes.search.only_names import brings_only_names
from torchlint.shapes.search.placeholders import is_completed_by_others
from torchlint.shapes.search.refused_arguments import refused_arguments
from torchlint.shapes.search.remembered import Remembered
from torchlint.shapes.search.taken_arguments import signature_of
from torchlint.shapes.search.torch_in_text import TorchInText
from torchlint.shapes.search.tried import cured
from torchlint.shapes.search.tried_classes import of_class
from torchlint.shapes.search.untrained import faults_of_optimizers, faults_of_steps
from torchlint.shapes.search.verdict import changes
from torchlint.shapes.search.ways import other_ways
from torchlint.shapes.search.written_settings import WrittenSettings, as_configured
from torchlint.shapes.tensors import device_tags, wild
from torchlint.shapes.tensors.device_tags import DeviceError, device_of
from torchlint.shapes.tensors.dispatch import dry_tensors
from torchlint.syntax import syntax_tree

if TYPE_CHECKING:
    from torchlint.shapes.record.first_step import StepWatch
    from torchlint.shapes.record.listening import Listener
    from torchlint.shapes.record.traces import Traces

STEPS = 250_000
AGAIN_STEPS = 80_000  # without a GPU: there is little that it does otherwise
CLASS_STEPS = 250_000  # for all runs of one module class
CONFIGURED_STEPS = 80_000  # more for the settings that are written in a file
FAIR_STEPS = 80_000  # the same at first, where there are many classes
IDLE = 2  # builders in a row that make no class that none made before; those that name one come first
IDLE_STEPS = 60_000  # for these
GPUS = 8  # for a script that ends where there is one only
PROCESSES = 8  # for a script that asks how many there are, and fails in one
STARTS = 3  # ways of starting a script that are tried
UNREADABLE = "the dry run cannot read it"
BUILT_STEPS = 400_000  # the same where a builder chose its sizes: a verdict is worth more then
_SMALL = re.compile(r"(^|_)(tiny|small|nano|micro|mini|pico|atto|femto|xs|s|t|b0|18|11|test)(_|$)|18$|11$")


def dry_run(
    text: str,
    path: str,
    view: View,
    inputs: Mapping[str, Sequence[str]] = {},
    watch: Watch | None = None,
    traces: Traces | None = None,
    listener: Listener | None = None,
    graphs: bool = False,
    step: StepWatch | None = None,
) -> DryRun:
    """Run a file without data and say what torch would refuse. `inputs` are configured shapes, by `module:Class`.

    `watch` is for editors: it sees every tensor of this file. `traces` collects the forwards of its modules, `listener`
    hears operations for rules; with `graphs` the result has the forwards as torch.fx graphs. `step` sees the first
    training step of the script.
    """
    try:
        program = load(path, text, watch)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return DryRun(notices=(UNREADABLE,))
    if watch is None and traces is None and step is None and brings_only_names(program.tree):
        return DryRun()
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 8000))
    try:
        if graphs and traces is None:
            from torchlint.shapes.record.traces import Traces as Collector

            traces = Collector(path)
        result = with_room(_Run(program, view, inputs, traces, listener, graphs, step).run)
        if traces is None or graphs:
            result = cured(path, text, result, lambda changed: _run_changed(path, changed, view, inputs))
        return result
    finally:
        sys.setrecursionlimit(before)


def _run_changed(path: str, text: str, view: View, inputs: Mapping[str, Sequence[str]]) -> DryRun:
    """Run another text of a file, with the work that is left to the file."""
    try:
        program = Program(path, text, syntax_tree(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return DryRun(notices=(UNREADABLE,))
    return _Run(program, view, inputs, None, None, False, None).run(work.used)


class _Run:
    """The runs of one file and what they found."""

    def __init__(
        self,
        program: Program,
        view: View,
        inputs: Mapping[str, Sequence[str]],
        traces: Traces | None,
        listener: Listener | None,
        graphs: bool,
        step: StepWatch | None,
    ):
        self.step = step
        self.traces = traces
        self.listener = listener
        self.graphs: tuple[Trace, ...] | None = () if graphs else None
        self.program = program
        self.view = view
        self.inputs = inputs
        self.faults: dict[Any, Fault] = {}
        self.told: dict[Any, Any] = {}  # where is said what fails at a place, which may lie in another file
        self.statistics: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.unknowns: Counter[str] = Counter()
        self.written = WrittenSettings(view)
        self.classes: Counter[str] = Counter()  # the steps for each that was tried with guesses
        self.starts = Starts()  # ways in which the script may be started
        self.turns: list[dict[str, bool]] = []  # answers to unknown conditions with which the script is to be run again
        self.notices: list[str] = []
        self.processes = 1
        self.alone: frozenset[Any] = frozenset()  # what fails in a script that asked how many processes it has: one

    def run(self, used: int = 0) -> DryRun:
        """The script with and without a GPU, then what it did not reach; `used` is work that was done before."""
        work.begin(used)
        try:
            asked_cuda = self.script(cuda=True, rest=True)
        except Overworked as end:
            self.notices.append(gave_up(end, self.program))
        else:
            with suppress(Overworked):  # what is tried otherwise may be left out
                self.run_by_many()
                if asked_cuda:
                    self.script(cuda=False, rest=False)
                for start in range(1, min(self.starts.count, STARTS)):
                    self.script(cuda=True, rest=False, start=Start(start))
                for answers in self.turns:
                    self.script(cuda=True, rest=False, answers=answers)
                self.choose()
        finally:
            work.end()
        self.statistics["work"] = work.used
        return DryRun(
            tuple(sorted(self.faults.values(), key=lambda f: (f.path, f.span))),
            self.graphs or (),
            dict(self.statistics),
            dict(self.reasons),
            tuple(dict.fromkeys(self.notices)),
            dict(self.unknowns),
            dict(self.classes),
        )

    @cached_property
    def command_lines(self) -> list[list[str]]:
        """How people start the script, by what is written down around it."""
        return list(command_lines(self.view, self.program.path))

    def run_by_many(self) -> None:
        """What fails in one process alone is no mistake of a script that many run together."""
        if self.alone:
            many = self.another()
            many.processes = PROCESSES
            many.script(cuda=True, rest=False)
            for place in self.alone - many.faults.keys():
                del self.faults[place]

    def choose(self) -> None:
        """The script with each choice that it offers."""
        if self.traces is None and self.program.watch is None:
            starts = self.starts
            for fault in found_by_choosing(self.started, starts.offered, starts.switches, dict(self.faults)):
                self.faults.setdefault((fault.path, fault.span), fault)

    def started(self, start: Start) -> tuple[Mapping[Any, Fault], int]:
        """The faults of the script started otherwise, and the steps that it took."""
        other = self.another()
        other.script(cuda=True, rest=False, start=start)
        return other.faults, other.statistics["steps"]

    def another(self) -> _Run:
        """Runs of the same file, which know nothing of each other."""
        other = _Run(self.program, self.view, self.inputs, None, None, False, None)
        other.command_lines = self.command_lines
        return other

    def script(self, cuda: bool, rest: bool, answers: Mapping[str, bool] = {}, start: Start = Start()) -> bool:
        """The file as a script; then the modules and functions it did not run. Whether it asked if there is a GPU."""
        machine = self.run_once(cuda, rest, answers, start)
        if rest and machine.wants_gpus:
            machine = self.run_once(cuda, rest, answers, start, GPUS)
        if rest:
            self.starts = machine.starts
        asked_cuda = machine.asked_cuda
        if self.traces is None and self.step is None and self.program.watch is None:  # nobody looks at it any more
            machine.let_go()
        return asked_cuda

    def run_once(self, cuda: bool, rest: bool, answers: Mapping[str, bool], start: Start, gpus: int = 1) -> Machine:
        """The same with so many GPUs."""
        steps = STEPS if cuda and not start.choices else AGAIN_STEPS
        machine = Machine(self.view, steps, dict(answers), cuda=cuda)
        machine.gpus = gpus
        machine.processes = self.processes
        machine.remembered = Remembered()
        machine.starts = Starts(lambda: self.command_lines, start, self.program.path)
        machine.environment = (
            start != Start()
        )  # what it says itself may be about a command line that nobody uses any more
        watch = self.program.watch
        machine.wild = (self.traces is None or self.step is not None) and (watch is None or watch.in_part)
        wild.reset()
        machines.append(machine)
        try:
            with dry_tensors(), no_initialisers():
                with self.collecting(machine, rest), self.watching(rest):
                    self.main(machine, rest, answers)
                    if machine.counted_processes and rest and self.processes == 1:
                        self.alone = frozenset(self.faults)
                    if rest and not machine.wants_gpus:
                        self.others(machine)
                if rest and not machine.wants_gpus:
                    self.learn()
        finally:
            machines.pop()
        return machine

    def main(self, machine: Machine, rest: bool, answers: Mapping[str, bool]) -> None:
        """The file as a script."""
        kinds = ("shape", "dtype") if answers else ()
        names = {"__name__": "__main__", "__file__": self.program.path, "__doc__": self.program.doc}

        def hear(failure: FailedOperation) -> None:
            if not answers or are_independent(machine.asked):
                self.add(machine, failure, kinds)
                known = self.faults.get(failure.place)
                if known is not None and not known.presumed:
                    machine.known_faults.add(failure.place)

        machine.failed = hear
        try:
            seen = self.step.watching(machine) if self.step is not None and rest else nullcontext()
            with self.hearing(), machine.reach.watching(machine), seen:
                for failure in machine.run_script(self.program, names):
                    hear(failure)
        except Overworked:
            raise
        except Exhausted as end:
            if rest:
                self.notices.append(gave_up(end, self.program))
        except (Stop, RecursionError, MemoryError):
            pass
        if rest:
            self.statistics.update(machine.progress.counts)
            self.unknowns.update(machine.progress.first_unknown)
        if machine.progress.lost is not None and rest:
            self.notices += stopped(machine.progress.lost, self.program)
        if self.step is not None and rest:
            self.step.ended = without_step(machine.progress, self.faults)
        machine.wild = False  # what follows is tried with sizes of its own
        machine.own_file(self.program, names)
        for failure in machine.reported:
            self.add(machine, failure, kinds)
        steps = [*faults_of_steps(machine, self.program.path), *faults_of_optimizers(machine, self.program.path)]
        for fault in steps if rest else ():
            self.faults.setdefault((fault.path, fault.span), fault)
        self.statistics["steps"] += machine.budget.used

    def others(self, machine: Machine) -> None:
        """What the script did not reach."""
        if machine.budget.used < decisions.STEPS and self.traces is None:
            self.turns = decisions.turns(machine.asked, self.program.nodes)
        if self.program.watch is not None:
            self.program.watch.guessing = True
        if self.traces is not None:
            self.traces.guessing = True
        if self.traces is None:
            self.add_from_text()
        machine.reported.clear()
        machine.starts.line = []  # what is called by nobody is called however the script is started
        self.rest(machine)
        for failure in machine.reported:
            self.add(machine, failure)
        if self.traces is not None:
            if self.graphs is not None:
                self.graphs = tuple(self.traces.graphs(machine))
            self.traces.finish(machine)

    def add_from_text(self) -> None:
        """What is wrong in the text alone, whoever runs it; torch's own files may be those of another version."""
        if "/torch/" in self.program.path.replace("\\", "/"):
            return
        said = TorchInText(self.program)
        for fault in (*misspelt(self.program, said), *refused_arguments(self.program, said)):
            if fault.help or (fault.path, fault.span) not in self.faults:
                self.faults[fault.path, fault.span] = fault  # where the script met it, this says what is meant

    def learn(self) -> None:
        """What editors want to know besides, at its own expense."""
        if self.program.watch is not None:
            used = work.used
            work.begin()
            try:
                self.program.watch.finish()
            finally:
                work.begin(used)

    def collecting(self, machine: Machine, rest: bool) -> AbstractContextManager:
        """While forwards are recorded."""
        return self.traces.collecting(machine) if self.traces and rest else nullcontext()

    def watching(self, rest: bool) -> AbstractContextManager:
        """While an editor's watch sees tensors: in the first run."""
        watch = self.program.watch
        return watch.looking_on(rest) if watch is not None else nullcontext()

    def hearing(self) -> AbstractContextManager:
        """While rules hear what is done with sizes that are no guesses."""
        return self.listener.hearing() if self.listener is not None else nullcontext()

    def rest(self, machine: Machine) -> None:
        """Every module class of the file that did not run to its end in the script, and every function that was not
        called.

        Functions without parameters that must be given come first: often they build the models, with sizes somebody
        chose.
        """
        kinds = self.kinds(machine)
        functions = [n for n in self.program.tree.body if isinstance(n, ast.FunctionDef)]
        try:
            self.look_at(machine, kinds, functions)
        finally:
            kinds = [kind for kind in kinds if signature_of(kind) is not None]
            self.statistics["modules"] = len(kinds)
            self.statistics["functions"] = len(functions)
            self.statistics["functions_run"] = sum(n in machine.entered for n in functions)
            self.statistics["guessed_steps"] = GUESSED_STEPS - machine.left
            self.statistics["modules_run"] = sum(map(machine.ended, kinds))

    def look_at(self, machine: Machine, kinds: list[type], functions: list[ast.FunctionDef]) -> None:
        """The same, one after the other; `kinds` gains the classes that functions make."""
        builders = sorted((n for n in functions if not required(n)), key=lambda n: _SMALL.search(n.name) is None)
        said = {n: {part.id for part in walk(n) if isinstance(part, ast.Name)} for n in builders}
        callers = Callers(machine, self.program, machine.names)
        idle = 0  # builders in a row that made no class of the file that none made before
        vain = 0  # the steps of these
        while builders and idle < IDLE and vain < IDLE_STEPS:
            missing = [kind for kind in kinds if kind not in machine.instances]
            if not missing:
                break
            names = {kind.__name__ for kind in missing}
            node = next((n for n in builders if not names.isdisjoint(said[n])), builders[0])
            builders.remove(node)
            before = machine.left
            self.call(machine, node)
            found = sum(k not in machine.instances for k in kinds) < len(missing)
            idle, vain = (0, 0) if found else (idle + 1, vain + before - machine.left)
        share = max(FAIR_STEPS, 2 * machine.left // max(1, len(kinds)))
        whole = [kind for kind in reversed(kinds) if not is_completed_by_others(kind)]
        later = [kind for kind in whole if not self.counted(machine, kind, callers, share)]
        for kind in later if share < CLASS_STEPS else ():
            self.counted(machine, kind, callers, BUILT_STEPS)
        for node in functions:
            if required(node):
                self.call(machine, node)
        known = {machine.codes[k] for k in kinds}
        for kind in self.kinds(
            machine
        ):  # classes that functions made: what they close over was guessed, so that only their end counts
            if machine.codes[kind] not in known:
                kinds.append(kind)
                attempt = Attempt(machine, kind, {})
                if not machine.ended(kind) and attempt.run() is None and not machine.ended(kind):
                    self.reasons[attempt.reason()] += 1

    def counted(self, machine: Machine, kind: type, callers: Callers, most: int) -> bool:
        """The next, with the steps that it took."""
        before = machine.left
        done = self.look_at_class(machine, kind, callers, most)
        if machine.left < before:
            self.classes[f"{os.path.basename(self.program.path)}: {kind.__name__}"] += before - machine.left
        return done

    def look_at_class(self, machine: Machine, kind: type, callers: Callers, most: int) -> bool:
        """A class that the script did not run, in so many steps at most; whether they were enough."""
        given = self.traces.inputs_for(kind) if self.traces is not None else {}
        if not given and machine.ended(kind):
            return True
        attempt = Attempt(machine, kind, given or self.configured(kind), callers=callers)
        steps = min(most, CLASS_STEPS if kind not in machine.built_instances else BUILT_STEPS)
        total, machine.left = machine.left, min(machine.left, steps)
        before = machine.left
        device_tags.called.clear()
        failure = attempt.run()
        guessed = failure is not None and not attempt.is_known() and attempt.built is not None and attempt.built.assumed
        if not given and not machine.ended(kind) and (failure is None or guessed):
            attempt.as_called()
            failure = None if machine.ended(kind) else failure  # a caller knows better
        if failure is None and not machine.ended(kind) and machine.left <= 0 and most < CLASS_STEPS:
            machine.left += total - before
            return False
        if not given and not machine.ended(kind) and (failure is None or guessed):
            more = min(CONFIGURED_STEPS, total - before)  # of what is put aside for the other classes
            total, machine.left = total - more, machine.left + more
            as_configured(attempt, self.written)
            failure = None if machine.ended(kind) else failure
        with self.watching(False):
            if self.listener is not None:
                self.listener.keep(attempt, changes)
            if failure is None and not given and self.traces is None:
                for other in other_ways(attempt):
                    self.add(machine, other, ("shape", "dtype"))
        machine.left += total - before
        if self.traces is not None:
            self.traces.attempted(kind, attempt)
        if failure is not None:
            if not attempt.is_known() and not goes_on_when_moved(failure, attempt):
                failure.supposed = attempt.supposed
                self.add(machine, failure, tried=machine.codes[kind])
        elif not machine.ended(kind) and signature_of(kind) is not None:
            self.reasons[attempt.reason()] += 1
        return True

    def kinds(self, machine: Machine) -> list[type]:
        """The module classes of the file so far, each once: its statement may have run more than once."""
        mine = [k for k in machine.classes if issubclass(k, nn.Module) and machine.codes[k].path == self.program.path]
        return list({machine.codes[k]: k for k in mine}.values())

    def configured(self, kind: type) -> dict[str, list]:
        """The inputs that the configuration names for a class."""
        forward = closure_of(kind.forward) if self.inputs else None
        if forward is None:
            return {}
        return configured(self.inputs, self.program.path, kind.__name__, forward.code.positional[1:])

    def call(self, machine: Machine, node: ast.FunctionDef) -> None:
        """A function that the script did not call."""
        if node not in machine.entered and node.name in machine.names:
            names = required(node)
            with self.hearing():
                for failure in explore(machine, lambda: call_alone(machine, machine.names[node.name], names)):
                    if failure is not None and are_independent(machine.asked):
                        failure.answered = bool(machine.asked)
                        self.add(machine, failure, ("shape", "dtype"))

    def add(
        self, machine: Machine, failure: FailedOperation, kinds: tuple[str, ...] = (), tried: ClassCode | None = None
    ) -> None:
        """Keep a failure if it is one of torch's own (and of these kinds), once for each cause."""
        fault = fault_of(machine, failure)
        if fault is not None and fault.kind == "device" and not machine.cuda:
            return  # without a GPU, `.cuda()` fails long before
        if (
            isinstance(failure.error, DeviceError)
            and machine.counted_gpus
            and any(device_of(t).index for t in failure.error.tensors)
        ):
            # it was told that there is one GPU only, and uses a second: with two it may have moved other tensors there,
            # too
            return
        if fault is not None and (not kinds or fault.kind in kinds):
            fault = plain = self.here(fault, failure)
            if tried is not None:
                fault = of_class(fault, tried)
            if machine.starts.line:
                start = shlex.join([os.path.basename(self.program.path), *machine.starts.line])
                says = f"started as `{start.replace(MISSING, '…')}`"
                fault = msgspec.structs.replace(fault, help=f"{fault.help}; {says}" if fault.help else says)
                if machine.starts.start.choices and machine.starts.reads_settings:
                    fault = msgspec.structs.replace(fault, presumed=True)  # who chooses that gives other settings
            cause = failure.stack[-1][0] if failure.stack and TOO_EARLY in fault.message else failure.place
            if self.told.setdefault(cause, (fault.path, fault.span)) != (fault.path, fault.span):
                return  # another way that leads to the same place, or another layer of the same constructor
            at: tuple = (fault.path, fault.span)
            if at in self.faults and self.faults[at].kind == "device" != fault.kind:
                at = (*at, fault.kind)  # what a run without a GPU meets behind it, in the same call
            known = self.faults.setdefault(at, fault)
            if known.presumed and not fault.presumed:  # what is surer is said
                self.faults[at] = fault
            elif tried is not None and known.notes != fault.notes:  # of several classes, not of one
                self.faults[at] = msgspec.structs.replace(known, notes=plain.notes)

    def here(self, fault: Fault, failure: FailedOperation) -> Fault:
        """The same fault at the call in this file that leads to it, if it lies in another file."""
        if fault.path == self.program.path:
            return fault
        caller = last_call_in(self.program.path, failure.stack)
        if caller is None:
            return fault
        notes = (Note(FAILS_HERE, fault.path, fault.span), *(n for n in fault.notes if n.span != caller[1]))
        return msgspec.structs.replace(fault, path=caller[0], span=caller[1], notes=notes, fix=None)
