"""Runs the rules that a file arms over it."""

from __future__ import annotations

import ast
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from time import perf_counter
from typing import NamedTuple

import msgspec

from torchlint.finding import Finding, Span
from torchlint.rule import Rule, Trigger
from torchlint.source.answers.inplace import changes
from torchlint.source.asking.part import Part, lines_of
from torchlint.source.asking.rounds import Loop, Round
from torchlint.source.asking.structures import Change, ModuleClass
from torchlint.source.asking.views import Call, Node, Place
from torchlint.source.flow.branches import is_ruled_out
from torchlint.source.flow.callers import may_be_an_object
from torchlint.source.flow.calling import bound_by
from torchlint.source.flow.classes import class_info
from torchlint.source.flow.flow import SAME_OBJECT, callees
from torchlint.source.flow.kinds import MODULE, PARAMETER, TENSOR, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import MAX_BINDINGS
from torchlint.source.flow.values import Value
from torchlint.source.text.index import COMPREHENSIONS, DEFINITIONS, LOOPS, last_word, statement_of
from torchlint.source.text.surface import Surface, surface
from torchlint.source.training.loops import trains_once
from torchlint.vocabulary import Words

Armed = list[tuple[Rule, Trigger]]


class Judgement(NamedTuple):
    """What the rules found, and what each of them cost, in microseconds. `afar` are the codes of findings about lines
    outside the place that was asked about, or about a whole file."""

    findings: list[Finding]
    costs: dict[str, int]
    afar: frozenset[str]


def may_arm(rules: Iterable[Rule], heard: frozenset[str], words: Words) -> Armed:
    """The triggers whose words stand in a text. What they need may still be missing; imports decide that later. Of
    those that only make remarks the ones that somebody hears: all of the rules with these codes.
    """
    return [
        (rule, trigger)
        for rule in rules
        for trigger in rule.triggers
        if (rule.code in heard or not (trigger.remarks or rule.severity == "info")) and may_stand(trigger, words.says)
    ]


def may_stand(trigger: Trigger, says: Callable[[str], bool]) -> bool:
    """Do the words of a trigger stand in a text? What trains may be given its losses by other files."""
    # A plain need must stand in the file itself; one with `|` may be met by a file it imports.
    for need in trigger.needs:
        if "|" not in need and not says(need):
            return False
    if trigger.kind == "call":
        return any(map(says, trigger.words)) or (trigger.of_objects and says("backward("))
    if trigger.kind == "module":
        return says("class ")
    return trigger.kind in ("node", "loop", "round", "inplace") and (not trigger.holds or any(map(says, trigger.holds)))


def arm(armed: Armed, module: Module) -> Armed:
    """Those whose words and needs stand in the file, in what it imports, or in what uses its training code; and that
    have something to say in such a file."""
    return [
        (r, t)
        for r, t in armed
        if (r.in_tests or not module.is_test)
        and (not t.words or any(map(module.index.says, t.words)) or module.mentions("|".join(t.words)))
        and all("|" not in need or module.mentions(need) for need in t.needs)
    ]


def judge(module: Module, armed: Armed, strict: bool = False, part: Part | None = None) -> Judgement:
    """What armed rules say about a file, or a part of it. Finding places is part of what rules cost, in equal parts of
    those that are told of their kind, and who asks first pays for an answer that others are given. A check that raises
    becomes TL000; `strict` (tests) lets it raise."""
    runs = _Runs(module, strict or bool(os.environ.get("TORCHLINT_DEBUG")))
    costs = dict.fromkeys((rule.code for rule, _ in armed), 0.0)
    looking = dict.fromkeys((trigger.kind for _, trigger in armed), 0.0)
    before = perf_counter()
    for rule, trigger, places in subjects(module, armed, part):
        seen = perf_counter()
        runs.run(rule, trigger, places)
        looking[trigger.kind] += seen - before
        before = perf_counter()
        costs[rule.code] += before - seen
    for kind, seconds in looking.items():
        looked = [rule.code for rule, trigger in armed if trigger.kind == kind]
        for code in looked:
            costs[code] += seconds / len(looked)
    found = [f for f in runs.findings if part is None or part.has(f.span.line)]
    spent = {code: round(cost * 1e6) for code, cost in costs.items()}
    return Judgement(list(dict.fromkeys(found)), spent, frozenset(runs.afar))


def subjects(module: Module, armed: Armed, part: Part | None = None) -> Iterator[tuple[Rule, Trigger, Sequence[Place]]]:
    """The places of a file, or those that touch a part of it, that its armed rules are given. Those of one kind of
    node come together, for they are most of all; of others each rule is told before the next place is looked for.
    """
    touches = part.touches if part else _is_any
    by_kind: dict[str, Armed] = {}
    for rule, trigger in armed:
        by_kind.setdefault(trigger.kind, []).append((rule, trigger))
    if "call" in by_kind:
        yield from _calls(module, by_kind["call"], touches)
    asked: dict[tuple, list[Node]] = {}  # many rules ask for the same nodes: each assignment, each call
    made: dict[ast.AST, Node] = {}
    for rule, trigger in by_kind.get("node", ()):
        which = trigger.names, trigger.called, trigger.holds, trigger.value
        if which not in asked:
            nodes = [node for node in _nodes(module, trigger) if part is None or touches(node)]
            made |= {node: Node(Value(module, node)) for node in nodes if node not in made}
            asked[which] = [made[node] for node in nodes]
        yield rule, trigger, asked[which]
    if "module" in by_kind:
        for node in filter(touches, module.index.classes):
            info = class_info(module, node)
            if info.is_module:
                for rule, trigger in by_kind["module"]:
                    yield rule, trigger, (ModuleClass(Value(module, node), info),)
    if "inplace" in by_kind:
        for node, tensor in changes(module, touches):
            for rule, trigger in by_kind["inplace"]:
                yield rule, trigger, (Change(Value(module, node), tensor),)
    for rule, trigger in by_kind.get("loop", ()):
        for node in filter(touches, _loops(module)):
            yield rule, trigger, (Loop(Value(module, node)),)
    if "round" in by_kind:
        for kind, found in _rounds(module, touches):
            if not (found.may_call("backward") or found.may_call("manual_backward")):
                continue
            for rule, trigger in by_kind["round"]:
                if not trigger.names or kind in trigger.names:
                    yield rule, trigger, (found,)


def _is_any(node: ast.AST) -> bool:
    return True


def _loops(module: Module) -> list[ast.AST]:
    """The loops of a file that train more than once."""
    return [node for node in module.index.nodes(*LOOPS) if not trains_once(module, node)]


def _nodes(module: Module, trigger: Trigger) -> list[ast.AST]:
    """The nodes that a trigger names, in source order of each kind, or of all where words choose them."""
    if trigger.called:
        return sorted((call for word in trigger.called for call in module.index.callers(word)), key=attrgetter("pos"))
    kinds = tuple(getattr(ast, name) for name in trigger.names)
    if trigger.holds:
        return sorted(module.index.holding(trigger.holds, kinds), key=attrgetter("pos"))
    nodes = list(module.index.nodes(*kinds))
    values = frozenset(getattr(ast, name) for name in trigger.value)
    return [node for node in nodes if type(node.value) in values] if values else nodes


def _rounds(module: Module, touches: Callable[[ast.AST], bool]) -> Iterator[tuple[str, Round]]:
    """The places where a round of training may be written."""
    for node in filter(touches, _loops(module)):
        yield "loop", Loop(Value(module, node))
    for node in filter(touches, module.index.nodes(*COMPREHENSIONS)):
        yield "comprehension", Round(Value(module, node))
    for node in filter(touches, module.index.functions):
        yield "function", Round(Value(module, node))
    for node in filter(touches, [module.tree]):
        yield "file", Round(Value(module, node))


class _Runs:
    def __init__(self, module: Module, strict: bool):
        self.module = module
        self.strict = strict
        self.findings: list[Finding] = []
        self.afar: set[str] = set()

    def run(self, rule: Rule, trigger: Trigger, places: Sequence[Place]) -> None:
        check = None
        for place in places:
            try:
                check = check or rule.function(trigger)
                for finding in check(place):
                    self._keep(finding, rule, trigger, place)
            except RecursionError:  # nobody writes by hand what is as deep as that: nothing is known of this place
                self.module.world.forget_searches()
            except Exception as error:
                if self.strict:
                    raise
                self.findings.append(self._crash(rule, place, error))
                self.module.world.forget_searches()

    def _keep(self, finding: Finding, rule: Rule, trigger: Trigger, place: Place) -> None:
        is_here = finding.path == self.module.path
        if is_here and any(first <= finding.span.line <= last for first, last in self.module.skipped):
            return
        if is_ruled_out(place.value):
            return
        if not lines_of(place.node).has(finding.span.line):
            self.afar.add(rule.code)
        severity = rule.severity or ("info" if trigger.remarks else finding.severity)
        self.findings.append(msgspec.structs.replace(finding, code=rule.code, name=rule.name, severity=severity))

    def _crash(self, rule: Rule, place, error: Exception) -> Finding:
        where = traceback.extract_tb(error.__traceback__)[-1]
        message = (
            f"rule {rule.code} failed here: {type(error).__name__}: {error}"
            f" ({os.path.basename(where.filename)}:{where.lineno})"
        )
        node = place.node if hasattr(place.node, "lineno") else None
        span = self.module.span(node) if node else Span(1, 1, 1, 1)
        return Finding(
            "TL000", "rule_crashed", self.module.path, span, message.splitlines()[0], "please report this", "error"
        )


def _calls(
    module: Module, armed: Armed, touches: Callable[[ast.AST], bool]
) -> Iterator[tuple[Rule, Trigger, Sequence[Place]]]:
    wanted: dict[str, Armed] = {}
    for rule, trigger in armed:
        for name in trigger.names:
            wanted.setdefault(name, []).append((rule, trigger))
    words = {word for _, trigger in armed for word in trigger.words}
    dotted = {name.removesuffix("()").rsplit(".", 1)[-1] for name in wanted if not name.startswith("builtins.")}
    of_objects = any(name.endswith("()") for name in wanted)
    for node in filter(touches, list(module.index.calls)):
        word = last_word(node.func)
        if word not in (dotted if isinstance(node.func, ast.Attribute) else words):
            if not _may_be_alias(module, node, of_objects):
                continue
        value = Value(module, node)
        called = callees(value)
        if bound_by(value) is None:
            continue
        names = [c.name for c in called if c.name]
        for rule, trigger in dict.fromkeys(pair for name in names for pair in wanted.get(name, ())):
            if _fits(trigger, value, names, node):
                yield rule, trigger, (Call(value),)


def _may_be_alias(module: Module, node: ast.Call, of_objects: bool) -> bool:
    """`ce(x)` and `self.criterion(x)` may be anything but what the project defines; `x.view(1)` is what it says."""
    func = node.func
    if isinstance(func, ast.Name):
        scope = func.at.lookup(func.id)
        bindings = scope.bindings[func.id][:MAX_BINDINGS] if scope is not None else ()
        return not all(isinstance(b, DEFINITIONS) or _is_defined_behind(module, b) for b in bindings)
    if isinstance(func, ast.Attribute):
        if not isinstance(func.value, (ast.Name, ast.Attribute)) or not _is_given_something(node):
            return False
        return of_objects and _may_hold(module, func) or func.attr in _functions_kept(module)
    return True  # `LOSSES[name](x, y)`, `getattr(F, name)(x)`


@remembered
def _functions_kept(module: Module) -> frozenset[str]:
    """The attributes that a file gives what may be a function: `self.noise = F.dropout`, `self.act = act`, a partial,
    a static method.
    """
    stored = [(node.attr, statement_of(node)) for node in module.index.stores]
    levels = (statement for cls in module.index.classes for statement in cls.body if isinstance(statement, ast.Assign))
    stored += [(last_word(statement.targets[0]), statement) for statement in levels]
    return frozenset(name for name, statement in stored if _may_be_a_function(getattr(statement, "value", None)))


def _may_be_a_function(node: ast.AST | None) -> bool:
    if isinstance(node, ast.Tuple):
        return any(map(_may_be_a_function, node.elts))
    if isinstance(node, ast.IfExp):
        return _may_be_a_function(node.body) or _may_be_a_function(node.orelse)
    if isinstance(node, ast.Call):
        return last_word(node.func) in ("partial", "staticmethod")
    return isinstance(node, (ast.Name, ast.Attribute))


def _may_hold(module: Module, func: ast.Attribute) -> bool:
    """May an attribute hold an object that is called? `x.transpose` does if a file of the project gives something that
    name; what its methods and functions are called, `callees` knows to be theirs."""
    if f".{func.attr}" in SAME_OBJECT:
        return False
    return may_be_an_object(module, func) or func.attr == "forward" or func.attr in _given_behind(module)


def _is_given_something(call: ast.Call) -> bool:
    """More than numbers and words, `x.size(0)`: an object of torch computes from tensors."""
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    return any(not isinstance(getattr(value, "operand", value), ast.Constant) for value in given)


def _is_defined_behind(module: Module, binding: ast.AST) -> bool:
    """Does an import bring a function or class that a file of the project defines, and no other name for something?"""
    return isinstance(binding, ast.alias) and not module.leads_anywhere and binding.name in _defined_behind(module)


@remembered
def _defined_behind(module: Module) -> frozenset[str]:
    """The names that are those of functions and classes in all files behind a file."""
    return frozenset().union(*(file.defined for file in _surfaces_behind(module))) - _given_behind(module)


@remembered
def _given_behind(module: Module) -> frozenset[str]:
    """The names that are given to something else in one of them."""
    return frozenset().union(*(file.given for file in _surfaces_behind(module)))


def _surfaces_behind(module: Module) -> list[Surface]:
    project = module.world.view.project
    return [surface(project, path) for path in module.behind.paths]


def _fits(trigger: Trigger, value: Value, names: list[str], node: ast.Call) -> bool:
    bound = [made.node for callee in callees(value) for made in callee.partials]
    if any(k.arg in trigger.without for call in (node, *bound) for k in call.keywords if k.arg):
        return False
    hits = [name for name in names if name in trigger.names]
    if len(set(names)) > len(set(hits)):  # it may as well call something else
        return False
    if trigger.unknown or not all(name.startswith(".") for name in hits):
        return True
    return any(
        c.receiver is not None and kinds(c.receiver) and kinds(c.receiver) <= {TENSOR, PARAMETER, MODULE}
        for c in callees(value)
        if c.name in hits
    )
