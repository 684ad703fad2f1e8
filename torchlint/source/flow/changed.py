"""Whether an object may have become another than its constructor or display says: changed in place, attributes given
anew.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Answer, Stored, Value
from torchlint.source.text.index import Index, enclosing_class, enclosing_function, standing_in, statement_of, within
from torchlint.source.text.spelling import dotted

CONTAINERS = (ast.List, ast.Dict, ast.Set)
# What a method of a container is called that puts something where something else may be expected. An `append` leaves
# the places before it.
_CHANGING = (
    "append extend insert update setdefault pop popitem clear remove sort reverse add_module register_module"
    " __setitem__".split()
)


def is_changed(value: Value) -> bool:
    """Is the list, dict or container module that an expression makes changed under the name it is given, or under one
    that it gets later (`self.layers = layers`)?
    """
    changed, second = _changed_names(value.module.index), _second_names(value.module)
    names = names_of(value)
    if not names.union(*(second.get(name, ()) for name in names)).isdisjoint(changed):
        return True
    own = {name.removeprefix("self.") for name in names if name.startswith("self.")}
    instance = value.frame.instance if own and value.frame is not None else None
    homes = [value.module, *([instance.module] if instance is not None else [])]
    return any(not own.isdisjoint(_changed_from_outside(home)) for home in homes)


@remembered
def _changed_from_outside(module: Module) -> set[str]:
    """`head` of `net.head[1] = nn.Identity()`, `del self.net.head[1]`: which attributes' objects are changed by who has
    the object whose attributes they are.
    """
    return {
        name.rpartition(".")[2]
        for name in _changed_names(module.index)
        if "." in name and name.rpartition(".")[0] != "self"
    }


@remembered
def _second_names(module: Module) -> dict[str, set[str]]:
    """By a dotted name, those that what it holds is given besides."""
    names: dict[str, set[str]] = {}
    for node in module.index.nodes(ast.Assign):
        if isinstance(node.value, (ast.Name, ast.Attribute)) and (name := dotted(node.value)):
            names.setdefault(name, set()).update(filter(None, map(dotted, node.targets)))
    return names


def _changed_names(index: Index) -> dict[str, list[ast.AST]]:
    """The dotted names in a file whose objects are changed in place, with the changes: `d["a"] = 1`, `del d[0]`, `d +=
    …`, `d.append(1)`.
    """
    if index.changed_names is None:
        stores = [(n.value, n) for n in index.nodes(ast.Subscript) if not isinstance(n.ctx, ast.Load)]
        grown = [(n.target, n) for n in index.nodes(ast.AugAssign)]
        called = [
            (c.func.value, c) for word in _CHANGING for c in index.callers(word) if isinstance(c.func, ast.Attribute)
        ]
        index.changed_names = {}
        for named, change in (*stores, *grown, *called):
            if name := dotted(named):
                index.changed_names.setdefault(name, []).append(change)
    return index.changed_names


def changes_of(index: Index, name: str) -> list[ast.AST]:
    """The changes in place of what a dotted name holds."""
    return _changed_names(index).get(name, [])


def may_have_grown(module: Module, options: ast.expr) -> bool:
    """Is what a name holds changed under it, where it is not made right there as a display?"""
    if not changes_of(module.index, dotted(options) or ""):
        return False
    scope = options.at.lookup(options.id) if isinstance(options, ast.Name) else None
    bound = [one.up for one in scope.bindings[options.id]] if scope is not None else []
    return not bound or not all(isinstance(one, ast.Assign) and isinstance(one.value, ast.Dict) for one in bound)


def says_a_key(module: Module, key: ast.expr) -> bool:
    """`TABLE[kind]`, `TABLE[config["loss"]]` and `TABLE[config.loss]`, where the file changes nothing of that name."""
    if isinstance(key, ast.Subscript):
        return isinstance(key.slice, ast.Constant) and not changes_of(module.index, dotted(key.value) or "")
    if isinstance(key, ast.Attribute):
        return all(dotted(store.value) == "self" for store in module.index.stored(key.attr))
    return isinstance(key, ast.Name)


def last_added(
    made: Value, before: ast.AST | None = None, back: int = 1, runs: Callable[[ast.AST], Answer] = lambda change: None
) -> ast.expr | None:
    """What is put last (with `back` 2, before the last), by statements of its own, into a list (before it is used
    there) or container that is made or grown here under a name. `runs` says whether the tests around a change hold.
    """
    first = statement_of(made.node)
    function = enclosing_function(first)
    changes = [change for name in names_of(made) for change in changes_of(made.module.index, name)]
    mine = [
        c
        for c in changes
        if enclosing_function(c) is function
        and c.lineno > first.lineno
        and (before is None or c.lineno < before.lineno)
        and runs(c) is not False
    ]
    if not mine and isinstance(first, ast.AugAssign):
        return _last_of(first.value, back)
    if not mine or len(names_of(made)) != 1 or before is None and len(mine) < len(changes):
        return None
    last = max(mine, key=lambda n: (n.lineno, n.col_offset))
    statement = statement_of(last)
    if before is None and is_used_before(made, statement):
        return None
    block = statement
    if before is not None and isinstance(made.node, ast.List):
        while _is_passed(block.up, made.node) or isinstance(block.up, ast.If) and runs(last):
            block = block.up
    if not within(statement_of(before) if before is not None else first, block.up) or block.up is first:
        return None
    if isinstance(last, ast.AugAssign):
        return _last_of(last.value, back)
    if (
        not isinstance(last, ast.Call)
        or last.up is not statement
        or not isinstance(statement, ast.Expr)
        or last.keywords
        or not last.args
    ):
        return None
    if last.func.attr == "extend":
        return _last_of(last.args[0], back)
    if back > 1:
        return None
    takes = {"append": 1, "add_module": 2, "register_module": 2}
    return last.args[-1] if takes.get(last.func.attr) == len(last.args) else None


def _is_passed(block: ast.AST, listed: ast.List) -> bool:
    """Does a loop fill a list that was empty, each round to its end? If it had no rounds there would be no layers."""
    return (
        isinstance(block, ast.For)
        and not block.orelse
        and not listed.elts
        and not any(isinstance(inner, (ast.Break, ast.Continue)) for inner in ast.walk(block))
    )


def _last_of(listed: ast.expr, back: int) -> ast.expr | None:
    if not isinstance(listed, (ast.List, ast.Tuple)) or len(listed.elts) < back:
        return None
    return None if any(isinstance(e, ast.Starred) for e in listed.elts[-back:]) else listed.elts[-back]


def only_appended(made: Value) -> ast.expr | None:
    """What a list that is made empty here gets by the one `append` there is for it."""
    if not isinstance(made.node, ast.List) or made.node.elts or len(names_of(made)) != 1:
        return None
    function = enclosing_function(made.node)
    changes = [
        c for name in names_of(made) for c in changes_of(made.module.index, name) if enclosing_function(c) is function
    ]
    only = changes[0] if len(changes) == 1 else None
    return only.args[0] if isinstance(only, ast.Call) and only.func.attr == "append" and len(only.args) == 1 else None


def added_layers(made: Value) -> list[Value]:
    """Each layer of a list of layers that is filled where it is made by `append` alone; what nobody knows where it may
    be another's.
    """
    module, function = made.module, enclosing_function(made.node)
    names = {*names_of(made)}
    names |= {second for name in names for second in _second_names(module).get(name, ())}
    own = {name.removeprefix("self.") for name in names}
    found = [change for name in names for change in changes_of(module.index, name)]
    mine = [change for change in found if not _is_of_another_class(change, function)]
    appends = [c for c in mine if isinstance(c, ast.Call) and c.func.attr == "append" and len(c.args) == 1]
    is_filled_here = len(appends) == len(mine) and all(enclosing_function(c) is function for c in mine)
    if not is_filled_here or not own.isdisjoint(_changed_from_outside(module)):
        return [Value(module, None)]
    return [*map(made.at, made.node.args[:1]), *(made.at(change.args[0], made.path[1:]) for change in appends)]


def _is_of_another_class(change: ast.AST, function: ast.AST | None) -> bool:
    """Does a class change its own `self.layers` that has nothing to do with the one of a method?"""
    mine = enclosing_class(function) if function is not None else None
    around = enclosing_function(change)
    other = enclosing_class(around) if around is not None else None
    if mine is None or other is None or mine is other:
        return False
    return all(isinstance(base, ast.Attribute) and base.attr == "Module" for base in other.bases)


def pieces(made: Value) -> list[Value]:
    """What the list that is made here holds: what is written into it, or what its one `append` adds; nothing where that
    is not seen.
    """
    parts: list[ast.expr] = []
    if isinstance(made.node, (ast.ListComp, ast.GeneratorExp)):
        parts = [made.node.elt]
    elif isinstance(made.node, (ast.List, ast.Tuple)):
        added = only_appended(made)
        parts = [added] if added is not None else [] if is_changed(made) else made.node.elts
    return [] if made.path else [made.at(part, ()) for part in parts]


def only_entry(made: Value, key: str | int) -> ast.expr | None:
    """What a dict that is made here, and changed by nothing but `d["key"] = …` of its own function, has under a key
    that it gets once.
    """
    names = names_of(made)
    if len(names) != 1 or any(not isinstance(k, ast.Constant) for k in made.node.keys):
        return None
    [name] = names
    function = enclosing_function(made.node)
    found = [v for k, v in zip(made.node.keys, made.node.values) if k.value == key]
    for change in changes_of(made.module.index, name):
        store = change.up
        if (
            "." in name
            or not isinstance(change, ast.Subscript)
            or not isinstance(store, ast.Assign)
            or not isinstance(change.slice, ast.Constant)
            or enclosing_function(change) is not function
        ):
            return None
        if change.slice.value == key:
            found.append(store.value if len(store.targets) == 1 else None)
    return found[0] if len(found) == 1 and name not in _second_names(made.module) else None


def is_used_before(made: Value, change: ast.stmt) -> bool:
    """Is the container or module that is made here called, or handed on under its name, before a later change of it in
    the same function?
    """
    index, function, first = made.module.index, enclosing_function(change), made.node.lineno
    for name in names_of(made):
        last = name.rpartition(".")[2]
        uses = index.attributes(last) if "." in name else index.names(last)
        for use in standing_in(function or made.module.tree, uses):
            if (
                first < use.lineno < change.lineno
                and isinstance(use.up, (ast.Call, ast.keyword))
                and dotted(use) == name
                and enclosing_function(use) is function
            ):
                return True
    return False


def is_given_anew(instance: Value, name: str, entries: list[Stored]) -> bool:
    """Is an attribute of an object set from outside, or by the constructor that a dataclass gets?"""
    names = names_of(instance)
    if names and not names.isdisjoint(_given_from_outside(instance.module, name)):
        return True
    if all(isinstance(e.target, ast.Name) and isinstance(e.target.up, ast.AnnAssign) for e in entries) and isinstance(
        instance.node, ast.Call
    ):
        call = instance.node
        if any(k.arg in (name, None) for k in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
            return True
        return bool(call.args) and not _comes_behind(entries[0].target.up, len(call.args))
    return False


@remembered
def _given_from_outside(module: Module, name: str) -> set[str | None]:
    """The dotted names of the objects of which a file sets an attribute."""
    return {dotted(store.value) for store in module.index.stored(name)}


def _comes_behind(field: ast.AnnAssign, given: int) -> bool:
    """Is a field of a dataclass without bases certainly none of the first so many?"""
    owner = field.up
    if not isinstance(owner, ast.ClassDef) or owner.bases:
        return False
    before = owner.body[: owner.body.index(field)] if field in owner.body else []
    fields = [s for s in before if isinstance(s, ast.AnnAssign) and not isinstance(s.value, ast.Call)]
    return sum("ClassVar" not in ast.dump(s.annotation) for s in fields) >= given


def names_of(made: Value) -> set[str]:
    """The dotted names that an object is assigned to where it is made, also in `first, second = [], {}`."""
    node = made.node
    parent = node if isinstance(node, ast.AugAssign) else node.up if node is not None else None
    if isinstance(parent, (ast.Tuple, ast.List)) and isinstance(parent.up, ast.Assign):
        return set(filter(None, map(dotted, _opposite(parent, node))))
    targets = (
        parent.targets
        if isinstance(parent, ast.Assign)
        else [parent.target]
        if isinstance(parent, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr))
        else []
    )
    return {name for target in targets if (name := dotted(target))}


def _opposite(listed: ast.Tuple | ast.List, node: ast.AST) -> list[ast.expr]:
    """What stands on the left in the place of an element on the right."""
    place = listed.elts.index(node)
    if any(isinstance(element, ast.Starred) for element in listed.elts):
        return []
    lefts = [target.elts for target in listed.up.targets if isinstance(target, (ast.Tuple, ast.List))]
    return [left[place] for left in lefts if len(left) == len(listed.elts) and not isinstance(left[place], ast.Starred)]


def grows(node: ast.expr) -> bool:
    """Is a list that a name holds changed after it was made (`layers.append(…)`, `layers += …`)?"""
    if not isinstance(node, ast.Name):
        return not isinstance(node, (ast.List, ast.Tuple))
    scope = node.at.lookup(node.id)
    if scope is None:
        return True
    for other in ast.walk(scope.node):
        if isinstance(other, ast.Attribute) and isinstance(other.value, ast.Name) and other.value.id == node.id:
            return True
        if isinstance(other, ast.AugAssign) and isinstance(other.target, ast.Name) and other.target.id == node.id:
            return True
    return False
