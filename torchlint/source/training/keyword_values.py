"""What a call is given by keyword, also through `**options`: from a display, `dict(…)`, entries that are set later."""

from __future__ import annotations

import ast

from torchlint.source.flow.calling import Callee
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.records import field_names, field_or_default
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import LookedThrough, Value, frame_of
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import constant_key
from torchlint.source.training.dict_changes import FILLING, REMOVING, changes_in

_COPYING = frozenset(("builtins.dict", "copy.copy", "copy.deepcopy"))


def keyword_values(call: Value, name: str) -> list[Value]:
    """Where a keyword argument may come from; empty if it is not given for certain."""
    found: list[Value] = []
    for keyword in call.node.keywords:
        if keyword.arg == name:
            found += origins(call.at(keyword.value, ()))
        elif keyword.arg is None:
            found += _entries(call.at(keyword.value, ()), name)
    return found


def keyword_names(call: Value) -> frozenset[str] | None:
    """The keywords that a call is given, also through `**options`; None where they are not all seen."""
    names: set[str] = set()
    for keyword in call.node.keywords:
        if keyword.arg is not None:
            names.add(keyword.arg)
            continue
        given = _names_in(call.at(keyword.value, ()))
        if given is None:
            return None
        names |= given
    return frozenset(names)


@remembered(meanwhile=None)
def _names_in(options: Value) -> frozenset[str] | None:
    """The keys of a dict where it is given as `**options`; None where they are not all seen."""
    options = _returned(options)
    changed = changes_in(options).names
    if changed is None:
        return None
    if (passed := _passed_on(options)) is not None:
        given = keyword_names(passed.call)
        return None if given is None else frozenset(changed | (given - _parameters(passed)))
    found = list(map(_keys, origins(options)))
    known = [keys for keys in found if keys is not None]
    return frozenset(changed.union(*known)) if found and len(known) == len(found) else None


def _surely_lacks(options: Value, name: str) -> bool:
    names = _names_in(options)
    return names is not None and name not in names and _is_seen(options)


def _keys(made: Value) -> frozenset[str] | None:
    """The keys of a dict as it is made."""
    node = made.node
    if made.path:
        return None
    if isinstance(node, ast.Dict):
        written = frozenset(k.value for k in node.keys if isinstance(k, ast.Constant) and isinstance(k.value, str))
        spread = [_names_in(made.at(value, ())) for key, value in zip(node.keys, node.values) if key is None]
        is_open = any(key is not None and not isinstance(key, ast.Constant) for key in node.keys)
        return None if is_open else _joined(written, *spread)
    if _is_merged(node):
        return _joined(_names_in(made.at(node.left, ())), _names_in(made.at(node.right, ())))
    if (copied := _copied(made)) is not None:
        return _joined(_names_in(copied), keyword_names(made))
    if isinstance(node, ast.Call) and not node.args and _is_dict_call(made):
        return keyword_names(made)
    if (record := _record(made)) is not None:
        known = list(map(_field_names, objects(record)))
        return frozenset(name for names in known for name in names or ()) if known and None not in known else None
    return None


def _joined(*parts: frozenset[str] | None) -> frozenset[str] | None:
    known = [part for part in parts if part is not None]
    return frozenset().union(*known) if len(known) == len(parts) else None


def _field_names(record: Value) -> frozenset[str] | None:
    """The fields of what one class of the project makes."""
    makers = _makers(record)
    return field_names(makers[0].owner) if len(makers) == 1 and makers[0].kind == "class" else None


def _makers(record: Value) -> list[Callee]:
    return callees(record) if isinstance(record.node, ast.Call) else []


@remembered(meanwhile=[])
def _entries(options: Value, name: str) -> list[Value]:
    """What stands in a dict under a key."""
    options = _returned(options)
    node = options.node
    if _is_merged(node):
        return _entries(options.at(node.right, ()), name) or _entries(options.at(node.left, ()), name)
    if changes_in(options).may_remove(name):
        return []
    set_later = _set_later(options, name)
    if set_later and not changes_in(options).only_by_default(name):
        return set_later
    found: list[Value] = []
    if (passed := _passed_on(options)) is not None:
        found = [] if name in _parameters(passed) else keyword_values(passed.call, name)
        return found or set_later
    for made in origins(options):
        copied = _copied(made)
        if _is_merged(made.node) and not made.path and _is_seen(options):
            found += _entries(made, name)
        elif copied is not None or _is_dict_call(made):
            found += keyword_values(made, name) or (_entries(copied, name) if copied is not None else [])
        elif (record := _record(made)) is not None:
            found += [value for one in objects(record) for value in _field(one, name)]
        elif isinstance(made.node, ast.Dict) and not made.path and _is_seen(options):
            found += _displayed(made, name)
        elif made.node is not None:
            found += origins(made.at(made.node, (name,)))
    return found or set_later


def _passed_on(options: Value) -> LookedThrough | None:
    """The frame of a function whose own `**options` they are, where the call is known."""
    node = options.node
    scope = node.at.lookup(node.id) if isinstance(node, ast.Name) and options.frame is not None else None
    bound = reaching(node, scope) if scope is not None else []
    if len(bound) != 1 or not isinstance(bound[0], ast.arg) or bound[0] is not scope.node.args.kwarg:
        return None
    frame = options.frame.of(scope.node)
    return frame if frame is not None and frame.call is not None and _is_plain(frame.call) else None


def _is_plain(call: Value) -> bool:
    """Is all that the function is given written there, and nothing bound before?"""
    return last_word(call.node.func) != "partial" and not any(callee.partials for callee in callees(call))


def _parameters(frame: LookedThrough) -> frozenset[str]:
    arguments = frame.function.args
    return frozenset(a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))


def _returned(options: Value) -> Value:
    """`options` of the one `return options` in the function of the project that is called, which may fill it first."""
    if not isinstance(options.node, ast.Call) or options.path:
        return options
    called = callees(options)
    function = called[0].function if len(called) == 1 and called[0].kind == "function" else None
    if not isinstance(function, ast.FunctionDef) or function.yields or len(function.gives) != 1:
        return options
    if not isinstance(function.gives[0], ast.Name) or called[0].module is None:
        return options
    frame = options.frame
    while frame is not None:  # what calls itself
        if frame.function is function:
            return options
        frame = frame.call.frame if frame.call else None
    inside = frame_of(options.module, function, options, called[0].instance, called[0].closure)
    return Value(called[0].module, function.gives[0], inside)


def _record(made: Value) -> Value | None:
    """`options` of `asdict(options)`, `vars(options)`, `options.__dict__` or `options._asdict()`"""
    node = made.node
    if made.path:
        return None
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return made.at(node.value, ())
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "_asdict":
        return made.at(node.func.value, ())
    if not isinstance(node, ast.Call) or len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
        return None
    is_record = {c.name for c in callees(made)} in ({"dataclasses.asdict"}, {"builtins.vars"})
    return made.at(node.args[0], ()) if is_record else None


def _field(record: Value, name: str) -> list[Value]:
    """Where a field of a dataclass or NamedTuple of the project may come from; of None there is nothing."""
    if isinstance(record.node, ast.Constant) and record.node.value is None:
        return []
    if (names := _field_names(record)) is not None and name not in names:
        return []
    given = [field_or_default(c.owner, record, name) if c.kind == "class" else None for c in _makers(record)]
    if not given or None in given:
        return [Value(record.module, None)]
    return [value for one in given if one is not None for value in origins(one)]


def written_option(call: Value, name: str) -> ast.expr | None:
    """What stands under a key of the one display that a call is given as `**options`, in the same function."""
    for keyword in call.node.keywords:
        options = call.at(keyword.value, ())
        made = origins(options) if keyword.arg is None else []
        if len(made) != 1 or not isinstance(made[0].node, ast.Dict) or made[0].path or changes_in(options).about(name):
            continue
        table = made[0].node
        if made[0].module is call.module and enclosing_function(table) is enclosing_function(call.node):
            found = [v for key, v in zip(table.keys, table.values) if key is not None and constant_key(key) == name]
            return found[0] if len(found) == 1 and None not in table.keys else None
    return None


def _displayed(made: Value, name: str) -> list[Value]:
    """What stands under a key in `{**defaults, "name": value}`: the last one counts."""
    for key, value in reversed([*zip(made.node.keys, made.node.values)]):
        given = made.at(value, ())
        found = _entries(given, name) if key is None else origins(given) if constant_key(key) == name else []
        if found:
            return found
    return []


def _is_merged(node: ast.AST | None) -> bool:
    """`defaults | {"name": value}`"""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)


def _is_dict_call(made: Value) -> bool:
    return isinstance(made.node, ast.Call) and {c.name for c in callees(made)} == {"builtins.dict"}


def _copied(made: Value) -> Value | None:
    """The dict of which a call makes a copy: `dict(defaults)`, `defaults.copy()`, `copy.deepcopy(defaults)`."""
    node = made.node
    if not isinstance(node, ast.Call) or made.path:
        return None
    names = {c.name for c in callees(made)}
    if len(names) == 1 and names <= _COPYING and len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
        return made.at(node.args[0], ())
    is_method = isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and names <= {".copy"}
    return made.at(node.func.value, ()) if is_method and not node.args else None


def is_given(call: Value, name: str) -> bool:
    """Is a keyword given for certain, with what `keyword_values` says, whichever way a call is reached?"""
    return any(
        keyword.arg == name or keyword.arg is None and _surely_holds(call.at(keyword.value, ()), name)
        for keyword in call.node.keywords
    )


@remembered(meanwhile=False)
def _surely_holds(options: Value, name: str) -> bool:
    options = _returned(options)
    node = options.node
    if _is_merged(node):
        left, right = options.at(node.left, ()), options.at(node.right, ())
        return _surely_holds(right, name) or _surely_lacks(right, name) and _surely_holds(left, name)
    changes = changes_in(options)
    if changes.may_remove(name) or not _is_seen(options) or not changes.always_run(name, node):
        return False
    if any(_is_given_to_a_remover(options.module, bound) for bound in _bindings(node)):
        return False
    if changes.first_set(name) < node.lineno:
        return True
    found = origins(options)
    return bool(found) and all(_is_made_with(made, name) for made in found)


def _bindings(node: ast.AST) -> list[ast.AST]:
    """What may have bound a name to what it is."""
    scope = node.at.lookup(node.id) if isinstance(node, ast.Name) else None
    return [bound for bound in reaching(node, scope) if isinstance(bound, ast.Name)] if scope is not None else []


@remembered
def _is_given_to_a_remover(module: Module, bound: ast.Name) -> bool:
    """Is it given, as it is, to a function of the project that takes keys out of what it has: `clean(options)`?"""
    for use in uses(module, bound):
        given = use.up if isinstance(use.up, ast.keyword) and use.up.arg else use
        if isinstance(given.up, ast.Call) and given is not given.up.func:
            called = callees(Value(module, given.up))
            if any(one.module and one.function and _removes(one.module, one.function) for one in called):
                return True
    return False


@remembered
def _removes(module: Module, function: ast.AST) -> bool:
    calls = module.index.inside(function, ast.Call, ast.Delete)
    return any(isinstance(one, ast.Delete) or last_word(one.func) in REMOVING for one in calls)


def _is_made_with(made: Value, name: str) -> bool:
    if isinstance(made.node, ast.Dict) and not made.path:
        for key, value in reversed([*zip(made.node.keys, made.node.values)]):
            if key is None:
                part = made.at(value, ())
                if _surely_holds(part, name):
                    return True
                if not _surely_lacks(part, name):
                    return False
            elif constant_key(key) is None or constant_key(key) == name:  # what is computed may be the key, too
                return constant_key(key) == name
        return False
    if _is_merged(made.node) and not made.path:
        return _surely_holds(made, name)
    if (record := _record(made)) is not None:
        fields = [_field(one, name) for one in objects(record)]
        return bool(fields) and all(one and all(value.node is not None for value in one) for one in fields)
    copied = _copied(made)
    if copied is None and not _is_dict_call(made):
        return False
    return is_given(made, name) or (
        copied is not None and all(k.arg for k in made.node.keywords) and _surely_holds(copied, name)
    )


def _is_seen(options: Value) -> bool:
    """Do all changes of the dict stand in the function where it is used?"""
    return changes_in(options).functions <= {enclosing_function(options.node)}


def _set_later(options: Value, name: str) -> list[Value]:
    """The last `options["name"] = value`, or `options.update(name=value)`, before the place in the same function."""
    return changes_in(options).last_value(options, name, _set_to)


def _set_to(change: Value, name: str) -> list[Value] | None:
    """What a change sets a key to; None if it does not."""
    node = change.node
    if isinstance(node, ast.Subscript) and constant_key(node.slice) == name and isinstance(node.up, ast.Assign):
        return origins(change.at(node.up.value, ()))
    if isinstance(node, ast.Call) and node.func.attr in FILLING:
        return _given_to(change, name) or None
    return None


def _given_to(change: Value, name: str) -> list[Value]:
    call = change.node
    if call.func.attr == "setdefault":
        same = len(call.args) == 2 and constant_key(call.args[0]) == name
        return origins(change.at(call.args[1], ())) if same else []
    found = keyword_values(change, name)
    for given in call.args:
        if isinstance(given, ast.Dict):
            found += _entries(change.at(given, ()), name)
    return found
