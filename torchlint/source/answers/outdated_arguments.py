"""Which rows about an outdated name fit the arguments of a call: what each parameter is given there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.facts.outdated import OutdatedName
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import has_stars

_PARAMETER = re.compile(r"(\w+)(\?|:int|:number|==?.+)?")
_NO_PARAMETERS = ("", "same", "all", "value", "drop", "add", "reduction", "weights")


def fitting(module: Module, call: ast.Call, rows: tuple[OutdatedName, ...]) -> tuple[OutdatedName, ...]:
    """The rows that a call may mean; all of them where none fits, and those for any call where stars hide arguments."""
    return tuple(_that_fit(module, call, rows)) or rows


def _that_fit(module: Module, call: ast.Call, rows: tuple[OutdatedName, ...]) -> Iterator[OutdatedName]:
    for row in rows:
        signature = row.arguments.removeprefix("first ")
        hidden = has_stars(call)
        if signature in _NO_PARAMETERS or not hidden and bound(module, call, signature, row.is_method) is not None:
            yield row


def bound(module: Module, call: ast.Call, signature: str, is_method: bool) -> dict[str, ast.expr] | None:
    """The arguments of a call by the parameters of a row; None if they are not what it says."""
    parameters = [_PARAMETER.fullmatch(part.strip()) for part in signature.split(",")]
    values = list(call.args)
    if is_method:
        values.insert(0, call.func.value)
    if len(values) > len(parameters):
        return None
    names = [parameter[1] for parameter in parameters]
    given = dict(zip(names, values))
    for keyword in call.keywords:
        if keyword.arg not in names or keyword.arg in given:
            return None
        given[keyword.arg] = keyword.value
    for parameter in parameters:
        if not _fits(module, parameter[2] or "", given.get(parameter[1])):
            return None
    return given


def _fits(module: Module, wanted: str, value: ast.expr | None) -> bool:
    if wanted.startswith("=="):
        return value is not None and _is_value(module, value, wanted[2:])
    if wanted.startswith("="):
        return value is None or _is_value(module, value, wanted[1:])
    if wanted == "?":
        return True
    if value is None:
        return False
    if wanted:
        number = value.operand if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub) else value
        kinds = (int,) if wanted == ":int" else (int, float)
        return isinstance(number, ast.Constant) and type(number.value) in kinds
    return True


def _is_value(module: Module, value: ast.expr, wanted: str) -> bool:
    if isinstance(value, ast.Constant):
        return repr(value.value) == repr(_literal(wanted)) or value.value == wanted
    return external_name(Value(module, value)) == wanted


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except ValueError:
        return None
