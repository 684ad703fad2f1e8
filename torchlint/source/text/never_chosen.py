"""The lines of a file for which a parameter or an attribute would have to be what nobody in its project makes it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from torchlint.project import View
from torchlint.source.text.calls_of_objects import always_returns, calls_giving
from torchlint.source.text.conditions import around_line, conditions, parts
from torchlint.source.text.given_values import BY_HAND, assigned, said_anywhere, sets_by_any_name
from torchlint.source.text.index import last_word
from torchlint.source.text.options import LetThrough
from torchlint.source.text.seen_uses import SeenCall, SeenUses, Situation
from torchlint.source.text.spelling import COMPARED

Values = frozenset[Any] | None  # with their types, for 1 is no True; None where there may be others
_SOMETHING = (object, object())  # that is not None: no more is known of it
_DEEPEST = 4  # from what is asked to what gives it
_OF_A_TEST = 20  # steps that it takes
_MOST_CALLS = 8  # of what a line stands in
_COMPARED = COMPARED | {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}


class NeverChosen:
    """Asked of some lines only: of what is found there. In a library anybody may choose everything."""

    def __init__(self, view: View, uses: SeenUses, is_switched_off: Callable[[int], bool]):
        self._view = view
        self._is_switched_off = is_switched_off  # of lines of the file itself
        self._uses = uses
        self._options = LetThrough(view, uses)
        self._setting: dict[frozenset[str], set[str | None]] = {}
        self._asked: dict[int, bool] = {}
        self._given_in: dict[tuple[str, str, frozenset[str]], list[tuple[ast.expr | None, int]]] = {}
        self._known: dict[tuple[ast.expr, bool, int], bool] = {}
        self._kept: dict[tuple[ast.AST, str], bool] = {}

    def has(self, line: int) -> bool:
        """Is a line among them?"""
        if line not in self._asked:
            path = self._view.path
            try:
                self._asked[line] = not self._uses.is_public(path) and self._is_left_out(path, line, _DEEPEST) is True
            except RecursionError:  # a test in a test, as deep as the parser goes
                self._asked[line] = False
        return self._asked[line]

    def _is_left_out(self, path: str, line: int, left: int) -> bool | None:
        """Does something around a line never hold, or is what it stands in only called from such lines? None where
        nobody calls it at all.
        """
        tree = self._uses.tree(path)
        if tree is None or left < 0:
            return False
        if path == self._view.path and left < _DEEPEST and self._is_switched_off(line):
            return True
        together: dict[tuple[Situation, str, int], list[tuple[ast.expr, bool]]] = {}
        for test, wanted, around, first in conditions(tree, line):
            where = Situation(path, around)
            if not self._uses.spend(_OF_A_TEST):
                return False
            if not self._may_be(test, wanted, where, left):
                return True
            for part, is_wanted in parts(test, wanted):
                if (asked := _asked(part)) is not None:
                    asked_with = 0 if self._is_one_value(asked, where) else first
                    same = together.setdefault((where, ast.dump(asked), asked_with), [])
                    same.append((part, is_wanted))
        if any(len(same) > 1 and not self._may_be_all(same, where, left) for (where, *_), same in together.items()):
            return True
        around = around_line(tree, line)
        found = [self._is_called_by_none(Situation(path, around[: at + 1]), left - 1) for at in range(len(around))]
        return True in found or (None if None in found else False)

    def _is_called_by_none(self, place: Situation, left: int) -> bool | None:
        calls = self._uses.calls(place) if left >= 0 else None
        if calls is None or len(calls) > _MOST_CALLS:
            return False
        found = {self._is_left_out(given.place.path, given.call.lineno, left) for given in calls}
        return False if False in found else (True in found) or None

    def _may_be(self, test: ast.expr, wanted: bool, place: Situation, left: int) -> bool:
        """May a test be true, or false, by all that is known?"""
        key = test, wanted, left
        if key not in self._known:
            may_be_asked = left >= 0 and self._uses.spend(_OF_A_TEST)
            self._known[key] = not may_be_asked or self._may(test, wanted, place, left)
        return self._known[key]

    def _may(self, test: ast.expr, wanted: bool, place: Situation, left: int) -> bool:
        if isinstance(test, ast.BoolOp):
            needs_all = isinstance(test.op, ast.And) == wanted
            return (all if needs_all else any)(self._may_be(value, wanted, place, left) for value in test.values)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._may_be(test.operand, not wanted, place, left)
        if isinstance(test, ast.Compare):
            if len(test.ops) > 1 or type(test.ops[0]) not in _COMPARED:
                return True
            literal = _literals(test.comparators[0])
            if literal is None or (values := self._values(test.left, place, left)) is None:
                return True
            found = {_compared(test.ops[0], value, literal) for value in values}
        else:
            values = self._values(test, place, left)
            found = set() if values is None else {None if one is _SOMETHING else bool(one[1]) for one in values}
        return not found or wanted in found or None in found

    def _is_one_value(self, node: ast.expr, where: Situation) -> bool:
        """Is it a parameter, or an option of one, that nothing else is assigned to? What an object has may change."""
        function = where.function
        if function is None:
            return False
        if option := _option(node):
            of = getattr(node, "value", node)
            return last_word(of) != "self" and self._is_kept(function, option) and self._is_one_value(of, where)
        if not isinstance(node, ast.Name) or node.id not in _parameters(function):
            return False
        return self._uses.bound(function, node.id) == []

    def _is_kept(self, function: ast.AST, option: str) -> bool:
        """Does a function put nothing under a name of anything?"""
        if (function, option) not in self._kept:
            nodes = list(ast.walk(function))
            put = (
                part
                for part in nodes
                if _option(part) == option and not isinstance(getattr(part, "ctx", None), ast.Load)
            )
            self._kept[function, option] = self._uses.spend(len(nodes)) and next(put, None) is None
        return self._kept[function, option]

    def _may_be_all(self, tests: list[tuple[ast.expr, bool]], place: Situation, left: int) -> bool:
        """May tests of the same thing, at the same time, be so? What it may be is known, or one of them says it."""
        asked = _asked(tests[0][0])
        values = None if asked is None else self._values(asked, place, left)
        if values is None:
            values = next((found for test, wanted in tests if wanted and (found := _one_of(test))), None)
        if not values:
            return True
        for test, wanted in tests:
            found = {one for one in values if _holds(test, one) in (wanted, None)}
            values = frozenset(found)
        return bool(values)

    def _values(self, node: ast.expr, place: Situation, left: int) -> Values:
        """All that an expression may be."""
        if left < 0:
            return None
        if isinstance(node, (ast.Constant, ast.UnaryOp)):
            return None if (value := _literals(node)) is None else frozenset(value)
        if isinstance(node, ast.IfExp):
            arms = [
                self._values(arm, place, left)
                for arm, wanted in ((node.body, True), (node.orelse, False))
                if self._may_be(node.test, wanted, place, left)
            ]
            return _all_of(arms)
        if isinstance(node, ast.Name):
            return self._values_of_name(node.id, place, left)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owners = self._owners(node.value.id, place, left)
            if owners is not None:
                return _all_of([self._values_of_attribute(node.attr, one, left) for one in owners])
        if isinstance(node, ast.Call):
            return frozenset({_SOMETHING}) if always_returns(place.owner, node) else None
        return self._values_of_option(node, place, left)

    def _values_of_option(self, node: ast.expr, place: Situation, left: int) -> Values:
        """Those of `args.mode`, or `args["mode"]`."""
        name = _option(node)
        if not name or not isinstance(node, (ast.Attribute, ast.Subscript)) or last_word(node.value) in ("self", "cls"):
            return None
        homes = self._homes(node.value, place, left) if isinstance(node.value, ast.Name) else ()
        values = self._options.values(name, homes)
        return _all_of([self._values(value, place, left) for value in values]) if values else None

    def _homes(self, of: ast.Name, place: Situation, left: int) -> frozenset[str]:
        """The programs that an object comes from, by all that is seen of who gives it; none where that is not known."""
        function = place.function
        if function is None or of.id not in _parameters(function) or function.name == "main":
            return frozenset({place.path})
        found: set[str] = set()
        for value, where in self._given(of.id, place, left) or ():
            homes = self._homes(value, where, left - 1) if isinstance(value, ast.Name) else None
            if not homes:
                return frozenset()
            found |= homes
        return frozenset(found)

    def _values_of_name(self, name: str, place: Situation, left: int) -> Values:
        """Those of a parameter and of a variable of the function around it."""
        function = place.function
        if function is None:
            return None
        is_parameter = name in _parameters(function)
        given = self._uses.bound(function, name)
        if given is None or not (given or is_parameter):
            return None
        found = [self._values(value, place, left - 1) for value in given]
        return _all_of([*found, self._values_of_parameter(name, place, left - 1)] if is_parameter else found)

    def _values_of_parameter(self, name: str, place: Situation, left: int) -> Values:
        given = None if self._uses.is_offered(name) else self._given(name, place, left)
        if given is None:
            return None
        return _all_of([self._values(value, where, left) for value, where in given])

    def _given(self, name: str, place: Situation, left: int) -> list[tuple[ast.expr, Situation]] | None:
        """What all calls give to a parameter, or its default, and where that stands; None where one is not seen."""
        function = place.function
        if function is None or left < 0:
            return None
        is_of_object = function.name == "forward" and place.owner is not None
        owner = place.owner.name if place.owner is not None else ""
        calls = calls_giving(self._uses, owner, name) if is_of_object else self._uses.calls(place)
        found = []
        for given in calls or ():
            value = _argument(given, function, name, isinstance(place.owner, ast.ClassDef))
            if value is None:
                return None
            by_default = value in (*function.args.defaults, *function.args.kw_defaults)
            if not by_default and isinstance(value, ast.Name) and value.id == name and given.place == place:
                continue  # it calls itself with what it was given
            found.append((value, Situation(place.path, place.around[:-1]) if by_default else given.place))
        return found or None

    def _owners(self, name: str, place: Situation, left: int) -> list[tuple[str, ast.ClassDef]] | None:
        """The classes of which a name may be an object: that of the method, or of those who call with `self`."""
        function = place.function
        if function is None or name not in _parameters(function) or self._uses.bound(function, name) != [] or left < 0:
            return None
        if place.owner is not None and function.args.args and function.args.args[0].arg == name:
            return None if function.decorator_list else [(place.path, place.owner)]
        found: list[tuple[str, ast.ClassDef]] = []
        for value, where in self._given(name, place, left - 1) or ():
            owners = self._owners(value.id, where, left - 1) if isinstance(value, ast.Name) else None
            if owners is None:
                return None
            found += owners
        return found or None

    def _values_of_attribute(self, name: str, owner: tuple[str, ast.ClassDef], left: int) -> Values:
        """What the objects of a class have under a name, by all that is assigned to it in the project."""
        _, made = owner
        family = self._uses.family(made.name)
        if family is None or made.decorator_list or self._uses.is_offered(name):
            return None
        setting = self._setting_by_any_name(family)
        programs = self._uses.programs(name)
        if None in setting:
            return None
        found: list[Values] = []
        for path, tree in programs or ():
            key = path, name, family
            if key not in self._given_in:
                if not self._uses.spend_on(path):
                    return None
                said = said_anywhere(tree, name) if setting else ()
                self._given_in[key] = [*assigned(tree, name, family), *said]
            for value, line in self._given_in[key]:
                if value is None:
                    return None
                found.append(self._values(value, Situation(path, around_line(tree, line)), left - 1))
        return _all_of(found) if found else None

    def _setting_by_any_name(self, family: frozenset[str]) -> set[str | None]:
        """The files that give attributes by names that are put together, to objects of others; with None if objects of
        some classes are among these for sure, or too many files do it.
        """
        if family not in self._setting:
            found: set[str | None] = set()
            for word in BY_HAND:
                programs = self._uses.programs(word, but_notebooks=True)
                kinds = {
                    sets_by_any_name(tree, family) if self._uses.spend_on(path) else "own"
                    for path, tree in programs or ()
                }
                found.update(None if kind == "own" else kind for kind in kinds if kind)
                found.update([None] if programs is None else ())
            self._setting[family] = found
        return self._setting[family]


def _all_of(parts: list[Values]) -> Values:
    found: set[Any] = set()
    for part in parts:
        if part is None:
            return None
        found |= part
    return frozenset(found)


def _literals(node: ast.expr) -> Any:
    """The value that is written, with its type, as one of one; None for others."""
    try:
        value = ast.literal_eval(node)
        hash(tuple(value) if isinstance(value, list) else value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return [(list, tuple(value)) if isinstance(value, list) else (type(value), value)]


def _compared(how: ast.cmpop, value: Any, literal: Any) -> bool | None:
    """None where they cannot be compared."""
    (_, one), ((kind, other),) = value, literal
    if value is _SOMETHING and kind is not type(None):
        return None
    if isinstance(how, (ast.In, ast.NotIn)) == (kind not in (list, tuple)):
        return None
    if isinstance(how, (ast.Is, ast.IsNot)) and kind not in (type(None), bool):
        return None
    try:
        return bool(_COMPARED[type(how)](one, other))
    except TypeError:
        return None


def _asked(test: ast.expr) -> ast.expr | None:
    """Of what a comparison asks, or all that are joined by `or`."""
    if isinstance(test, ast.Compare):
        return test.left
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.Or):
        return None
    asked = [part.left for part in test.values if isinstance(part, ast.Compare)]
    is_one = len(asked) == len(test.values) and len({ast.dump(one) for one in asked}) == 1
    return asked[0] if is_one else None


def _one_of(test: ast.expr) -> frozenset[Any]:
    """The values of which what is asked is one, if a test holds; none where it does not say so."""
    found: set[Any] = set()
    for part in test.values if isinstance(test, ast.BoolOp) else [test]:
        values = _literals(part.comparators[0]) if isinstance(part, ast.Compare) and len(part.ops) == 1 else None
        if values is None or not isinstance(part.ops[0], (ast.Eq, ast.In)):
            return frozenset()
        if isinstance(part.ops[0], ast.In):
            kind, parts = values[0]
            if kind not in (list, tuple):
                return frozenset()  # a text, of which it is a part
            values = [(type(one), one) for one in parts]
        found.update(values)
    return frozenset(found)


def _holds(test: ast.expr, value: Any) -> bool | None:
    """Is a comparison, or one of several, true of a value? None where that is not known."""
    if isinstance(test, ast.BoolOp):
        found = {_holds(part, value) for part in test.values}
        return True if True in found else None if None in found else False
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in _COMPARED:
        return None
    literal = _literals(test.comparators[0])
    return None if literal is None else _compared(test.ops[0], value, literal)


def _option(node: ast.AST) -> str:
    """The name of what is taken of an object, or under a key of a dict."""
    if isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return key if isinstance(key, str) else ""
    return node.attr if isinstance(node, ast.Attribute) else ""


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    arguments = function.args
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _argument(given: SeenCall, function: Any, name: str, is_method: bool) -> ast.expr | None:
    """What a call gives to a parameter, or its default; None where nobody sees it."""
    call, arguments = given.call, function.args
    plain = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    by_name = next((k.value for k in call.keywords if k.arg == name), None)
    if by_name is not None:
        return by_name
    if any(isinstance(one, ast.Starred) for one in call.args) or any(k.arg is None for k in call.keywords):
        return None
    if name in plain:
        at = plain.index(name)
        place = at - is_method + given.skipped
        if place < len(call.args):
            return call.args[place]
        behind = len(plain) - at
        return arguments.defaults[-behind] if behind <= len(arguments.defaults) else None
    names = [one.arg for one in arguments.kwonlyargs]
    return arguments.kw_defaults[names.index(name)] if name in names else None
