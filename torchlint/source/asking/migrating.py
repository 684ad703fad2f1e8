"""The fix of an outdated name: what a row of the table says instead, in the words of the file it stands in."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlint.edits import Edits
from torchlint.facts.outdated import OutdatedName
from torchlint.finding import Applicability, Fix
from torchlint.source.answers.outdated_arguments import bound
from torchlint.source.answers.outdated_names import OutdatedUse, is_data, may_be_asked_for
from torchlint.source.asking.spelled import PYTHONS_OWN, spelled
from torchlint.source.flow.kinds import PARAMETER, TENSOR
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.text.index import has_stars, last_word
from torchlint.source.text.spelling import argument, unparsed
from torchlint.source.training.grads import requires_grad

if TYPE_CHECKING:
    from torchlint.source.asking.views import Place

_DOTTED = re.compile(r"\b(?:torch|torchvision|collections|itertools|builtins)(?:\.\w+)+")
_COCO = {"detection": "COCO_V1", "segmentation": "COCO_WITH_VOC_LABELS_V1", "video": "KINETICS400_V1"}
_VARIABLE = "torch.autograd.Variable"
_MAKES_ALIKE = ("new", "new_zeros", "new_ones", "new_full", "new_empty", "new_tensor")
_NO_TENSORS = (ast.Constant, ast.JoinedStr, ast.Lambda, ast.List, ast.Tuple, ast.Dict, ast.GeneratorExp, ast.ListComp)
_TAKING_PLACE = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
_PURE = re.compile(r"math\.|builtins\.(?:abs|float|int|len|max|min)$")
_WITHOUT_WEIGHTS = ("vit_h_14", "regnet_y_128gf")


def migrated(place: Place, use: OutdatedUse) -> Fix | None:
    """The fix by the first row that fits; `place` is that of the use."""
    if use.unused:
        return place.fix("leave the import out", without_aliases(place, use.node, use.unused))
    for row in use.rows:
        if row.fix and not (row.fix == "unsafe" and row.doubt and place.anyone_says(*row.doubt.split())):
            fix = _by(place, use, row)
            if fix is not None:
                return fix
    return None


def _by(place: Place, use: OutdatedUse, row: OutdatedName) -> Fix | None:
    node = use.node
    message = "write what torch has instead" if len(row.help) > 60 else f"write `{row.help}`"
    if isinstance(node, ast.alias):
        return _other_import(place, row, message) if row.arguments == "same" else None
    called = isinstance(node, ast.Call)
    name = node.func if called else node
    if row.arguments in ("same", "value"):
        if row.arguments == "value" and (called or isinstance(node.up, ast.Attribute)):
            return None
        text, imports = spelled(place, row.instead, name)
        certainty = "unsafe" if row.name == _VARIABLE and not _is_asked_what_it_is(node) else _certainty(place, row)
        return place.fix(message, place.replace(name, text), applicability=certainty, imports=imports)
    if not called:
        return _as_decorator(place, row, name, message)
    if has_stars(node) and row.arguments != "add" or "#" in place.source(node):
        return None
    if row.arguments == "drop":
        [keyword] = [k for k in node.keywords if k.arg == row.condition.rstrip("=")]
        if any(isinstance(part, _TAKING_PLACE) for part in ast.walk(keyword.value)):
            return None
        left_out = place.without_argument(keyword)
        return place.fix(f"leave `{keyword.arg}` out", left_out, applicability=_certainty(place, row))
    if row.arguments == "add":
        given, _, value = row.instead.partition("=")
        return place.fix(message, place.with_keyword(given, value), applicability=_certainty(place, row))
    if row.arguments == "reduction":
        return _reduction(place, node, row)
    if row.arguments == "weights":
        return _weights(place, node, use.name, row)
    return _filled(place, node, row, message)


def _certainty(place: Place, row: OutdatedName) -> Applicability:
    """Whether a fix is safe, as its row says, in this project."""
    return "unsafe" if row.fix == "unsafe" or row.doubt and place.project_says(row.doubt) else "safe"


def _is_asked_what_it_is(node: ast.expr) -> bool:
    """`isinstance(x, Variable)` and `x: Variable` mean tensors. Others do not: `type(x) == Variable` has been false for
    each tensor, and `map(Variable, batch)` takes integers, of which `torch.Tensor` makes none.
    """
    while isinstance(node.up, (ast.Tuple, ast.List, ast.BinOp, ast.Subscript)):
        node = node.up
    up = node.up
    if isinstance(up, ast.Call):
        return last_word(up.func) == "isinstance" and node in up.args[1:]
    return node in (getattr(up, "annotation", None), getattr(up, "returns", None))


# Names


def _other_import(place: Place, row: OutdatedName, message: str) -> Fix | None:
    """`from torch.nn.init import normal` becomes `from torch.nn.init import normal_`, and so do its uses."""
    alias = place.node
    statement = alias.up
    if not isinstance(statement, ast.ImportFrom):
        return None
    home, _, word = row.instead.rpartition(".")
    is_own = row.instead.startswith(PYTHONS_OWN)
    bound = alias.asname or alias.name
    scope = statement_scope(place, bound)
    if scope is None or scope.bindings[bound] != [alias]:
        return None
    names = [n for n in place.module.index.names(bound) if n.at.lookup(bound) is scope]
    is_free = is_own or not place.module.index.names(word) and word not in scope.bindings
    renamed = alias.asname is None and word != bound and is_free and not may_be_asked_for(place.module, alias)
    kept = f"{word} as {bound}" if not renamed and word != bound else word
    edits: list[Edits | None] = [place.replace(name, word) for name in names] if renamed else []
    if is_own:
        if not renamed:
            return None
        edits.append(without_aliases(place, statement, (alias,)))
    elif len(statement.names) == 1:
        edits.append(place.replace(statement, f"from {home} import {kept}"))
    elif home == statement.module:
        edits.append(place.replace(alias, kept))
    else:
        edits.append(_divided(place, alias, f"from {home} import {kept}"))
    return place.fix(message, *edits, applicability=_certainty(place, row))


def statement_scope(place: Place, bound: str):
    """The scope in which an import binds a name."""
    node = place.node.up
    while not hasattr(node, "scope"):
        node = node.up
    return node.scope if bound in node.scope.bindings else None


def _divided(place: Place, alias: ast.alias, other: str) -> Edits | None:
    """An import without one of its names, and another one for that."""
    from libcst import FlattenSentinel, parse_statement

    kept = _others(place, alias.up, (alias,))
    parts = [parse_statement(text).body[0] for text in (kept, other)] if kept else ()
    return place.rewrite(FlattenSentinel(parts), alias.up) if parts else None


def without_aliases(
    place: Place, statement: ast.Import | ast.ImportFrom, aliases: tuple[ast.alias, ...]
) -> Edits | None:
    """An import without some of its names; None where a comment stands in it."""
    if len(statement.names) == len(aliases):
        return place.delete(statement)
    kept = _others(place, statement, aliases)
    return (place.replace(statement, kept),) if kept else None


def _others(place: Place, statement: ast.Import | ast.ImportFrom, aliases: tuple[ast.alias, ...]) -> str | None:
    """The source of an import without some of its names; None where a comment stands in it."""
    source = place.source(statement)
    if "#" in source:
        return None
    kept = ", ".join(place.source(alias) for alias in statement.names if alias not in aliases)
    start = (
        f"from {'.' * statement.level}{statement.module} import" if isinstance(statement, ast.ImportFrom) else "import"
    )
    return f"{start} ({kept})" if len(kept) > 80 else f"{start} {kept}"


# Calls


def _as_decorator(place: Place, row: OutdatedName, name: ast.expr, message: str) -> Fix | None:
    """A decorator without parentheses is called without arguments: `@custom_fwd`."""
    if row.arguments != "all" or name not in getattr(name.up, "decorator_list", ()):
        return None
    template = row.instead.replace("..., ", "").replace("...", "")
    text, imports = spelled(place, template.partition("(")[0], name)
    return place.fix(message, place.replace(name, f"{text}({template.partition('(')[2]}"), imports=imports)


def _filled(place: Place, call: ast.Call, row: OutdatedName, message: str) -> Fix | None:
    """The call that a row says, with the arguments of this one."""
    first = row.arguments.startswith("first ")
    signature = row.arguments.removeprefix("first ")
    given = {} if signature == "all" else bound(place.module, call, signature, row.is_method)
    if given is None:
        return None
    if row.name == _VARIABLE and isinstance(given["data"], _NO_TENSORS):
        return None
    target, other = _first_part(place, call) if first else (call, ())
    if target is None:
        return None
    imports: dict[str, None] = {}

    def spell(found: re.Match) -> str:
        text, needed = spelled(place, found[0], call.func)
        imports.update(dict.fromkeys(needed))
        return text

    template = _DOTTED.sub(spell, row.instead)
    if row.name == _VARIABLE and _is_new(place.at(given["data"])):
        template = template.replace(".detach()", "")  # nobody else has this tensor
    from torchlint.source.asking.filling import filled

    new = filled(place, call, template, given, passed=_passed(signature, given))
    if new is None:
        return None
    edits = place.rewrite(new, target)
    is_guessed = row.has_number_first and not is_data(place.module, call.func.value)
    may_be_none = row.name == _VARIABLE and _may_be_none(place, given["data"])  # of that an empty tensor was made
    is_changed = may_be_none or _is_reordered(place, row.instead + signature, given)
    is_unsure = is_guessed or is_changed or _is_asked_for(place, row.name, template)
    certainty = "unsafe" if is_unsure else _certainty(place, row)
    return place.fix(message, edits, *other, applicability=certainty, imports=tuple(imports))


def _may_be_none(place: Place, data: ast.expr) -> bool:
    return any(isinstance(one, ast.Constant) and one.value is None for one in place.origins_or_defaults(data))


def _is_reordered(place: Place, wanted: str, given: dict[str, ast.expr]) -> bool:
    """Do arguments change their places that have to be evaluated in turn: `x.add_(next(it), next(it))`?"""
    before = sorted(given, key=lambda name: given[name].pos)
    after = sorted(
        given, key=lambda name: (wanted.find(f"{{{name}}}") < 0, wanted.find(f"{{{name}}}"), wanted.find(name))
    )
    acting = [name for name in before if any(_acts(place, part) for part in ast.walk(given[name]))]
    if before == after or not acting:
        return False
    return len(acting) > 1 or any(isinstance(part, _TAKING_PLACE) for part in ast.walk(given[acting[0]]))


def _acts(place: Place, part: ast.AST) -> bool:
    """May something else come of it at another time?"""
    if not isinstance(part, ast.Call):
        return isinstance(part, _TAKING_PLACE)
    call = place.at(part)
    name = call.name(part.func) or ""
    return not _PURE.match(name) and (call.fact is None or call.fact.random or call.fact.in_place)


def _is_asked_for(place: Place, old: str, template: str) -> bool:
    """Becomes it an object of another class, while the project also speaks of the old class, as `isinstance` does? In
    a file that nobody reads it may.
    """
    word = old.rpartition(".")[2]
    if not word[0].isupper() or not template.partition("(")[0].rpartition(".")[2][:1].isupper():
        return False
    return _is_named_otherwise(place.module, word)


@remembered
def _is_named_otherwise(module: Module, word: str) -> bool:
    modules = (module, *map(module.world.module, module.world.view.mentions(word)))
    return any(one is None or any(map(_is_no_call, _names_of(one, word))) for one in modules)


def _names_of(module: Module, word: str) -> list[ast.expr]:
    """Where a file names what goes by a word elsewhere, also under the name that its import gives it."""
    given = {alias.asname for node in module.index.nodes(ast.ImportFrom) for alias in node.names if alias.name == word}
    names = [name for bound in {word, *filter(None, given)} for name in module.index.names(bound)]
    return [*names, *module.index.attributes(word)]


def _is_no_call(name: ast.expr) -> bool:
    """Is a class neither called nor the type of an annotation?"""
    if isinstance(name.up, ast.Call) and name.up.func is name:
        return False
    child: ast.AST = name
    while isinstance(child, ast.expr) and not isinstance(child.up, ast.stmt | ast.arg):
        child = child.up
    return child not in (getattr(child.up, "annotation", None), getattr(child.up, "returns", None))


def _is_new(data: Place) -> bool:
    """A tensor that has just been made, also by calls on one that has: nobody else has it, and it has no graph."""
    call = data.node
    if not isinstance(call, ast.Call) or requires_grad(data.value) is not False:
        return False
    fact = data.fact
    if _may_wrap(data):
        return False
    if fact is not None and (fact.creates or fact.like) or data.word() in _MAKES_ALIKE:
        return True
    method = isinstance(call.func, ast.Attribute) and data.name(call.func) is None
    parts = [call.func.value] if method else call.args[:1]
    return any(_is_new(data.at(part)) for part in parts)


def _may_wrap(made: Place) -> bool:
    """`torch.Tensor(x)`, `old.new(x)` of a tensor is that tensor again, with its graph; of numbers it is a new one."""
    args = made.node.args
    if len(args) != 1 or not (made.word().endswith("Tensor") or made.word() == "new"):
        return False
    if isinstance(args[0], (*_NO_TENSORS, ast.Starred)) or requires_grad(made.value.at(args[0], ())) is False:
        return False
    known = made.kinds(args[0])
    return not known or bool(known & {TENSOR, PARAMETER})


def _passed(signature: str, given: dict[str, ast.expr]) -> list[str]:
    """The parameters that are passed on by their names."""
    names = [part.strip() for part in signature.split(",")]
    return [name[:-1] for name in names if name.endswith("?") and name[:-1] in given]


def _first_part(place: Place, call: ast.Call) -> tuple[ast.expr | None, tuple]:
    """What stands for the first part of a result: `f(x)[0]`, `f(x).solution`, `a, _ = f(x)`."""
    up = call.up
    if isinstance(up, ast.Subscript) and up.value is call and unparsed(up.slice) == "0":
        return up, ()
    if isinstance(up, ast.Attribute) and up.attr in ("solution", "eigenvalues"):
        return up, ()
    if isinstance(up, ast.Assign) and len(up.targets) == 1 and isinstance(up.targets[0], ast.Tuple):
        parts = up.targets[0].elts
        if len(parts) == 2 and isinstance(parts[1], ast.Name) and not _is_read(place, parts[1].id):
            return call, (place.replace(up.targets[0], place.source(parts[0])),)
    return None, ()


def _is_read(place: Place, name: str) -> bool:
    return any(isinstance(n.ctx, ast.Load) for n in place.module.index.names(name))


# Arguments that became others


def _reduction(place: Place, call: ast.Call, row: OutdatedName) -> Fix | None:
    """`size_average` and `reduce` are one argument now."""
    if row.flag:
        return _reduction_by_position(place, call, *row.flag)
    given = {name: argument(call, name) for name in ("size_average", "reduce")}
    if argument(call, "reduction") is not None:
        return None
    said = []
    for value in given.values():
        if value is not None and not (isinstance(value, ast.Constant) and value.value in (True, False, None)):
            return None
        said.append(True if value is None or value.value is None else value.value)
    average, reduce = said
    word = "none" if not reduce else "mean" if average else "sum"
    keywords = [k for k in call.keywords if k.arg in given]
    edits = [place.replace(keywords[0], f'reduction="{word}"')]
    if len(keywords) == 2:
        return None
    return place.fix(f'write `reduction="{word}"`', *edits)


def _reduction_by_position(place: Place, call: ast.Call, name: str, position: int) -> Fix | None:
    """The same for one of the two, if it is the last argument by position and the other one is not given."""
    others = {keyword.arg for keyword in call.keywords}
    if len(call.args) != position + 1 or others & {"size_average", "reduce", "reduction"}:
        return None
    flag = call.args[position]
    word = "mean" if flag.value else "sum" if name == "size_average" else "none"
    return place.fix(f'write `reduction="{word}"`', place.replace(flag, f'reduction="{word}"'))


def _weights(place: Place, call: ast.Call, name: str, row: OutdatedName) -> Fix | None:
    """torchvision's `pretrained=True` became the name of the weights."""
    family = name.removeprefix("torchvision.models.").split(".")[0]
    if any(word in name for word in ("backbone_utils", "quantization", "optical_flow", "get_model", *_WITHOUT_WEIGHTS)):
        return None
    weights = f'"{_COCO.get(family, "IMAGENET1K_V1")}"'
    given: ast.AST
    if row.flag:
        if len(call.args) != 1 or any(k.arg == "pretrained" for k in call.keywords):
            return None
        given = value = call.args[0]
    else:
        [given] = [k for k in call.keywords if k.arg == "pretrained"]
        value = given.value
    if isinstance(value, ast.Constant):
        new = weights if value.value else "None"
    else:
        text = place.source(value)
        new = f"{weights} if {text if isinstance(value, _PLAIN) else f'({text})'} else None"
    if any(k.arg == "weights" for k in call.keywords):
        return None
    return place.fix(f"write `weights={new}`", place.replace(given, f"weights={new}"))


_PLAIN = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
