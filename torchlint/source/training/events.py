"""What a loop or function does: its calls, and its assignments to `.grad`, in the order they run, local helpers
included.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from torchlint.source.flow.branches import decided
from torchlint.source.flow.callers import may_be_ours
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.identity import external_name, instance_class
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.named_methods import called
from torchlint.source.flow.signatures import has_decorator
from torchlint.source.flow.values import LookedThrough, Value, frame_of
from torchlint.source.text.index import COMPREHENSIONS, DEFINITIONS, FUNCTIONS, LOOPS, UNWRITTEN, children, last_word
from torchlint.source.training.regions import MAX_TESTS, under_no_grad

if TYPE_CHECKING:
    from torchlint.source.flow.calling import Callee
    from torchlint.source.flow.classes import Method

MAX_EVENTS = 3000
CONTEXT_MANAGERS = ("contextmanager", "asynccontextmanager")
MAX_HELPERS = 4
MAX_ENTERED = 8  # context managers of the project, one in the other


class Event:
    """One call that runs, or one assignment to a `.grad` or `del` of it (then `method` is empty). `loops` and `tests`
    are what lies around it inside the body that was asked about, outermost first."""

    __slots__ = ("value", "loops", "tests", "via", "is_followed")

    def __init__(self, value: Value, loops: tuple, tests: tuple, via: tuple):
        self.value = value
        self.loops = loops
        self.tests = tests  # (test expression as a Value, its truth), also the handler of an error
        self.via = via  # the calls of helpers through which it was reached
        self.is_followed = True  # is what it calls of the project among the events? Not behind too many helpers

    @property
    def node(self) -> ast.Call:
        return self.value.node

    @property
    def names(self) -> frozenset[str]:
        """What it calls of libraries: `torch.log`, `.step`."""
        return frozenset() if self.stores_grad else frozenset(c.name for c in callees(self.value) if c.name)

    @property
    def stores_grad(self) -> bool:
        return not isinstance(self.node, ast.Call)

    @property
    def here(self) -> ast.AST:
        """The node in the body that was asked about: this call, or the call of the helper that led to it."""
        return self.via[0].node if self.via else self.node

    @property
    def no_grad(self) -> bool:
        """Under `no_grad` here, or in a helper that was called under it."""
        return any(under_no_grad(place.module, place.node, 0) for place in (self.value, *self.via))

    @property
    def module(self) -> Module:
        return self.value.module

    @property
    def receiver(self) -> Value | None:
        func = getattr(self.node, "func", None)
        if isinstance(func, ast.Attribute):
            return self.value.at(func.value, ())
        bound = self._bound(func)
        return bound[0].receiver if len(bound) == 1 else None

    @property
    def method(self) -> str:
        """The word after the last dot of what is called."""
        func = getattr(self.node, "func", None)
        if isinstance(func, ast.Attribute):
            return func.attr
        bound = {callee.name[1:] for callee in self._bound(func)}
        return bound.pop() if len(bound) == 1 else ""

    def _bound(self, func: ast.expr | None) -> list[Callee]:
        """The methods that a variable holds: `clear = optimizer.zero_grad; clear()`."""
        if not isinstance(func, ast.Name) or func.at.lookup(func.id) is None:
            return []
        found = callees(self.value)
        return found if all(callee.kind == "method" for callee in found) else []

    @property
    def helpers(self) -> list[ast.AST]:
        """The functions through which it was reached."""
        found, frame = [], self.value.frame if self.via else None
        while frame is not None:
            found.append(frame.function)
            frame = frame.call.frame if frame.call else None
        return found

    def __repr__(self) -> str:
        return f"<Event {ast.unparse(self.node)[:60]} line {self.node.lineno}>"


@remembered
def events(module: Module, body: list[ast.stmt], frame: LookedThrough | None = None) -> list[Event]:
    """The calls of some statements in the order they run.

    Calls of functions of the project are followed by what those call.
    """
    found: list[Event] = []
    _Unroller(found, module, frame).block(body, (), ())
    return found


@remembered
def own_events(module: Module, body: list[ast.stmt]) -> list[Event]:
    """The calls that stand in some statements themselves, in the order they run: what they lead to may be a whole
    trainer, which is not worth following where nothing in them is of interest.
    """
    found: list[Event] = []
    _Unroller(found, module, None, follows=False).block(body, (), ())
    return found


def iterations(module: Module, body: list[ast.stmt]) -> list[Value]:
    """The iterables of the loops that some statements run, those of helpers included."""
    found: dict[tuple, Value] = {}
    frames = {id(None): (module, None, body)}
    for event in events(module, body):
        if event.via:
            frames[id(event.value.frame)] = (
                event.module,
                event.value.frame,
                [event.value.frame.function] if event.value.frame else [],
            )
    for home, frame, code in frames.values():
        for statement in code:
            for node in home.index.inside(statement, ast.For, ast.AsyncFor, ast.comprehension):
                value = Value(home, iterated(node), frame)
                found.setdefault(value.key, value)
    return list(found.values())


def iterated(loop: ast.For | ast.AsyncFor | ast.comprehension) -> ast.expr:
    """`loader` of `enumerate(tqdm(loader))`."""
    node = loop.iter
    while (
        isinstance(node, ast.Call)
        and node.args
        and last_word(node.func) in ("enumerate", "tqdm", "iter", "zip", "track", "islice")
    ):
        node = node.args[0]
    return node


def may_call(module: Module, body: list[ast.stmt], *words: str) -> bool:
    """Can calls of all these words happen in some statements, as far as names tell? It saves unrolling what cannot
    matter.
    """
    if not all(word in UNWRITTEN or _is_said(module, word) for word in words):
        return False  # before the files are parsed that say only the others
    code = [statement for statement in body if not isinstance(statement, DEFINITIONS)]
    imports = tuple(imports_saying(module, words))
    return all(_leads(module, code, leading_to(module, imports, frozenset((word,)))) for word in words)


@remembered
def _is_said(module: Module, word: str) -> bool:
    """Does a word stand in the file, or in one that it imports?"""
    return module.index.says(word) or module.world.view.project.is_in_one(word, module.imported_paths())


def may_mention(module: Module, body: list[ast.AST], words: frozenset[str]) -> bool:
    """Does one of these words stand in some code, or in a function that it may call?"""
    return _leads(module, body, leading_to(module, tuple(imports_saying(module, tuple(sorted(words)))), words))


def may_call_here(module: Module, body: list[ast.AST], words: frozenset[str]) -> bool:
    """Does one of these words stand in the code itself?"""
    return _leads(module, body, words)


def reaches(module: Module, body: list[ast.AST], functions: list[ast.AST], homes: tuple[Module, ...] = ()) -> bool:
    """May some statements call one of these functions, through others of the file and of some of its imports, as far as
    names tell?
    """
    code = [statement for statement in body if not isinstance(statement, DEFINITIONS)]
    return _leads(module, code, leading_to(module, homes, frozenset(function.name for function in functions)))


def _leads(module: Module, body: list[ast.AST], words: frozenset[str]) -> bool:
    """Does one of these words stand in some code? Objects may be called or made anywhere."""
    return bool(body) and (not words.isdisjoint(UNWRITTEN) or any(module.index.stands(words, node) for node in body))


@remembered
def leading_to(module: Module, imports: tuple[Module, ...], words: frozenset[str]) -> frozenset[str]:
    """These words, and the names of functions in a file and some of its imports that mention one of them, or a function
    that does, and so on.

    Backwards from the words, because every class has an `__init__`: forwards, each statement leads through the whole
    file.
    """
    homes = (module, *imports)
    found, todo = set(words), list(words)
    while todo:
        word = todo.pop()
        for home in homes:
            new = home.index.users(word) - found
            found |= new
            todo += new
        if not todo and "getattr" not in found and any(_may_call(home, homes, found - words) for home in homes):
            found.add("getattr")
            todo = ["getattr"]
    return frozenset(found)


def _may_call(home: Module, homes: tuple[Module, ...], names: set[str]) -> bool:
    """Does a file call methods by names that are handed on, of which a text says one?"""
    if not _calls_by_name(home):
        return False
    return any(f'"{name}"' in each.index.text or f"'{name}'" in each.index.text for each in homes for name in names)


@remembered
def _calls_by_name(module: Module) -> bool:
    """`getattr(hook, event)(self)`: where methods are called so, their names stand in texts."""
    return any(
        isinstance(asked.up, ast.Call)
        and asked.up.func is asked
        and bool(asked.args)
        and external_name(Value(module, asked.args[0])) is None
        for asked in module.index.callers("getattr")
    )


@remembered
def imports_saying(module: Module, words: tuple[str, ...]) -> list[Module]:
    """The imported files in whose text one of the words stands; the others are not even parsed."""
    project = module.world.view.project
    return [
        home
        for path in module.imported_paths()
        if any(project.contains(path, word) for word in words) and (home := module.world.module(path))
    ]


def says(definition: Value, word: str, helpers: int) -> bool:
    """Does a word stand in a definition, or in a function that it calls through so many others?"""
    module, node = definition.module, definition.node
    if module.index.stands(frozenset((word,)), node):
        return True
    calls = [Value(module, call) for call in module.index.inside(node, ast.Call)] if helpers else []
    return any(
        callee.function is not None and says(Value(callee.module, callee.function), word, helpers - 1)
        for call in calls
        for callee in callees(call)
    )


def _may_be_ours(module: Module, func: ast.expr) -> bool:
    """May a call lead into the project? Most calls say by their name that they do not."""
    if isinstance(func, ast.Name):
        return func.at.lookup(func.id) is not None
    return not isinstance(func, ast.Attribute) or may_be_ours(module, func.attr)


def _under(tests: tuple, test: Value, truth: bool) -> tuple:
    return (*tests[-MAX_TESTS:], (test, truth))


class _Unroller:
    """Writes what runs into `found`, until there is enough of it."""

    def __init__(
        self, found: list[Event], module: Module, frame: LookedThrough | None, via: tuple = (), follows: bool = True
    ):
        self.found = found
        self.module = module
        self.frame = frame
        self.via = via
        self.follows = follows  # what functions of the project do
        self.entered = 0  # the context managers of the project around
        self.at_yield: _Block | None = None

    def block(self, body: list[ast.stmt], loops: tuple, tests: tuple) -> None:
        for statement in body:
            if len(self.found) >= MAX_EVENTS:
                return
            self.statement(statement, loops, tests)

    def statement(self, node: ast.stmt, loops: tuple, tests: tuple) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return
        if isinstance(node, ast.If):
            while True:
                self.expression(node.test, loops, tests)
                holds = decided(self.at(node.test))
                if holds is not False:
                    self.block(node.body, loops, _under(tests, self.at(node.test), True))
                if holds:
                    return
                tests = _under(tests, self.at(node.test), False)
                if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                    break
                node = node.orelse[0]  # a chain of `elif` may be long
            self.block(node.orelse, loops, tests)
        elif isinstance(node, LOOPS):
            self.expression(node.test if isinstance(node, ast.While) else node.iter, loops, tests)
            self.block(node.body, (*loops, node), tests)
            self.block(node.orelse, loops, tests)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            self.contexts([item.context_expr for item in node.items], node.body, loops, tests)
        elif isinstance(node, ast.Try):
            self.block(node.body, loops, tests)
            for handler in node.handlers:
                self.block(handler.body, loops, _under(tests, self.at(handler), True))
            self.block(node.orelse, loops, tests)
            self.block(node.finalbody, loops, tests)
        elif isinstance(node, ast.Match):
            self.expression(node.subject, loops, tests)
            for case in node.cases:
                self.block(case.body, loops, _under(tests, self.at(node.subject), True))
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            if node.value is not None:
                self.expression(node.value, loops, tests)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Attribute) and target.attr == "grad" for target in targets):
                self.found.append(Event(self.at(node), loops, tests, self.via))
            for target in targets if self.follows and self.module.index.says(".setter") else ():
                self._set(target, loops, tests)
            self._pause(node.value)
        elif isinstance(node, ast.Delete):
            if any(isinstance(target, ast.Attribute) and target.attr == "grad" for target in node.targets):
                self.found.append(Event(self.at(node), loops, tests, self.via))
        else:
            self.expression(node, loops, tests)
            self._pause(getattr(node, "value", None))

    def contexts(self, managers: list[ast.expr], body: list[ast.stmt], loops: tuple, tests: tuple) -> None:
        """What `with` runs: what the managers do first, the block, what they do at the end."""
        for place, manager in enumerate(managers):
            if self.follows and self.entered < MAX_ENTERED and self._may_be_managed(manager):
                self.entered += 1
                self._managed(manager, managers[place + 1 :], body, loops, tests)
                self.entered -= 1
                return
            self.expression(manager, loops, tests)
        self.block(body, loops, tests)

    def _may_be_managed(self, manager: ast.expr) -> bool:
        return not isinstance(manager, ast.Call) or _may_be_ours(self.module, manager.func)

    def _managed(
        self, manager: ast.expr, others: list[ast.expr], body: list[ast.stmt], loops: tuple, tests: tuple
    ) -> None:
        block = _Block(lambda: self.contexts(others, body, loops, tests))
        if isinstance(manager, ast.Call):
            for part in children(manager):
                self.expression(part, loops, tests)
            self.call(manager, loops, tests, block)
        else:
            self.expression(manager, loops, tests)
        value = self.at(manager)
        owners = [(owner, made) for made in objects(value) if (owner := instance_class(made)) is not None]
        for owner, made in owners:
            self._special(owner.method("__enter__"), made, value, loops, tests)
        block.run()
        for owner, made in owners:
            self._special(owner.method("__exit__"), made, value, loops, tests)

    def _set(self, target: ast.expr, loops: tuple, tests: tuple) -> None:
        """What a property of the project does with what it is given."""
        for made in objects(self.at(target.value)) if isinstance(target, ast.Attribute) else ():
            owner = instance_class(made)
            if owner is not None:
                self._special(owner.setter(target.attr), made, self.at(target), loops, tests)

    def _special(self, method: Method | None, me: Value, value: Value, loops: tuple, tests: tuple) -> None:
        """A method that Python calls, and gives what the program does not say."""
        if method is None or len(self.via) >= MAX_HELPERS or len(self.found) >= MAX_EVENTS:
            return
        if not self._is_inside(method.node):
            frame = frame_of(value.module, method.node, None, me)
            _Unroller(self.found, method.module, frame, (*self.via, value)).block(method.node.body, loops, tests)

    def _pause(self, node: ast.AST | None) -> None:
        """At the `yield` of a context manager its block runs."""
        if self.at_yield is not None and isinstance(node, ast.Yield):
            self.at_yield.run()

    def at(self, node: ast.AST) -> Value:
        return Value(self.module, node, self.frame)

    def expression(self, node: ast.AST, loops: tuple, tests: tuple) -> None:
        """Calls in the order of evaluation: arguments before the call."""
        todo = [(node, loops, tests, False)]
        while todo:
            node, loops, tests, is_evaluated = todo.pop()
            plain = [node] if is_evaluated else self.module.index.calls_in_order(node)
            if plain is not None:
                for call in plain:
                    self.call(call, loops, tests)
            elif isinstance(node, ast.IfExp):
                yes, no = _under(tests, self.at(node.test), True), _under(tests, self.at(node.test), False)
                todo += (
                    (node.orelse, loops, no, False),
                    (node.body, loops, yes, False),
                    (node.test, loops, tests, False),
                )
            elif not isinstance(node, FUNCTIONS):
                if isinstance(node, ast.Call):
                    todo.append((node, loops, tests, True))
                inner = (*loops, node) if isinstance(node, COMPREHENSIONS) else loops
                todo += reversed([(child, inner, tests, False) for child in children(node)])

    def call(self, node: ast.Call, loops: tuple, tests: tuple, block: _Block | None = None) -> None:
        value = Value(self.module, node, self.frame)
        event = Event(value, loops, tests, self.via)
        self.found.append(event)
        if not self.follows or len(self.found) >= MAX_EVENTS:
            return
        # Who begins may hand in what the file that calls it does not know: `hook.on_end(model)`.
        homes = (self.module, *(way.module for way in self.via[:1]))
        if not any(_may_be_ours(home, node.func) for home in homes):
            return
        for callee in called(value):
            if block is None and callee.function is not None and has_decorator(callee.function, *CONTEXT_MANAGERS):
                event.is_followed = False  # what is made runs when somebody enters it
                continue
            event.is_followed &= callee.function is None or len(self.via) < MAX_HELPERS
            inner = self._inside(callee, value)
            if inner:
                inner.at_yield = block
                body = callee.function.body
                if isinstance(callee.function, ast.Lambda):
                    inner.expression(body, loops, tests)
                else:
                    inner.block(body, loops, tests)
            elif callee.kind == "method" and callee.name == ".step" and node.args:  # optimizer.step(closure)
                for origin in origins(value.at(node.args[0], ())):
                    if isinstance(origin.node, (ast.FunctionDef, ast.Lambda)) and len(self.via) < MAX_HELPERS:
                        unroller = _Unroller(self.found, origin.module, self.frame, (*self.via, value))
                        body = origin.node.body
                        (
                            unroller.block(body, loops, tests)
                            if isinstance(body, list)
                            else unroller.expression(body, loops, tests)
                        )

    def _inside(self, callee: Callee, value: Value) -> _Unroller | None:
        if callee.kind not in ("function", "object") or callee.function is None or len(self.via) >= MAX_HELPERS:
            return None
        if callee.kind == "object" and callee.owner.is_module:
            return None  # a forward computes; it neither trains nor changes modes
        if self._is_inside(callee.function):
            return None
        frame = frame_of(value.module, callee.function, value, callee.instance, callee.closure)
        return _Unroller(self.found, callee.module, frame, (*self.via, value))

    def _is_inside(self, function: ast.AST) -> bool:
        above = self.frame
        while above:
            if above.function is function:
                return True
            above = above.call.frame if above.call else None
        return False


class _Block:
    """What runs once, in the middle of something else."""

    def __init__(self, code: Callable[[], None]):
        self._code: Callable[[], None] | None = code

    def run(self) -> None:
        code, self._code = self._code, None
        if code is not None:
            code()
