"""The program's own functions and classes: real Python functions and types whose bodies are interpreted."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from functools import cached_property
from typing import Any

from torchlint.gaps import is_unwritten
from torchlint.shapes.core.budget import Work, work
from torchlint.shapes.core.named_axes import Axes
from torchlint.shapes.core.values import Exhausted, Stop, Unknown, unknown_in
from torchlint.shapes.language import statements, written
from torchlint.shapes.language.cut_short import is_open
from torchlint.shapes.language.expressions import expression
from torchlint.shapes.language.program import CompiledScope, Frame, gives_value, has_yield, price_of
from torchlint.shapes.language.several import in_order
from torchlint.shapes.language.touching import words_in

ENOUGH_YIELDS = 64
RECURSION = 12  # calls of a function within itself, if it is given something unknown: who knows where it would end


class _EnoughYields(Stop):
    """A generator gave as many items as a dry run looks at."""


class ArgumentError(TypeError):
    """A call that does not fit the parameters of a function of the program; `code` is that function's."""

    def __init__(self, message: str, code: Code):
        super().__init__(message)
        self.code = code


class Code:
    """What a `def` or lambda compiles to; its body is compiled when it is first called."""

    def __init__(self, node, scope: CompiledScope):
        self.node = node
        self.name = getattr(node, "name", "<lambda>")
        arguments = node.args
        self.positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        self.only_named = [a.arg for a in arguments.kwonlyargs]
        self.nameable = {a.arg for a in (*arguments.args, *arguments.kwonlyargs)}  # all but those before a `/`
        self.rest = arguments.vararg.arg if arguments.vararg else None
        self.named_rest = arguments.kwarg.arg if arguments.kwarg else None
        self.path = scope.program.path
        self.place = scope.place(node)
        self.doc = None if isinstance(node, ast.Lambda) else ast.get_docstring(node)
        self.parent = scope
        self.running = 0  # calls of it that have not returned
        self.cut = False  # whether one within these was not made, as nobody knows where they would end
        self._names = {a.arg: a for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        self._run: Callable[[Frame], Any] | None = None
        self._generator = False

    @property
    def run(self) -> Callable[[Frame], Any]:
        if self._run is None:
            parameters = {*self._names, self.rest, self.named_rest} - {None}
            if isinstance(self.node, ast.Lambda):
                scope = CompiledScope(
                    "function", [self.node.body], self.parent, self.parent.program, parameters, self.name
                )
                value = expression(self.node.body, scope)

                price = price_of([self.node.body])

                def run(frame):
                    work.spend(price)
                    frame.returned = value(frame)

                self._run = run
                self._generator = False
            else:
                scope = CompiledScope(
                    "function", self.node.body, self.parent, self.parent.program, parameters, self.name
                )
                self._generator = has_yield(self.node.body)
                self._run = _left_open if is_unwritten(self.node) else statements.block(self.node.body, scope)
                watch = self.parent.program.watch
                if watch is not None:
                    self._run = watch.body(self.node, self._run, self.positional, self.parent.program)
        return self._run

    @cached_property
    def gives_nothing(self) -> bool:
        """Whether it ends without any value."""
        return isinstance(self.node, ast.FunctionDef) and not gives_value(self.node.body)

    def may_fall_through(self, machine: Any) -> bool:
        """Whether it may come to its end without a `return` wherever the program is started, and however."""
        is_here_only = machine.environment or machine.counted_gpus or machine.starts.leaves_out or not machine.cuda
        return isinstance(self.node, ast.FunctionDef) and not is_here_only

    @cached_property
    def words(self) -> frozenset[str]:
        """The words that stand in it."""
        words = words_in(self.node)
        work.spend(1 + len(words) // Work.NODES)
        return words

    @cached_property
    def written(self) -> written.WrittenShapes | None:
        """The shapes that its author wrote beside what it takes and gives."""
        return written.signature(self.node, self.parent.program)

    @cached_property
    def beside(self) -> dict[str, Axes]:
        """By parameter: the shape that a comment or the docstring says it has."""
        return written.beside(self.node, self.parent.program)

    @property
    def annotations(self) -> dict[str, ast.expr]:
        a = self.node.args
        return {p.arg: p.annotation for p in (*a.posonlyargs, *a.args, *a.kwonlyargs) if p.annotation}


def _left_open(frame: Frame) -> None:
    frame.returned = Unknown("what is left to whoever does the exercise")


class Closure:
    """A function of the program: its code, the frame it was defined in, its defaults."""

    __slots__ = ("code", "frame", "defaults", "named_defaults")

    def __init__(self, code: Code, frame: Frame, defaults: tuple, named_defaults: dict[str, Any]):
        self.code = code
        self.frame = frame
        self.defaults = defaults
        self.named_defaults = named_defaults

    def bind(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Arguments by name, or Python's TypeError. A `*` among the keywords fills what is missing with its unknown."""
        code = self.code
        names = code.positional
        count = len(args)
        if count == len(names) and not kwargs and not code.only_named:
            bound = dict(zip(names, args))
            if code.rest:
                bound[code.rest] = ()
            if code.named_rest:
                bound[code.named_rest] = {}
            return bound
        first_default = len(names) - len(self.defaults)
        if not kwargs and first_default <= count <= len(names) and not code.only_named:
            if code not in self.frame.machine.loosened:
                bound = dict(zip(names, args))
                if code.rest:
                    bound[code.rest] = ()
                if code.named_rest:
                    bound[code.named_rest] = {}
                bound.update(zip(names[count:], self.defaults[count - first_default :]))
                return bound
        unknown = kwargs.pop("*", None)
        if unknown is None and code in self.frame.machine.loosened:
            unknown = Unknown("an argument that a decorator may give")
        bound = dict(zip(names, args))
        if code.rest:
            bound[code.rest] = tuple(args[len(names) :])
            if unknown is not None and count >= len(names):
                bound[code.rest] = unknown
        elif count > len(names):
            raise ArgumentError(
                f"{code.name}() takes {len(names)} positional argument{'s' * (len(names) != 1)} but {count} were given",
                code,
            )
        extra = {}
        for name, value in kwargs.items():
            if name in code.nameable:
                if name in bound:
                    raise ArgumentError(f"{code.name}() got multiple values for argument '{name}'", code)
                bound[name] = value
            elif code.named_rest:
                extra[name] = value
            else:
                raise ArgumentError(f"{code.name}() got an unexpected keyword argument '{name}'", code)
        if code.named_rest:
            bound[code.named_rest] = extra
            if unknown is not None:
                self.frame.machine.changes.loosen(extra)
        missing = []
        for position, name in enumerate(names[count:], count):
            if name not in bound:
                if position >= first_default:
                    value = self.defaults[position - first_default]
                    bound[name] = value if unknown is None else self._default(value, name)
                elif unknown is not None:
                    bound[name] = unknown
                else:
                    missing.append(name)
        for name in code.only_named:
            if name not in bound:
                if name in self.named_defaults:
                    value = self.named_defaults[name]
                    bound[name] = value if unknown is None else self._default(value, name)
                elif unknown is not None:
                    bound[name] = unknown
                else:
                    missing.append(name)
        if missing:
            raise ArgumentError(
                f"{code.name}() missing {len(missing)} required positional argument{'s' * (len(missing) != 1)}: "
                + " and ".join(f"'{m}'" for m in missing),
                code,
            )
        return bound

    def _default(self, value: Any, name: str) -> Any:
        """A default where another value may be given under a name that nobody knows: it is likely, not certain."""
        self.frame.machine.presume(self.code._names[name])
        return value

    def _recurs(self, args: tuple) -> bool:
        """Whether the function calls itself again and again, which may depend on values that nobody knows."""
        machine = self.frame.machine
        known = unknown_in(args) is None and not any(map(is_open, args))
        if known and (machine.budget.depth < 3 * RECURSION or not any(map(machine.is_tensor, args))):
            return False
        code = self.code
        code.cut |= code.running >= RECURSION
        return code.cut and code.running > 0

    def call(self, args: tuple, kwargs: dict[str, Any], inside: list | None = None) -> Any:
        """Run the body; `inside` takes what a generator yields while it runs."""
        code, machine = self.code, self.frame.machine
        run = code.run
        frame = Frame(self.bind(args, kwargs), self.frame, self.frame.globals, machine, code)
        budget = machine.budget
        budget.spend(2, Work.FUNCTION + (budget.depth >> Work.DEEPER))
        if (budget.depth >= RECURSION or code.cut) and self._recurs((*args, *frame.vars.values())):
            made = machine.changes.recursion(args)
            if code.name != "__init__" or not args:
                return made
            machine.set_somewhere(args[0], made)  # an object that is never made to its end
            return None
        if budget.depth >= budget.DEPTH:
            raise Exhausted("its functions call each other too deeply")
        budget.depth += 1
        code.running += 1
        caller = machine.place
        machine.stack.append((code, caller))
        machine.entered.add(code.node)
        try:
            names = machine.as_written(code, frame) if code.written is not None else None
            if code._generator:
                frame.yields = [] if inside is None else inside
                try:
                    run(frame)
                except _EnoughYields:
                    return machine.changes.short(frame.yields)
                finally:
                    if inside is None:
                        machine.changes.give_at_once(frame.yields)
                return iter(frame.yields)
            run(frame)
            if frame.returned is None and (code.gives_nothing or frame.left is None and code.may_fall_through(machine)):
                machine.nothing[caller] = code
            elif caller in machine.nothing:  # it gave nothing the last time
                del machine.nothing[caller]
            if names is not None:
                machine.returns_as_written(code, frame.returned, names)
            return frame.returned
        except Exception as error:
            work.used += Work.RAISED
            if machine.last_error is not error:
                machine.last_error, machine.last_place = error, machine.place
            raise
        finally:
            budget.depth -= 1
            code.running -= 1
            code.cut = code.cut and code.running > 0
            machine.stack.pop()
            machine.place = caller


def yielded(frame: Frame, value: Any) -> None:
    """Keep what a generator yields; generators run to their end at once."""
    while frame.yields is None:
        frame = frame.parent
    frame.yields.append(value)
    if len(frame.yields) >= ENOUGH_YIELDS:
        raise _EnoughYields


def _function_of(closure: Closure):
    def function(*args, **kwargs):
        return closure.call(args, kwargs)

    return function


_TEMPLATE = _function_of(None).__code__


def closure_of(value: Any) -> Closure | None:
    """The closure in a function of the program (or in a method of one); None for every other value."""
    if type(value) is types.MethodType:
        value = value.__func__
    if type(value) is types.FunctionType and value.__code__ is _TEMPLATE:
        return value.__closure__[0].cell_contents
    return None


def required(node: ast.FunctionDef) -> list[str]:
    """The parameters that a call of a function must give."""
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    named = [a.arg for a, default in zip(node.args.kwonlyargs, node.args.kw_defaults) if default is None]
    return [*names[: len(names) - len(node.args.defaults)], *named]


def compile_function(node, scope: CompiledScope) -> Callable[[Frame], Any]:
    """The closure that makes a function when its `def` is reached."""
    if scope.program.has_gap(node):
        return lambda frame: Unknown("a function with a gap")
    code = Code(node, scope)
    arguments = node.args
    defaults = in_order([expression(d, scope) for d in arguments.defaults])
    named = [(a.arg, expression(d, scope)) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d]

    def make(frame):
        frame.machine.budget.spend(5)
        closure = Closure(code, frame, tuple(defaults(frame)), {n: d(frame) for n, d in named} if named else {})
        function = _function_of(closure)
        function.__name__ = code.name
        function.__qualname__ = code.name if frame.code is None else f"{frame.code.name}.{code.name}"
        function.__module__ = frame.globals.get("__name__")
        function.__doc__ = code.doc
        return function

    return make


class ClassCode:
    """A class statement; its name stands in qualified names of what is defined in its body."""

    __slots__ = ("name", "node", "path", "place", "body", "doc")

    def __init__(self, node: ast.ClassDef, scope: CompiledScope):
        self.name = node.name
        self.node = node
        self.doc = ast.get_docstring(node)
        self.path = scope.program.path
        self.place = scope.place(node)
        inner = CompiledScope("class", node.body, scope, scope.program, name=node.name)
        self.body = statements.block(node.body, inner)


def compile_class(node: ast.ClassDef, scope: CompiledScope) -> Callable[[Frame], Any]:
    """The closure that makes a type when its `class` statement is reached."""
    if scope.program.has_gap(node):
        return lambda frame: Unknown("a class with a gap")
    code: ClassCode | None = None
    bases = [expression(b.value if isinstance(b, ast.Starred) else b, scope) for b in node.bases]
    keywords = [(k.arg, expression(k.value, scope)) for k in node.keywords if k.arg]

    def make(frame):
        nonlocal code
        if code is None:
            code = ClassCode(node, scope)
        inside = Frame({}, frame, frame.globals, frame.machine, code)
        code.body(inside)
        known = [b(frame) for b in bases]
        frame.machine.place = code.place
        made = frame.machine.make_class(code, known, inside.vars, {n: v(frame) for n, v in keywords})
        inside.cls = made
        return made

    return make


def lexical_class(frame: Frame) -> tuple[type, Any]:
    """The class whose body a frame stands in, and the first argument of the method: what `super()` needs."""
    method = frame
    while frame is not None:
        if frame.cls is not None:
            code = method.code
            first = code.positional[0] if isinstance(code, Code) and code.positional else None
            return frame.cls, method.vars.get(first)
        method, frame = frame, frame.parent
    raise RuntimeError("super(): no arguments")
