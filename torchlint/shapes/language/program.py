"""One source file as the interpreter sees it: its tree, its spans, and which names live in which scope."""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import Any

from torchlint.columns import Columns, lines_with_ends
from torchlint.finding import Span
from torchlint.gaps import GIVES, Gaps
from torchlint.shapes.core.budget import Work
from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language import written
from torchlint.shapes.language.private_names import mangle
from torchlint.shapes.language.walking import children, walk
from torchlint.syntax import syntax_tree

Place = tuple[str, Span]
_SHAPE_COMMENT = re.compile(r"#[ \t]*([\[(][^()\[\]#\r\n]{1,80}[\])])[ \t]*$", re.MULTILINE)

_MAY_DEFINE = re.compile(
    r"\b(globals|locals|vars|exec|execfile)\s*\(|builtins|sys\.modules|^[ \t\f]*[%!]", re.MULTILINE
)
# Those of Python 2, which the program may have been written for, and of what starts it.
_NAMES = frozenset(dir(builtins)).union(
    "xrange raw_input unicode basestring long reduce unichr file cmp execfile reload buffer apply intern"
    " get_ipython display profile spark sc dbutils WindowsError _".split()
)

_LATER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Program:
    """A parsed file. `place(node)` says where a node stands; `body` caches what the module's statements compile to in
    their `scope`.

    `watch` sees what its expressions come to; None if nobody wants to know.
    """

    def __init__(self, path: str, text: str, tree: ast.Module, watch: Any = None):
        self.path = path
        self.tree = tree
        self.doc = ast.get_docstring(tree, clean=False)
        self.watch = watch
        self.body: list | None = None
        self.scope: CompiledScope | None = None
        self.taken_at_once: set[ast.AST] = (
            set()
        )  # generators of items all of which are taken before anything else is done
        self._gaps = Gaps(text, path)
        self._text = text
        self._columns = None if text.isascii() else Columns(lines_with_ends(text))

    def span(self, node: ast.AST) -> Span:
        end = node.end_lineno or node.lineno
        if self._columns is None:
            return Span(node.lineno, node.col_offset + 1, end, node.end_col_offset + 1)
        column, end_column = self._columns.of(node.lineno, node.col_offset), self._columns.of(end, node.end_col_offset)
        return Span(node.lineno, column, end, end_column)

    def has_gap(self, node: ast.AST) -> bool:
        """Whether something in it is left to whoever does the exercise: nobody knows what it will do."""
        return self._gaps.is_in(node)

    def place(self, node: ast.AST) -> Place:
        return (self.path, self.span(node))

    def says(self, pattern: str) -> bool:
        """Whether its text matches a regular expression somewhere."""
        return re.search(pattern, self._text) is not None

    def written_as(self, pattern: str) -> set[str]:
        """What the group of a regular expression is where that matches its text."""
        return set(re.findall(pattern, self._text))

    def line(self, number: int) -> str:
        """A line of its text, as Python counts them."""
        return self._lines[number - 1] if number <= len(self._lines) else ""

    @cached_property
    def asks_its_name(self) -> bool:
        """Whether it does other things when it is started than when it is imported."""
        return "__main__" in self._text

    @cached_property
    def read_anyhow(self) -> frozenset[str]:
        """The names that are read when the file is started, on whichever way: no condition, loop or function around."""
        stack: list[ast.AST] = [*self.tree.body]
        found: set[str] = set()
        while stack:
            match stack.pop():
                case ast.Name(id=name, ctx=ast.Load()):
                    found.add(name)
                case ast.If(test=ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()]), body=body):
                    stack += body
                case ast.BoolOp(values=[first, *_]):
                    stack.append(first)
                case ast.IfExp(test=test):
                    stack.append(test)
                case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Expr() as plain:
                    stack += children(plain)
                case ast.expr() | ast.keyword() as part if not isinstance(part, _LATER):
                    stack += children(part)
        return frozenset(found)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All of its nodes, as `walk` finds them: whoever looks for one kind or another need not walk again."""
        return list(walk(self.tree))

    @cached_property
    def taken_if_there(self) -> frozenset[str]:
        """The names that a `try` imports: what they are without it is not what they are for everybody."""
        tried = (part for node in self.nodes if isinstance(node, ast.Try) for part in node.body)
        imports = (part for part in tried if isinstance(part, (ast.Import, ast.ImportFrom)))
        return frozenset(alias.asname or alias.name.split(".")[0] for part in imports for alias in part.names)

    def may_define(self, name: str) -> bool:
        """May a global name mean something here: by the file's own words, as a name of Python, or of what runs it?"""
        return self._defined is None or name in self._defined or name in _NAMES or name.startswith("__")

    @cached_property
    def given_first(self) -> dict[str, ast.stmt]:
        """The first of the file's own statements that gives each name a value, where only these do."""
        if any(alias.name == "*" for node in self.imports for alias in node.names) or _MAY_DEFINE.search(self._text):
            return {}
        if GIVES in self._text or "magic" in self._text and "get_ipython" in self._text:
            return {}
        found: dict[str, ast.stmt] = {}
        for statement in reversed(self.tree.body):
            found |= dict.fromkeys(CompiledScope("function", [statement], None, self).bound, statement)
        within = {name for node in self.nodes if isinstance(node, ast.Global) for name in node.names}
        return {name: statement for name, statement in found.items() if name not in within}

    @cached_property
    def _defined(self) -> frozenset[str] | None:
        """The names that the file gives a value; None where others may be given."""
        stars = any(alias.name == "*" for node in self.imports for alias in node.names)
        if stars or self.path.endswith(".ipynb") or _MAY_DEFINE.search(self._text):
            return None
        outer = CompiledScope("function", self.tree.body, None, self)
        within = (name for node in self.nodes if isinstance(node, ast.Global) for name in node.names)
        return frozenset(outer.bound.union(outer.globals, within))

    def is_fallback(self, node: ast.AST) -> bool:
        """Does something stand where a module could not be imported? Whoever has it runs something else."""
        return any(first <= node.lineno <= last for first, last in self._fallbacks)

    @cached_property
    def _fallbacks(self) -> list[tuple[int, int]]:
        return [
            (handler.lineno, handler.end_lineno or handler.lineno)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Try) and any(isinstance(s, (ast.Import, ast.ImportFrom)) for s in node.body)
            for handler in node.handlers
        ]

    @cached_property
    def _lines(self) -> list[str]:
        return lines_with_ends(self._text)

    @cached_property
    def shape_comments(self) -> dict[int, str]:
        """By line: a comment that may be a shape."""
        found = {}
        if _SHAPE_COMMENT.search(self._text):
            for number, line in enumerate(self._lines, 1):
                comment = _SHAPE_COMMENT.search(line)
                if comment:
                    found[number] = comment.group(1).strip()
        return found

    @cached_property
    def written_names(self) -> dict[str, str]:
        """What it calls the words of jaxtyping."""
        return written.names_of(self.imports) if "jaxtyping" in self._text else {}

    @cached_property
    def aliases(self) -> dict[str, ast.Subscript]:
        """What it calls its annotations."""
        return written.aliases_of(self.tree)

    @cached_property
    def expressions(self) -> dict[int, list[ast.expr]]:
        """The expressions that begin in a line, and `x += y`, which computes too; the outermost first."""
        found: dict[int, list[ast.expr]] = defaultdict(list)
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.expr, ast.AugAssign)):
                found[node.lineno].append(node)
        return dict(found)

    @cached_property
    def calls_of_names(self) -> dict[str, list[ast.Call]]:
        """The calls that are assigned to a variable alone, in the order of their lines."""
        found: dict[str, list[ast.Call]] = defaultdict(list)
        for node in self.nodes:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1:
                if isinstance(node.targets[0], ast.Name):
                    found[node.targets[0].id].append(node.value)
        return {name: sorted(calls, key=lambda call: call.lineno) for name, calls in found.items()}

    @cached_property
    def annotations(self) -> dict[str, Counter[str]]:
        """By the names of parameters: the names that annotate them, and how often."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for node in self.nodes:
            if isinstance(node, ast.arg) and isinstance(node.annotation, ast.Name):
                found[node.arg][node.annotation.id] += 1
        return dict(found)

    @cached_property
    def imports(self) -> list[ast.Import | ast.ImportFrom]:
        """Its imports, wherever they stand."""
        return [node for node in self.nodes if isinstance(node, (ast.Import, ast.ImportFrom))]


KEPT = 8_000_000  # characters of source whose trees and closures are kept; each costs a hundred bytes or more
_programs: OrderedDict[str, tuple[str, Program]] = OrderedDict()
_held = 0  # characters of these


def load(path: str, text: str, watch: Any = None) -> Program:
    """The program in a text; parsed and compiled once per worker, however many files import it. Raises SyntaxError.
    The tree is its own: rules write into theirs, and take it apart.

    Of a file only the last text is kept: an editor sends a new one with every key. One that is watched is always new.
    """
    global _held
    if watch is None and path in _programs and _programs[path][0] == text:
        _programs.move_to_end(path)
        return _programs[path][1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in strings are not our business
        program = Program(path, text, syntax_tree(text), watch)
        mangle(program.tree, text)
    if path in _programs:
        _held -= len(_programs[path][0])
    _programs[path] = (text, program)
    _programs.move_to_end(path)
    _held += len(text)
    while _held > KEPT and len(_programs) > 1:
        _held -= len(_programs.popitem(last=False)[1][0])
    return program


class Frame:
    """The names of one running scope.

    `parent` is the frame it was defined in, `cls` the class that a class body became.
    """

    __slots__ = ("vars", "parent", "globals", "machine", "cls", "code", "returned", "left", "yields", "handling")

    def __init__(self, vars: dict, parent: Frame | None, globals: dict, machine: Any, code: Any = None):
        self.vars = vars
        self.parent = parent
        self.globals = globals
        self.machine = machine
        self.code = code
        self.cls = None
        self.yields = None
        self.returned = None
        self.left: ast.Return | None = None  # by which statement
        self.handling = None

    def give_global(self, name: Any, value: Any) -> None:
        """A name of the module gets a value; one that nobody knows may be any that stands for data."""
        if type(name) is not str:
            for one in self.machine.names_of_data(self.globals):
                self.give_global(one, Unknown("a name that may be given anew"))
            return
        self.globals[name] = value
        if self.machine.changes.loops:
            self.machine.changes.fields.append((self.globals, name, value))

    def give_globals(self, tables: list[Any], named: dict[str, Any]) -> None:
        """`globals().update(table, name=value)`"""
        for table in (*tables, named):
            self.machine.budget.touch(table)
            for name, value in table.items() if type(table) is dict else ((None, None),):
                self.give_global(name, value)


class CompiledScope:
    """What the compiler knows of one scope: the names it binds and the scope around it."""

    __slots__ = ("kind", "bound", "globals", "nonlocals", "parent", "program", "guarded", "looping", "choosing", "name")

    def __init__(
        self, kind: str, nodes: Iterable[ast.AST], parent: CompiledScope | None, program: Program, bound=(), name=""
    ):
        self.kind = kind
        self.parent = parent
        self.program = program
        self.guarded = 0  # how many `try … except ImportError` stand around the statement being compiled
        self.looping = 0  # and how many loops
        self.choosing = 0  # and how many conditions, those among them that may have ended the function before
        self.name = name
        self.bound: set[str] = set(bound)
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        if kind != "module":
            _collect(nodes, self)
            self.bound -= self.globals | self.nonlocals

    def takes_globals(self, node: ast.expr) -> bool:
        """`globals()`, or `locals()` where they are the same"""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args or node.keywords:
            return False
        name = node.func.id
        return (name == "globals" or name == "locals" and self.kind == "module") and self.find(name) is None

    def find(self, name: str) -> int | None:
        """How many frames up a name lives, or None if it is global.

        Class bodies hide their names from functions within.
        """
        if self.kind == "module" or name in self.globals:
            return None
        if name in self.bound:
            return 0
        hops, scope = 1, self.parent
        while scope is not None and scope.kind != "module":
            if scope.kind != "class" and name in scope.bound:
                return hops
            if scope.kind != "class" and name in scope.globals:
                return None
            hops, scope = hops + 1, scope.parent
        return None

    def place(self, node: ast.AST) -> Place:
        return self.program.place(node)


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_ROUNDS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_PATTERNS = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping)
_BINDING = (*_SCOPES, *_ROUNDS, *_PATTERNS, ast.Name, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)


@cache
def _may_bind(kind: type[ast.AST]) -> bool:
    """Whether a node itself may bind names, or hide those that are bound in it; most leave that to what is in them."""
    return issubclass(kind, _BINDING)


def _collect(nodes: Iterable[ast.AST], scope: CompiledScope) -> None:
    """Find the names bound by statements, not looking into the scopes within (but for their walrus targets)."""
    stack = list(nodes)
    bound = scope.bound
    while stack:
        node = stack.pop()
        if not _may_bind(type(node)):
            stack += children(node)
            continue
        match node:
            case ast.Name():
                if not isinstance(node.ctx, ast.Load):
                    bound.add(node.id)
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                bound.add(node.name)
                stack += node.decorator_list
                continue
            case ast.Lambda():
                continue
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                bound.update(n.target.id for n in walk(node) if isinstance(n, ast.NamedExpr))
                continue
            case ast.Import() | ast.ImportFrom():
                bound.update((a.asname or a.name).split(".")[0] for a in node.names)
                continue
            case ast.Global():
                scope.globals.update(node.names)
            case ast.Nonlocal():
                scope.nonlocals.update(node.names)
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() if node.name:
                bound.add(node.name)
            case ast.MatchMapping() if node.rest:
                bound.add(node.rest)
        stack += children(node)


_OPPOSITE = {ast.NotEq: ast.Eq, ast.GtE: ast.Lt, ast.LtE: ast.Gt, ast.NotIn: ast.In, ast.IsNot: ast.Is}


class Question:
    """A condition, by its text: the same words are answered the same way wherever they stand, and `not` the other
    way.
    """

    __slots__ = ("node", "_asked")

    def __init__(self, node: ast.expr):
        self.node = node
        self._asked: tuple[str, bool] | None = None

    @property
    def text(self) -> str:
        return ast.unparse(self.node)

    @property
    def asked(self) -> tuple[str, bool]:
        """The condition without `not`, `!=` and their kind, and whether that turned it round."""
        if self._asked is None:
            node, turned = self.node, False
            while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                node, turned = node.operand, not turned
            if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPPOSITE:
                node, turned = ast.Compare(node.left, [_OPPOSITE[type(node.ops[0])]()], node.comparators), not turned
            self._asked = ast.unparse(node), turned
        return self._asked


def price_of(nodes: Iterable[ast.AST]) -> int:
    """The work of evaluating some statements or expressions once; blocks and bodies within count for themselves."""
    count, stack = 0, list(nodes)
    while stack:
        node = stack.pop()
        count += 1
        if not isinstance(node, ast.Lambda):
            stack += [child for child in children(node) if not isinstance(child, ast.stmt)]
    return count // Work.NODES


def has_yield(nodes: Iterable[ast.AST]) -> bool:
    """Whether statements make their function a generator."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, _SCOPES):
            stack += children(node)
    return False


def gives_value(nodes: Iterable[ast.AST]) -> bool:
    """Whether statements return or yield something, or do nothing but raise."""
    stack = list(nodes)
    if isinstance(stack[-1], ast.Raise):
        return True
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)) or isinstance(node, ast.Return) and node.value is not None:
            return True
        if not isinstance(node, _SCOPES):
            stack += children(node)
    return False


def source_of(path: str) -> Program | None:
    """The program that was loaded from a path last."""
    return _programs[path][1] if path in _programs else None


def frame_of(error: Exception) -> Frame | None:
    """The names of the function of the program that an error comes from."""
    found, trace = None, error.__traceback__
    while trace is not None:
        frame = trace.tb_frame.f_locals.get("frame")
        found = frame if isinstance(frame, Frame) else found
        trace = trace.tb_next
    return found


def node_at(place: Place) -> ast.AST | None:
    """The outermost node that stands at a place."""
    program = source_of(place[0])
    if program is None:
        return None
    return next((node for node in program.expressions.get(place[1].line, ()) if program.span(node) == place[1]), None)


def last_call_in(path: str, stack: Sequence[tuple[Any, Place | None]]) -> Place | None:
    """The last call in a file of those that have led to where a program is; `stack` is that of its machine."""
    calls = (call for _, call in reversed(stack) if call is not None and call[0] == path)
    return next(calls, None)
