"""Options of the command line that are read and that no parser has, that are added twice, or that take no False."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.uses import is_tried
from torchlint.source.flow.values import Value
from torchlint.source.text.index import (
    block_of,
    enclosing_class,
    enclosing_function,
    has_stars,
    last_word,
    statement_of,
    within,
)

_PARSER = "argparse.ArgumentParser"
_PARSING = {"parse_args": (), "parse_known_args": (0,)}
_GROUPING = ("add_argument_group", "add_mutually_exclusive_group")
_ASKED = (*_PARSING, *_GROUPING, "add_argument", "print_help", "print_usage", "format_help", "error", "exit")
_SETTING_ANY = ("setattr", "__dict__", "Namespace", "add_subparsers", "add_parser", "set_defaults", "register")
_LOOKED_AT = ("items", "keys", "values", "copy", "get")
_BY_NAME = ("attr", "__dict__", "vars")
_MOST = 50  # names of which it is asked who sets them
_NO_FIELD = re.compile(r"_|mro$")  # of every object


class MissingOption(NamedTuple):
    read: ast.Attribute
    options: frozenset[str]  # that there are


class OptionAgain(NamedTuple):
    again: ast.expr  # the flag, as it is written the second time
    first: ast.expr


def unknown_options(module: Module) -> Iterator[MissingOption]:
    """The first read of each option that no parser of this file has, `args.suffix`."""
    options = _options(module)
    if options is None:
        return
    found: dict[str, list[ast.Name]] = {}  # by the names that are read and that no option has
    for name in sorted(_names_of_what_is_parsed(module)):
        for use in module.index.names(name):
            read = use.up
            if isinstance(read, ast.Attribute) and isinstance(read.ctx, ast.Load) and read.attr not in options:
                found.setdefault(read.attr, []).append(use)
    for attribute, reads in list(found.items())[:_MOST]:
        if not _NO_FIELD.match(attribute) and not _may_be_set(module, attribute):
            missing = (use for use in reads if not is_tried(use) and _is_all_there_is(module, use))
            yield from (MissingOption(use.up, options) for use in islice(missing, 1))


def added_twice(module: Module) -> Iterator[OptionAgain]:
    """What one parser is given a second time, and refuses."""
    calls = sorted(module.index.callers("add_argument"), key=lambda one: one.pos)
    often = Counter(flag.value for call in calls for flag in _flags(call))
    found: dict[tuple[int, str], ast.Constant] = {}
    for call in calls:
        again = [flag for flag in _flags(call) if often[flag.value] > 1]
        parser = _parser_of(module, call) if again else None
        if parser is None or any(keyword.arg == "conflict_handler" for keyword in parser.keywords):
            continue
        for flag in again:
            first = found.setdefault((id(parser), flag.value), flag)
            if first.up is not call and _runs_after(first, flag) and not is_tried(flag):
                yield OptionAgain(flag, first)


def _flags(option: ast.Call) -> list[ast.Constant]:
    texts = (one for one in option.args if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return [one for one in texts if one.value.startswith("-")]


def is_option(module: Module, call: ast.Call) -> bool:
    """Is it added to a parser of the standard library, as far as the file says?"""
    of = call.func.value if isinstance(call.func, ast.Attribute) else None
    if of is None or last_word(of) == "self" or module.index.callers("register"):
        return False  # a parser of its own kind, or one that is told what a truth is
    return _has_parsers_of_python(module)


@remembered
def _has_parsers_of_python(module: Module) -> bool:
    brought = {one.module for one in module.index.nodes(ast.ImportFrom)}
    brought |= {alias.name for one in module.index.nodes(ast.Import) for alias in one.names}
    return "argparse" in brought and not any(str(name).startswith("jsonargparse") for name in brought)


@remembered
def _options(module: Module) -> frozenset[str] | None:
    """The names of all options of a file; None where there may be others."""
    index = module.index
    if index.stands(frozenset(_SETTING_ANY), module.tree):
        return None
    if not all(isinstance(use.up, ast.Call) and use.up.func is use for use in index.attributes("add_argument")):
        return None  # `add = parser.add_argument`
    found = [_destination(call) for call in index.callers("add_argument")]
    if None in found or not found or any(_is_handed_on(module, name) for name in _names_of_parsers(module)):
        return None
    return frozenset(found)


def _destination(option: ast.Call) -> str | None:
    """Under which name an option is read: `num_workers` of `"-j", "--num-workers"`."""
    action = next((keyword.value for keyword in option.keywords if keyword.arg == "action"), None)
    is_known = action is None or isinstance(action, ast.Constant) or last_word(action) == "BooleanOptionalAction"
    if has_stars(option) or not is_known:
        return None
    for keyword in option.keywords:
        if keyword.arg == "dest":
            name = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            return name if isinstance(name, str) else None
    names = [given.value if isinstance(given, ast.Constant) else None for given in option.args]
    if not names or not all(isinstance(name, str) for name in names):
        return None
    flags = [name for name in names if name.startswith("-")]
    long = [name for name in flags if name.startswith("--")]
    return (long or flags)[0].lstrip("-").replace("-", "_") if flags else names[0]


def is_read(module: Module, option: ast.Call) -> bool:
    """Does anything else in the program say the name of an option? By vars(…) some may be read that nobody names."""
    name = _destination(option)
    if name is None or _words_of(module)[name] > _words_in(ast.unparse(option))[name]:
        return True
    return not _is_kept_here(module) and module.others_mention((name,))


@remembered
def _is_kept_here(module: Module) -> bool:
    """Is what is parsed only ever asked for options, in a function or in the main block? Then no other file sees it."""
    calls = [call for word in _PARSING for call in module.index.callers(word)]
    names = {call.up.targets[0].id for call in calls if _gives_a_local_name(call)}
    if not calls or not all(map(_gives_a_local_name, calls)):
        return False
    uses = [use for name in names for use in module.index.names(name) if isinstance(use.ctx, ast.Load)]
    return all(isinstance(use.up, ast.Attribute) and use.up.attr != "__dict__" for use in uses)


def _gives_a_local_name(call: ast.Call) -> bool:
    """`args = parser.parse_args()`, where nobody can import it."""
    given = call.up
    if not isinstance(given, ast.Assign) or len(given.targets) > 1 or not isinstance(given.targets[0], ast.Name):
        return False
    around = given.up
    while around is not None:
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return not any(isinstance(node, ast.Global) for node in ast.walk(around))
        if isinstance(around, ast.If) and "__name__" in ast.unparse(around.test):
            return True
        around = getattr(around, "up", None)
    return False


@remembered
def _words_of(module: Module) -> Counter[str]:
    return _words_in(re.sub(r"(?m)^([^#\n\"']*)#.*", r"\1", module.index.text))  # without what is commented out


def _words_in(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


def _names_of_parsers(module: Module) -> set[str]:
    """The words by which parsers and their groups go in a file."""
    calls = (call for word in (*_PARSING, *_GROUPING, "add_argument") for call in module.index.callers(word))
    return {last_word(call.func.value) for call in calls if isinstance(call.func, ast.Attribute)}


def _is_handed_on(module: Module, name: str) -> bool:
    """May somebody else add options: another function, or the heirs of a class that holds the parser?"""
    if module.index.attributes(name) and not any(name == one.name for one in module.index.functions):
        return True
    for use in module.index.names(name):
        if isinstance(use.ctx, ast.Load) and not _is_asked(use) and not isinstance(use.up, (ast.Return, ast.Tuple)):
            if not _is_given_to_a_function_here(module, use):
                return True
    return False


def _is_asked(parser: ast.expr) -> bool:
    around = parser.up
    return (
        isinstance(around, ast.Attribute)
        and around.attr in _ASKED
        or isinstance(around, ast.Call)
        and (around.func is parser)
    )


def _is_given_to_a_function_here(module: Module, use: ast.expr) -> bool:
    call = use.up.up if isinstance(use.up, ast.keyword) else use.up
    found = callees(Value(module, call)) if isinstance(call, ast.Call) else []
    return bool(found) and all(callee.kind == "function" and callee.module is module for callee in found)


@remembered
def _names_of_what_is_parsed(module: Module) -> set[str]:
    """The names that may stand for the options: `args`, and what they are called where a function takes or gives
    them.
    """
    functions: set[str] = set()
    found: set[str] = set()
    for call in (call for word in _PARSING for call in module.index.callers(word)):
        around = call.up.up if isinstance(call.up, ast.Subscript) else call.up
        if isinstance(around, ast.Return) and (function := enclosing_function(call)) is not None:
            functions.add(getattr(function, "name", ""))
        found |= _bound_by(around)
    for name in tuple(found):
        for use in module.index.names(name):
            if isinstance(use.up, ast.Return) and (function := enclosing_function(use)) is not None:
                functions.add(getattr(function, "name", ""))
    for function in functions:
        for call in module.index.callers(function):
            found |= _bound_by(call.up)
    return found


def _bound_by(around: ast.AST) -> set[str]:
    """`args = …`, `args, rest = …`"""
    targets = around.targets if isinstance(around, ast.Assign) else []
    firsts = [target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target for target in targets]
    return {target.id for target in firsts if isinstance(target, ast.Name)}


def _is_parsed(module: Module, use: ast.Name) -> bool:
    """Is it for certain what a parser of this file has parsed, whichever way one came?"""
    found = origins(Value(module, use))
    is_ours = bool(found) and all(_is_of_a_parser(module, one) for one in found)
    return is_ours and not _may_be_given_elsewhere(module, use)


def _may_be_given_elsewhere(module: Module, use: ast.Name) -> bool:
    """May another file hand its own options to the function of which it is a parameter?"""
    scope = use.at.lookup(use.id)
    functions = [one.up.up for one in reaching(use, scope) if isinstance(one, ast.arg)] if scope is not None else []
    owners = [enclosing_class(function) for function in functions]
    names = {getattr(owner or one, "name", "") for one, owner in zip(functions, owners)}
    return any(module.world.view.users(module.path, name) for name in names)


def _is_of_a_parser(module: Module, made: Value) -> bool:
    call = made.node
    if made.module is not module or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    if _PARSING.get(call.func.attr) != made.path or has_stars(call) or len(call.args) > 1:
        return False
    if any(keyword.arg != "args" for keyword in call.keywords):
        return False  # `namespace=`
    parsers = objects(made.at(call.func.value, ()))
    return bool(parsers) and all(one.module is module and _is_parser(one) for one in parsers)


def _is_parser(made: Value) -> bool:
    call = made.node
    if not isinstance(call, ast.Call) or made.path or has_stars(call):
        return False
    is_alone = all(keyword.arg != "parents" for keyword in call.keywords)
    return is_alone and {callee.name for callee in callees(made)} == {_PARSER}


def _may_be_set(module: Module, attribute: str) -> bool:
    """May it be put there later, `args.rank = 0`, here or in another file?"""
    world = module.world
    others = [world.module(path) for path in world.view.mentions(attribute)]
    return any(one is None or _sets(one, attribute) for one in (module, *others))


def _is_all_there_is(module: Module, use: ast.Name) -> bool:
    """Are they for certain what is parsed here, and does nobody who takes them set what is written nowhere?"""
    return _are_left_alone(module, use.id) and _is_parsed(module, use)


@remembered
def _are_left_alone(module: Module, name: str) -> bool:
    return all(_is_harmless(module, use) for use in module.index.names(name) if isinstance(use.ctx, ast.Load))


def _is_harmless(module: Module, use: ast.Name) -> bool:
    """Does this use not set attributes whose names stand nowhere?"""
    around = use.up
    call = around.up if isinstance(around, ast.keyword) else around
    if not isinstance(call, ast.Call) or call.func is use:
        return True
    found = callees(Value(module, call))
    if [callee.name for callee in found] == ["builtins.vars"]:
        user = call.up
        is_read = isinstance(user, ast.Attribute) and user.attr in _LOOKED_AT or isinstance(user, ast.keyword)
        is_shown = isinstance(user, ast.Call) and last_word(user.func) in ("print", "dump", "dumps", "sorted", "dict")
        return is_read or is_shown
    return bool(found) and all(
        callee.module is module or not _sets_any(callee.module) if callee.module is not None else bool(callee.name)
        for callee in found
    )


@remembered
def _sets_any(module: Module) -> bool:
    return module.index.stands(frozenset(("setattr", "__dict__", "vars", "Namespace")), module.tree)


@remembered
def _sets(module: Module, name: str) -> bool:
    """Does a file set an attribute of that name, or say it where attributes are asked for, or set, by their names?"""
    index = module.index
    is_said = any(map(index.says, _BY_NAME)) and bool(re.search(rf"[\"']{re.escape(name)}[\"']", index.text))
    is_set = any(last_word(one.value) != "self" for one in index.attributes(name) if not isinstance(one.ctx, ast.Load))
    return is_said or is_set


def _parser_of(module: Module, option: ast.Call) -> ast.Call | None:
    """The one call that makes the parser, of a group the one that it is of."""
    node = option.func.value if isinstance(option.func, ast.Attribute) else None
    for _ in range(3):  # a group of a group
        if isinstance(node, ast.Name) and (scope := node.at.lookup(node.id)) is not None:
            bound = reaching(node, scope)
            around = bound[0].up if len(bound) == 1 else None
            node = around.value if isinstance(around, ast.Assign) and around.targets == bound else None
        if isinstance(node, ast.Call) and last_word(node.func) in _GROUPING and isinstance(node.func, ast.Attribute):
            node = node.func.value
        elif isinstance(node, ast.Call):
            return node if {callee.name for callee in callees(Value(module, node))} == {_PARSER} else None
    return None


def _runs_after(first: ast.expr, again: ast.expr) -> bool:
    """Does the second run whenever the first has: does it stand below it, in its block or in one within that?"""
    statement, later = statement_of(first), statement_of(again)
    last = block_of(statement)[0][-1]
    is_below = later.pos > statement.pos and not within(later, statement)
    is_in_block = later.pos < last.pos or within(later, last)
    return is_below and is_in_block and enclosing_function(statement) is enclosing_function(later)
