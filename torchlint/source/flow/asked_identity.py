"""What a test around a call asks about the thing that is called: `if criterion.__name__ == "dice":`,
`if isinstance(model, Net):`, `if loss is F.cross_entropy:`.

Of all that a name may stand for, only what passes those tests is called there. What is not seen to pass does not count.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeGuard

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.values import Answer
from torchlint.source.text.index import FUNCTIONS, ancestors, block_of, last_word, test_around
from torchlint.source.text.spelling import unparsed

if TYPE_CHECKING:
    from torchlint.source.flow.classes import ClassInfo
    from torchlint.source.flow.module import Module
    from torchlint.source.flow.values import Value

    # A class of the project, a dotted name, or the function or the call that makes it.
    Thing: TypeAlias = ClassInfo | str | ast.AST
    Resolve: TypeAlias = Callable[[ast.expr], list[Thing | None]]

MAX_TESTS = 12  # around one call, the innermost ones
SILENT = "silent"  # the answer of a test that does not ask what the thing is
_TESTING = (ast.If, ast.IfExp, ast.While)
_NOTHING = (ast.Constant, ast.JoinedStr)
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_COMPARED = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
_DENYING = (ast.NotEq, ast.IsNot, ast.NotIn)
# The bases that say all there is: what inherits from these alone is nothing else of a library's.
_WHOLE = frozenset("torch.nn.Module builtins.object abc.ABC typing.Generic typing.Protocol".split())
# What is wrapped in one of these counts as the same object.
_WRAPPERS = frozenset(
    "DataParallel DistributedDataParallel DDP DP FSDP FullyShardedDataParallel ScriptModule OptimizedModule".split()
)


class Called(Protocol):
    """One thing that may be called: see `calling.Callee`."""

    kind: str
    name: str
    function: ast.AST | None
    owner: ClassInfo | None
    made: Value | None
    instance: Value | None
    partials: tuple


class Asked(NamedTuple):
    """A test around a call, the truth it needs, the words for the thing, and whether that is what has the method."""

    test: ast.expr
    truth: bool
    subject: str
    is_receiver: bool


def tests_of(module: Module, call: ast.Call) -> list[Asked]:
    """The tests that ask what is called there, or what has the method that is called."""
    asked = _subjects(module)
    if not asked:
        return []
    func = call.func
    parts = [func, func.value] if isinstance(func, ast.Attribute) else [func]
    # By its last word first: to spell out what stands at every call takes longer than all that comes after.
    subjects = [p for p in parts if (word := last_word(p)) and word in asked and unparsed(p) in asked[word]]
    return [
        Asked(test, truth, unparsed(part), part is not func)
        for part in subjects
        for test, truth in _tests_around(call)
        if unparsed(part) in _asked_in(test) and not _is_given_anew(module, part, test, call)
    ]


@remembered
def _subjects(module: Module) -> dict[str, set[str]]:
    """The words of all things of a file that a test asks about, by the last of them."""
    found: dict[str, set[str]] = {}
    for node in module.index.nodes(*_TESTING):
        for words in _asked_in(node.test):
            found.setdefault(words.rpartition(".")[2], set()).add(words)
    return found


def _asked_in(test: ast.expr) -> frozenset[str]:
    if not hasattr(test, "asks_what"):
        test.asks_what = frozenset(unparsed(thing) for part in _parts(test) for thing, _ in _questions(part))
    return test.asks_what


def _parts(test: ast.expr) -> Iterator[ast.expr]:
    left = [test]
    while left:
        part = left.pop()
        if isinstance(part, ast.BoolOp):
            left += reversed(part.values)
        elif isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
            left.append(part.operand)
        else:
            yield part


def _questions(part: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a test may ask about, each with the expression that stands for it: `f` and `type(f)`."""
    sides: list[ast.expr] = []
    if isinstance(part, ast.Compare) and len(part.ops) == 1 and isinstance(part.ops[0], _COMPARED):
        sides = [part.left, *part.comparators]
        if not any(isinstance(side, _NOTHING) for side in sides):  # `f is None`, `f == "mse"`
            compared = sides[:1] if isinstance(part.ops[0], (ast.In, ast.NotIn)) else sides
            yield from ((side, side) for side in compared if isinstance(side, (ast.Name, ast.Attribute)))
    elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
        sides = [part.func.value]  # `f.__name__.startswith("dice")`
    elif isinstance(part, ast.Call) and last_word(part.func) in ("isinstance", "issubclass") and len(part.args) == 2:
        yield part.args[0], part
    for side in sides:
        core = side.value if isinstance(side, ast.Attribute) and side.attr == "__name__" else side
        if isinstance(core, ast.Attribute) and core.attr == "__class__":
            yield core.value, side
        elif isinstance(core, ast.Call) and last_word(core.func) == "type" and len(core.args) == 1:
            yield core.args[0], side
        elif core is not side:
            yield core, side


def _tests_around(node: ast.AST) -> list[tuple[ast.expr, bool]]:
    """Those of the same function around a place, and those above it after which the function or round is left."""
    found: list[tuple[ast.expr, bool]] = []
    around, inner = test_around(node), node
    while around is not None and len(found) < MAX_TESTS:
        inner, truth = around
        found.append((inner.test, truth))
        around = test_around(inner)
    child = node
    for parent in ancestors(node):
        if isinstance(child, ast.stmt):
            block, at = block_of(child)
            for above in block[max(0, at - MAX_TESTS) : at]:
                if isinstance(above, ast.If) and not above.orelse and isinstance(above.body[-1], _LEAVES):
                    found.append((above.test, False))
        if isinstance(parent, FUNCTIONS) or len(found) >= MAX_TESTS:
            break
        child = parent
    return found


def _is_given_anew(module: Module, thing: ast.expr, test: ast.expr, call: ast.Call) -> bool:
    """Does it stand for another thing since the test?"""
    if isinstance(thing, ast.Name):
        scope = thing.at.lookup(thing.id)
        stored = scope.bindings.get(thing.id, []) if scope is not None else []
    else:
        stored = [store for store in module.index.stored(thing.attr) if unparsed(store) == unparsed(thing)]
    return any(test.lineno <= getattr(store, "lineno", 0) < call.lineno for store in stored)


def passes(callee: Called, tests: list[Asked], resolve: Resolve) -> bool:
    """Is a thing that may be called seen to pass all tests that ask what it is?"""
    for asked in tests:
        is_method = callee.kind == "function" and callee.owner is not None
        if callee.kind == "method" or asked.is_receiver and not (is_method or callee.kind == "instance"):
            continue  # of a value of which nothing is known but that name, or no method of the project
        asker = _Asker(callee, asked.subject, resolve, is_method and asked.is_receiver)
        answer = asker.answer(asked.test, asked.truth)
        if answer is not True and answer != SILENT:
            return False
    return True


class _Asker:
    """One thing that may be called, before one test."""

    def __init__(
        self, callee: Called, subject: str, resolve: Callable[[ast.expr], list[Thing | None]], is_method: bool
    ):
        self.callee, self.subject, self.resolve = callee, subject, resolve
        self.is_method = is_method

    def answer(self, test: ast.expr, truth: bool) -> Answer | str:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.answer(test.operand, not truth)
        if isinstance(test, ast.BoolOp):
            answers = [self.answer(operand, truth) for operand in test.values]
            if isinstance(test.op, ast.And) is truth:  # all of them
                told = [answer for answer in answers if answer != SILENT]
                return False if False in told else None if None in told else True if told else SILENT
            if SILENT in answers or True in answers:  # one of them
                return SILENT if SILENT in answers else True
            return None if None in answers else False
        found = next((side for thing, side in _questions(test) if unparsed(thing) == self.subject), None)
        if found is None or isinstance(test, ast.Call) and not _WRAPPERS.isdisjoint(_words_of(test.args[-1:])):
            return SILENT
        passed = self._part(test, found)
        return passed if passed is None else passed is truth

    def _part(self, test: ast.expr, side: ast.expr) -> Answer:
        if isinstance(test, ast.Call):
            if side is test:
                return self._is_one_of(test.args[1], last_word(test.func) == "issubclass")
            return self._is_named_like(test)
        denied = isinstance(test.ops[0], _DENYING)
        [other] = [part for part in (test.left, *test.comparators) if part is not side]
        is_in = isinstance(test.ops[0], (ast.In, ast.NotIn))
        if isinstance(side, ast.Attribute) and side.attr == "__name__":
            found = self._is_named(side.value, other, is_in)
        else:
            listed = isinstance(other, (ast.Tuple, ast.List, ast.Set))
            if is_in and not (listed and side is test.left):
                return None
            meant = self._is_it if unparsed(side) == self.subject else self._is_exactly
            found = _any(meant(thing) for element in (other.elts if is_in else [other]) for thing in self._of(element))
        return found if found is None else found is not denied

    def _of(self, node: ast.expr) -> list[Thing | None]:
        found = self.resolve(node)
        return [found[0] if len(found) == 1 else None]

    # By its name

    def _name(self, thing: ast.expr) -> str | None:
        """What `f.__name__` is, or `f.__class__.__name__`."""
        callee = self.callee
        of_class = unparsed(thing) != self.subject
        if callee.partials:
            return "partial" if of_class else None
        if self._is_object:
            own = callee.owner.name if callee.owner is not None else _last(callee.name)
            return own if of_class else self._given_name()
        if of_class:
            return {"class": "type", "function": "function"}.get(callee.kind)
        if callee.kind == "function":
            return getattr(callee.function, "name", "<lambda>")
        return callee.owner.name if callee.owner is not None else _last(callee.name)

    def _given_name(self) -> str | None:
        """Of an object: `__name__ = "dice"` in the body of its class, or `self.__name__ = "dice"`."""
        stored = self.callee.owner.attribute("__name__") if self.callee.owner is not None else []
        values = [s.value if s.value is not None else getattr(s.target.up, "value", None) for s in stored]
        if len(values) == 1 and isinstance(values[0], ast.Constant) and isinstance(values[0].value, str):
            return values[0].value
        return None

    def _is_named(self, thing: ast.expr, other: ast.expr, is_in: bool) -> Answer:
        name = self._name(thing)
        listed = isinstance(other, (ast.Tuple, ast.List, ast.Set))
        given = other.elts if is_in and listed else [other]
        texts = [part.value for part in given if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if name is None or len(texts) < len(given):
            return None
        return texts[0] in name if is_in and not listed else name in texts

    def _is_named_like(self, call: ast.Call) -> Answer:
        """`f.__name__.startswith("dice")`"""
        text = call.args[0] if len(call.args) == 1 and not call.keywords else None
        core = call.func.value
        if not isinstance(core, ast.Attribute) or core.attr != "__name__" or not isinstance(text, ast.Constant):
            return None
        name = self._name(core.value)
        if name is None or not isinstance(text.value, str) or call.func.attr not in ("startswith", "endswith"):
            return None
        return name.startswith(text.value) if call.func.attr == "startswith" else name.endswith(text.value)

    # By what it is

    @property
    def _is_object(self) -> bool:
        return self.callee.kind in ("object", "instance") or self.is_method and self.callee.owner is not None

    def _is_it(self, thing: Thing | None) -> Answer:
        """Is it that function, class or object itself?"""
        callee = self.callee
        if thing is None or callee.partials:
            return None
        if _is_class(thing):
            return callee.kind == "class" and callee.owner is not None and callee.owner.node is thing.node
        if isinstance(thing, str):
            return callee.kind == "external" and callee.name == thing
        if isinstance(thing, FUNCTIONS):
            return callee.kind == "function" and callee.function is thing
        made = (callee.made or callee.instance) if self._is_object else None
        if not isinstance(thing, ast.Call) or self._is_object and (made is None or not isinstance(made.node, ast.Call)):
            return None
        return made is not None and made.node is thing

    def _is_exactly(self, thing: Thing | None) -> Answer:
        """Is it of that class, and of none that inherits from it?"""
        if thing is None or isinstance(thing, ast.AST) or self.callee.partials:
            return None
        if not self._is_object:
            return False
        if self.callee.owner is not None:
            return _is_class(thing) and thing.node is self.callee.owner.node
        return isinstance(thing, str) and self.callee.name.removesuffix("()") == thing

    def _is_one_of(self, kinds: ast.expr, of_class: bool) -> Answer:
        if isinstance(kinds, (ast.Tuple, ast.List)):
            return _any(self._is_one_of(kind, of_class) for kind in kinds.elts)
        if isinstance(kinds, ast.BinOp) and isinstance(kinds.op, ast.BitOr):
            return _any((self._is_one_of(kinds.left, of_class), self._is_one_of(kinds.right, of_class)))
        return _any(self._is_a(thing, of_class) for thing in self._of(kinds))

    def _is_a(self, thing: Thing | None, of_class: bool) -> Answer:
        """Is it an object of that class, or, where that is asked, an heir of it?"""
        callee = self.callee
        if thing is None or isinstance(thing, ast.AST) or callee.partials:
            return None
        if isinstance(thing, str) and thing.startswith("builtins."):
            return thing == "builtins.object" or (None if thing == "builtins.type" else False)
        is_class = callee.kind == "class" or callee.kind == "external" and _last(callee.name)[:1].isupper()
        if not (is_class if of_class else self._is_object):
            return None if isinstance(thing, str) and not thing.startswith("torch.") else False
        if callee.owner is None:
            return _is_layer_a(callee.name.removesuffix("()"), thing)
        if _is_class(thing):
            if any(owner.node is thing.node for owner in callee.owner.mro):
                return True
            return False if callee.owner.known else None
        if thing in callee.owner.foreign:
            return True
        foreign = [base for base in callee.owner.foreign if base not in _WHOLE]
        if thing == "torch.nn.Module" and callee.owner.is_named_module:
            return True
        if thing in _WHOLE:
            return None if foreign else False
        return _any(None if base is None else _is_layer_a(base, thing) for base in foreign)


def _is_layer_a(name: str, thing: Thing) -> Answer:
    """Does a class of a library inherit from another one?"""
    if _is_class(thing):
        return False
    if name == thing:
        return True
    if not name.startswith("torch.nn.") or not thing.startswith("torch.") or _last(name).startswith("Lazy"):
        return None
    if thing == "torch.nn.Module":
        return True
    has_heirs = thing.endswith(("RNNBase", "Sequential", "ModuleList", "Linear", "NLLLoss"))  # in torch itself
    return False if thing.count(".") == 2 and not has_heirs else None


def _is_class(thing: Thing | None) -> TypeGuard[ClassInfo]:
    return thing is not None and not isinstance(thing, (str, ast.AST))


def _words_of(kinds: list[ast.expr]) -> set[str]:
    return {last_word(kind) for whole in kinds for kind in getattr(whole, "elts", [whole])}


def _last(name: str) -> str:
    return name.removesuffix("()").rsplit(".", 1)[-1]


def _any(answers) -> Answer:
    told = list(answers)
    return True if True in told else None if None in told else False
