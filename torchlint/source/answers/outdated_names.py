"""Where a file uses names that the torch it is written for has removed or deprecated: calls, references and imports.

Silent is what asks for a version, an attribute or an import first: it is written for several of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache, cached_property
from operator import attrgetter
from typing import NamedTuple

from torchlint.facts.deprecated import DEPRECATED
from torchlint.facts.outdated import OutdatedName
from torchlint.facts.removed import REMOVED
from torchlint.source.answers.outdated_arguments import fitting
from torchlint.source.flow.flow import origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.kinds import LOADER, is_tensor
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.names import canonical
from torchlint.source.flow.values import Value
from torchlint.source.text.index import (
    ancestors,
    block_of,
    enclosing_class,
    enclosing_function,
    has_stars,
    last_word,
    statement_of,
    within,
)
from torchlint.source.text.spelling import argument, is_super
from torchlint.source.training.keyword_values import is_given, keyword_values
from torchlint.source.training.roles import seems

_CAUGHT = ("ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "TypeError")
_CAUGHT_CALLS = ("Exception", "RuntimeError", "BaseException", "")
_VERSION = r"(?<!con)(?<!in)version"
_LOOKS = (
    r"find_spec|signature\(|argspec\(|__kwdefaults__|__defaults__|co_varnames"
    r"|(?:has|get)attr\(\s*(?:torch|nn|f|functional|optim|amp|tensor|init|models|transforms|functorch)\b"
)
_ASKS = re.compile(f"{_VERSION}|{_LOOKS}")
_ASKING, _TORCH = ("hasattr", "getattr", "dir", "vars"), ("torch", "torchvision", "functorch")
_NAMES_VERSION, _LOOKS_FOR = re.compile(_VERSION), re.compile(_LOOKS)
_FLAGS = re.compile(
    r"torch_?(?:g|l|v?\d)|\bpt_?\d|native|legacy|(?:old|new|has)_|_available"
)  # what a test may be called


class OutdatedUse(NamedTuple):
    """A place and the rows that are about it. `node` is a call, the name in another place, an import's alias, or an
    import of which some names are not used.
    """

    node: ast.AST
    name: str
    rows: tuple[OutdatedName, ...]
    unused: tuple[ast.alias, ...] = ()

    @property
    def label(self) -> str:
        """What a message calls it."""
        condition = self.rows[0].condition or ""
        if self.rows[0].flag:
            return f"`{self.rows[0].flag[0]}` of `{self.name}`"
        if condition.endswith("="):
            return f"`{condition[:-1]}` of `{self.name}`"
        if condition.startswith("!"):
            return f"`{self.name}` without `{condition[1:].partition('@')[0]}`"
        if "," in condition:
            return f"`{self.name}` with a number first"
        return f"`{self.name}`, imported and not used," if self.unused else f"`{self.name}`"

    @property
    def place(self) -> ast.AST:
        """Where it is said: at the argument, if it is one."""
        if self.rows[0].flag and isinstance(self.node, ast.Call):
            return self.node.args[self.rows[0].flag[1]]
        condition = self.rows[0].condition or ""
        given = self.node.keywords if condition.endswith("=") and isinstance(self.node, ast.Call) else ()
        return next((keyword for keyword in given if keyword.arg == condition[:-1]), self.node)

    @property
    def since(self) -> str:
        return self.rows[0].said_since

    @property
    def why(self) -> str:
        return self.rows[0].why

    @property
    def help(self) -> str:
        return self.rows[0].help


def may_be_asked_for(module: Module, alias: ast.alias) -> bool:
    """May another file want from this one what an import brings?"""
    bound = alias.asname or alias.name
    path = module.path.replace("\\", "/")
    if path.endswith("__init__.py") or module.index.says("__all__") or module.index.says(f'"{bound}"'):
        return True
    if any("noqa" in line for line in module.index.lines[alias.up.lineno - 1 : alias.up.end_lineno]):
        return True  # others import it from here
    stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    view = module.world.view
    return any(view.project.contains(other, stem) for other in view.users(module.path, bound))


def removed_names(module: Module) -> list[OutdatedUse]:
    """Where a file uses what the torch it is written for has no more."""
    return list(_uses(module, raises=True))


def deprecated_names(module: Module) -> list[OutdatedUse]:
    """Where it uses what that torch has deprecated, or never made public."""
    return list(_uses(module, raises=False))


@cache
def _known_in(target: tuple[int, int], raises: bool) -> dict[str, list[OutdatedName]]:
    """The rows that hold for a torch, by the last parts of their names; whole families are under `*`."""
    known: dict[str, list[OutdatedName]] = {}
    for row in REMOVED if raises else DEPRECATED:
        if row.since <= target:
            known.setdefault(row.word, []).append(row)
    return known


def _uses(module: Module, raises: bool) -> Iterator[OutdatedUse]:
    """Each use of a name that is outdated. `raises` says that it does: who catches that knows."""
    known = _known_in(module.world.target, raises)
    families = known.get("*", [])
    search = _Search(module, known, raises)
    seen: set[ast.AST] = set()
    arguments = (*search.keywords(families), *search.flags(families), *search.options(families))
    for use in (*search.imported(), *search.attributes(), *arguments):
        if use.node not in seen and not search.is_guarded(use.node) and not search.is_beside_the_new(use):
            seen.add(use.node)
            yield use


def is_data(module: Module, node: ast.expr) -> bool:
    """Is it a tensor for certain?"""
    return last_word(node) in _DATA or is_tensor(Value(module, node))


def _stands_behind(node: ast.AST, choice: ast.If) -> bool:
    """Does it stand in a statement that comes after a choice, in the same block?"""
    block, at = block_of(choice)
    return any(within(node, later) for later in block[at + 1 :])


class _Search:
    def __init__(self, module: Module, known: dict[str, list[OutdatedName]], raises: bool):
        self.module, self.known, self.raises = module, known, raises
        self._said: dict[tuple[int, str], bool] = {}
        self._chosen: dict[ast.AST | None, list[ast.If]] = {}
        self._reading: dict[ast.AST, bool] = {}

    def imported(self) -> Iterator[OutdatedUse]:
        """What imports bring, and its uses."""
        index = self.module.index
        for statement in index.nodes(ast.Import, ast.ImportFrom):
            unused: list[tuple[ast.alias, str, tuple[OutdatedName, ...]]] = []
            for alias in statement.names:
                if isinstance(statement, ast.Import):
                    full = alias.name
                elif statement.level or statement.module is None:
                    continue
                else:
                    full = canonical(f"{statement.module}.{alias.name}")
                rows = self._of(full) or self._inside(full)
                if isinstance(statement, ast.Import):
                    rows = tuple(row for row in rows if row.condition is None)
                if not rows or self._is_projects(full):
                    continue
                if isinstance(statement, ast.Import):
                    yield OutdatedUse(alias, full, rows)
                    continue
                found = list(self._of_import(alias, full, rows))
                is_unused = not index.names(alias.asname or alias.name) and self._is_own(alias, rows)
                if is_unused and not (self.raises and found):
                    unused.append((alias, full, rows))
                else:
                    yield from found
            if unused:
                names = "`, `".join(full for _, full, _ in unused)
                yield OutdatedUse(statement, names, unused[0][2], tuple(alias for alias, _, _ in unused))

    def _of_import(self, alias: ast.alias, full: str, rows: tuple[OutdatedName, ...]) -> Iterator[OutdatedUse]:
        bound = alias.asname or alias.name
        names = self.module.index.names(bound)
        if any(row.arguments == "same" or not self._stays(row) for row in rows if row.condition is None):
            yield OutdatedUse(alias, full, rows)
            return
        for name in names:
            scope = name.at.lookup(bound)
            if scope is None or scope.bindings[bound] != [alias] or not isinstance(name.ctx, ast.Load):
                continue
            if self.is_guarded(alias):
                return
            yield from self._used(name, full, rows)

    def _stays(self, row: OutdatedName) -> bool:
        """Can the name still be imported, and only what is done with it fails or warns?"""
        return not self.raises or row.name.startswith(("torch.linalg", *_STILL_THERE)) or row.name in _STILL_THERE

    def _is_own(self, alias: ast.alias, rows: tuple[OutdatedName, ...]) -> bool:
        """Is the whole of a name outdated, and does nobody else ask this file for it?"""
        whole = any(row.condition is None or row.condition in ("", "-volatile") for row in rows)
        return whole and not may_be_asked_for(self.module, alias)

    def attributes(self) -> Iterator[OutdatedUse]:
        """Names after a dot: `torch.qr`, and methods of tensors."""
        for node in self.module.index.nodes(ast.Attribute):
            rows = self.known.get(node.attr)
            if rows is None or not isinstance(node.ctx, ast.Load):
                continue
            name = external_name(Value(self.module, node))
            if name is not None:
                found = self._of(name)
                if isinstance(node.up, ast.Attribute) and self._of(f"{name}.{node.up.attr}"):
                    continue  # the table says more of that one
                if found and not self._is_projects(name) and not self._is_set(node.attr):
                    yield from self._used(node, name, found)
            elif isinstance(node.up, ast.Call) and node.up.func is node:
                found = tuple(row for row in rows if row.is_method and self._holds(row, node.up))
                if found and self._has_method(node.value, found[0]):
                    yield OutdatedUse(node.up, f".{node.attr}", fitting(self.module, node.up, found))

    def _has_method(self, receiver: ast.expr, row: OutdatedName) -> bool:
        if row.is_of_iterators:
            return self._gives_batches(Value(self.module, receiver))
        if row.has_number_first and not self.module.mentions(f"def {row.word}("):
            return True
        return is_data(self.module, receiver)

    def _gives_batches(self, receiver: Value) -> bool:
        """Is it `iter(loader)`, of a loader of torch?"""
        made = origins(receiver)
        calls = [one.node for one in made if isinstance(one.node, ast.Call) and not one.path and not one.unknown]
        if not calls or len(calls) < len(made) or self.module.mentions("def next("):
            return False
        return all(
            last_word(call.func) == "iter"
            and isinstance(call.func, ast.Name)
            and call.func.at.lookup("iter") is None
            and len(call.args) == 1
            and seems(one.at(call.args[0], ()), LOADER)
            for one, call in zip(made, calls)
        )

    def keywords(self, families: list[OutdatedName]) -> Iterator[OutdatedUse]:
        """Arguments that a whole family of functions has lost."""
        for row in families:
            if row.flag:
                continue
            for keyword in self.module.index.keywords(row.condition.rstrip("=")):
                yield from self._of_families([row], keyword.up)

    def flags(self, families: list[OutdatedName]) -> Iterator[OutdatedUse]:
        """The same for those that are given by position."""
        asked = [row for row in families if row.flag]
        for call in _with_flags(self.module) if asked else ():
            yield from self._of_families([row for row in asked if self._holds(row, call)], call)

    def options(self, families: list[OutdatedName]) -> Iterator[OutdatedUse]:
        """The same in `**options` that hold them for certain, with a value that says something."""
        asked = [row for row in families if not row.flag and self.module.index.says(row.condition.rstrip("="))]
        for call in _with_options(self.module) if asked else ():
            for use in self._of_families(asked, call):
                if _says_something(Value(self.module, call), use.rows[0].condition.rstrip("=")):
                    yield use

    def _of_families(self, rows: list[OutdatedName], call: ast.AST) -> Iterator[OutdatedUse]:
        name = self._asked(call) if rows and isinstance(call, ast.Call) else None
        for row in rows if name is not None else ():
            if row.means(name) and not self._is_projects(name):
                yield OutdatedUse(call, name, (row,))

    def _asked(self, call: ast.Call) -> str | None:
        """What takes the arguments: for `super().__init__(…)` the one base of the class, for `partial(f, …)` `f`."""
        asked, owner = call.func, enclosing_class(enclosing_function(call) or call)
        if isinstance(asked, ast.Attribute) and asked.attr == "__init__":
            bases = owner.bases if owner is not None and is_super(asked.value) else [asked.value]
            asked = bases[0] if len(bases) == 1 else asked
        name = external_name(Value(self.module, asked))
        is_bound = name == "functools.partial" and bool(call.args)
        return external_name(Value(self.module, call.args[0])) if is_bound else name

    def _used(self, node: ast.expr, name: str, rows: tuple[OutdatedName, ...]) -> Iterator[OutdatedUse]:
        if isinstance(node.up, ast.Call) and node.up.func is node:
            of_calls = tuple(row for row in rows if row.condition is not None) or rows
            fits = tuple(row for row in of_calls if self._holds(row, node.up))
            if fits:
                yield OutdatedUse(node.up, name, fitting(self.module, node.up, fits))
            return
        plain = tuple(row for row in rows if row.condition is None)
        if plain:
            yield OutdatedUse(node, name, plain)

    def _holds(self, row: OutdatedName, call: ast.Call) -> bool:
        """Is a call one of those that the condition of a row means?"""
        condition = row.condition
        if not condition:
            return True
        if row.flag:
            place = row.flag[1]
            return len(call.args) > place and is_flag(call.args[place]) and not has_stars(call)
        given = {keyword.arg for keyword in call.keywords}
        hidden = None in given or any(isinstance(a, ast.Starred) for a in call.args)
        if condition.endswith("="):
            return condition[:-1] in given
        if condition.startswith("-"):
            return condition[1:] not in given
        if condition.startswith("!"):
            name, _, position = condition[1:].partition("@")
            stars = None in given or bool(position) and hidden
            return not stars and argument(call, name, int(position) if position else None) is None
        parameters = [part.strip() for part in condition.split(",")]
        return not hidden and not call.keywords and len(call.args) == len(parameters)

    def _of(self, name: str) -> tuple[OutdatedName, ...]:
        rows = self.known.get(name.rsplit(".", 1)[-1], ())
        return tuple(row for row in rows if row.name == name)

    def _inside(self, name: str) -> tuple[OutdatedName, ...]:
        """The rows of the removed module in which a name stands."""
        parts = name.split(".")
        for end in range(len(parts) - 1, 1, -1):
            rows = tuple(row for row in self._of(".".join(parts[:end])) if row.condition is None)
            if rows:
                return rows if self.raises else ()
        return ()

    def _is_projects(self, name: str) -> bool:
        """Does the project have a module of its own that is called like the library?"""
        return self.module.world.view.resolve(name.split(".")[0], 0, self.module.path) is not None

    def _is_set(self, word: str) -> bool:
        """Does the file give the name a meaning itself, as in `torch.solve = …`?"""
        return any(external_name(Value(self.module, node.value)) for node in self.module.index.stored(word))

    def is_guarded(self, node: ast.AST) -> bool:
        """Is it written for versions that have the name and for others?"""
        function = enclosing_function(node)
        if function is not None and function not in self._reading:
            self._reading[function] = self._reads_version(function)
        if self._is_for_one_version or self._reading.get(function):
            return True
        if any(_stands_behind(node, choice) for choice in self._choices(function)):
            return True
        for above in ancestors(node):
            if isinstance(above, ast.Try) and self._catches(above):
                return True
            if isinstance(above, (ast.If, ast.IfExp)) and self._is_of_versions(above.test):
                return True
            if isinstance(above, ast.With) and not self.raises and _silences(above):
                return True
            if isinstance(above, ast.keyword) and above.arg == "wraps":
                return True  # `patch("torch.triangular_solve", wraps=torch.triangular_solve)`: the old way is tested
        return False

    def _is_of_versions(self, test: ast.expr) -> bool:
        is_said = _FLAGS.search(self.module.segment(test).lower()) is not None
        return is_said or self._asks(test) or any(map(self._says_version, ast.walk(test)))

    def _choices(self, function: ast.AST | None) -> list[ast.If]:
        """What a function leaves by where there is the new name: `if HAS_AMP: return torch.amp.autocast("cuda")`"""
        if function not in self._chosen:
            found = self.module.index.inside(function, ast.If) if function is not None else ()
            leaving = (one for one in found if isinstance(one.body[-1], (ast.Return, ast.Raise)) and not one.orelse)
            self._chosen[function] = [one for one in leaving if self._is_of_versions(one.test)]
        return self._chosen[function]

    def is_beside_the_new(self, use: OutdatedUse) -> bool:
        """Is it what is done where the new way fails, or does it stand with that in a table of names?"""
        if use.rows[0].is_of_iterators:
            return False  # `except StopIteration:` begins again
        new = re.match(r"[\w.]+", use.help)
        said = new[0] if new else ""
        if said.rpartition(".")[2] != use.name.rpartition(".")[2]:
            said = said.rpartition(".")[2]
        child = use.node
        for above in ancestors(use.node):
            is_second = isinstance(above, ast.Try) and isinstance(child, ast.ExceptHandler)
            if said and (is_second or isinstance(above, ast.Dict)) and self._is_said_in(above, said):
                return True
            child = above
        return False

    def _is_said_in(self, node: ast.Try | ast.Dict, name: str) -> bool:
        key = (id(node), name)
        if key not in self._said:
            parts = node.body if isinstance(node, ast.Try) else node.values
            says = re.compile(rf"\b{re.escape(name)}\b")
            self._said[key] = any(part and says.search(self.module.segment(part)) for part in parts)
        return self._said[key]

    @cached_property
    def _is_for_one_version(self) -> bool:
        """`assert torch.__version__.split(".")[1] == "4"`, before anything else is done"""
        return any(
            isinstance(s, ast.Assert)
            and isinstance(s.test, ast.Compare)
            and isinstance(s.test.ops[0], (ast.Eq, ast.Lt, ast.LtE))
            and "torch.__version__" in self.module.segment(s.test.left)
            for s in self.module.tree.body
        )

    def _says_version(self, part: ast.AST) -> bool:
        """`MAJOR` after `MAJOR, MINOR = map(int, torch.__version__.split(".")[:2])`, or `self.has_lstsq`"""
        scope = part.at.lookup(part.id) if isinstance(part, ast.Name) else None
        bound = scope.bindings[part.id] if scope is not None else []
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load):
            bound = self.module.index.stored(part.attr)
        given = map(statement_of, bound)
        return any(isinstance(g, ast.Assign) and self._asks(g.value) for g in given)

    def _asks(self, test: ast.expr) -> bool:
        asked = _ASKS.search(self.module.segment(test).lower())
        return asked is not None or any(map(self._looks_into_torch, ast.walk(test)))

    def _looks_into_torch(self, part: ast.AST) -> bool:
        """`hasattr(th.linalg, "eigh")`, `"eigh" in dir(th.linalg)`: whatever torch is called here"""
        if not (isinstance(part, ast.Call) and part.args and last_word(part.func) in _ASKING):
            return False
        asked = external_name(Value(self.module, part.args[0])) or ""
        return asked.partition(".")[0] in _TORCH

    def _reads_version(self, function: ast.AST) -> bool:
        """Does a function look at a version anywhere, or for a name? A parameter or keyword that is called `version`,
        a comment or a text does not.
        """
        inside = self.module.index.inside
        return any(
            isinstance(node.ctx, ast.Load) and _NAMES_VERSION.search(last_word(node).lower())
            for node in inside(function, ast.Name, ast.Attribute)
        ) or any(
            _LOOKS_FOR.search(self.module.segment(call).lower()) or self._looks_into_torch(call)
            for call in inside(function, ast.Call)
        )

    def _catches(self, statement: ast.Try) -> bool:
        wanted = (*_CAUGHT, *_CAUGHT_CALLS) if self.raises else _CAUGHT
        for handler in statement.handlers:
            kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            if any((last_word(kind) if kind is not None else "") in wanted for kind in kinds):
                return True
        return False


def _says_something(call: Value, name: str) -> bool:
    """Does a call get a keyword for certain, and is it never the None that stands for nothing?"""
    values = keyword_values(call, name) if is_given(call, name) else []
    return bool(values) and all(isinstance(v.node, ast.Constant) and v.node.value is not None for v in values)


def _silences(block: ast.With) -> bool:
    """`with warnings.catch_warnings():` and a filter that ignores: whoever writes it knows of the warning."""
    if not any(last_word(getattr(item.context_expr, "func", item)) == "catch_warnings" for item in block.items):
        return False
    calls = [s.value for s in block.body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)]
    filters = (call for call in calls if last_word(call.func) in ("filterwarnings", "simplefilter"))
    return any(getattr(argument(call, "action", 0), "value", None) == "ignore" for call in filters)


@remembered
def _with_flags(module: Module) -> list[ast.Call]:
    """The calls that are given True or False by position."""
    flags = (node for node in module.index.nodes(ast.Constant) if isinstance(node.value, bool))
    found = {node.up for node in flags if isinstance(node.up, ast.Call)}
    return sorted(found, key=attrgetter("pos"))


@remembered
def _with_options(module: Module) -> list[ast.Call]:
    """The calls that are given `**options`."""
    found = {keyword.up for keyword in module.index.keywords(None) if isinstance(keyword.up, ast.Call)}
    return sorted(found, key=attrgetter("pos"))


def is_flag(node: ast.expr) -> bool:
    """Is it True or False?"""
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


_DATA = ("data", "grad")  # of a parameter, whatever that comes from
# What can still be imported although it does nothing but raise.
_STILL_THERE = (
    "torch.symeig",
    "torch.solve",
    "torch.eig",
    "torch.lstsq",
    "torch.matrix_rank",
    "torch.stft",
    "torch.fft",
    "torch.autograd.Variable",
)
