"""Which expressions certainly are modules: by what makes them or holds them, or by what the parts of known models are
called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.answers.parts_by_name import asked_by_name, is_a_layer_by_name, words_meant
from torchlint.source.flow.callers import given_for
from torchlint.source.flow.changed import is_changed
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.identity import external_name, instance_class
from torchlint.source.flow.kinds import is_module, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.index import has_stars, last_word
from torchlint.source.text.spelling import receiver, unparsed
from torchlint.source.training.regions import tests_around

# Attributes of the models of libraries that are modules, not parameters.
_LAYERS = frozenset(
    "fc fc1 fc2 classifier features backbone encoder decoder head heads layer1 layer2 layer3 layer4 conv1 bn1 avgpool"
    " stem blocks roi_heads rpn layer layers stages bert roberta distilbert transformer base_model embeddings"
    " vision_model text_model vision_tower".split()
)
_DICTS = frozenset(("builtins.dict", "collections.OrderedDict"))
_LISTING = frozenset(("children", "modules", "named_children", "named_modules"))


def is_certainly_a_module(value: Value) -> bool:
    if is_module(value) or _is_inside(value):
        return True
    made = origins(value)
    return bool(made) and all(
        origin.node is not None
        and origin.path != ("applied",)  # what the last layer of a Sequential gives
        and (
            is_module(origin)  # one of several
            or _is_listed(origin)
            or layers_indexed(origin)
            or _is_pretrained(origin)
            or _is_element(origin)
            or _is_asked_by_name(origin)
            or _is_of_a_display(origin)
            or _is_given(origin)
        )
        for origin in made
    )


def is_a_weight(value: Value) -> bool:
    """`layer.weight`, of what is a module for certain, or below `if isinstance(layer, nn.Linear):`"""
    node = value.node
    if not isinstance(node, ast.Attribute) or node.attr not in ("weight", "bias"):
        return False
    told = any(
        unparsed(subject) == unparsed(node.value) and (external_name(value.at(kind, ())) or "").startswith("torch.nn.")
        for test, truth in tests_around(node)
        if truth
        for subject, kind in _asked_types(test)
    )
    return told or is_certainly_a_module(value.at(node.value, ()))


def _asked_types(test: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """`layer` and `nn.Linear` of `isinstance(layer, nn.Linear) and layer.out_features > 1`"""
    for part in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]:
        if isinstance(part, ast.Call) and last_word(part.func) == "isinstance" and len(part.args) == 2:
            yield part.args[0], part.args[1]


def _is_inside(value: Value) -> bool:
    """`model.encoder.layers[0]`: by the names of its parts."""
    node = value.node
    while isinstance(node, ast.Subscript):
        node = node.value
    if not isinstance(node, ast.Attribute) or node.attr not in _LAYERS or kinds(value.at(node, ())):
        return False
    whole = value.at(node.value, ())
    if is_module(whole) or _is_inside(whole):
        return True
    found = origins(whole) if isinstance(whole.node, ast.Name) else []
    return any(map(_is_pretrained, found)) or len(found) == 1 and _is_given(found[0])


@remembered(meanwhile=False)
def _is_given(parameter: Value) -> bool:
    """Do all calls of a function, also those of other files, give it a module?"""
    given = given_for(parameter) if isinstance(parameter.node, ast.arg) else []
    return bool(given) and all(one is not None and (is_module(one) or _is_inside(one)) for one in given)


def _is_asked_by_name(origin: Value) -> bool:
    """`getattr(model, name)`, where each attribute that may be meant is a layer"""
    asked = asked_by_name(origin)
    if asked is None:
        return False
    whole, name = asked
    words = words_meant(name)
    if (
        words
        and words <= _LAYERS
        and not kinds(origin)
        and (is_module(whole) or any(map(_is_pretrained, origins(whole))))
    ):
        made = objects(whole)
        if all(isinstance(one.node, ast.Call) and instance_class(one) is None for one in made):
            return True  # a model of a library
    return is_a_layer_by_name(whole, name)


def _is_of_a_display(origin: Value) -> bool:
    """`parts[name]`, or one of `parts.values()`, of `parts = {"stem": model.stem, "trunk": model.trunk}`"""
    table = _table_of(origin)
    found = origins(origin.at(table, ())) if table is not None else []
    return bool(found) and all(
        isinstance(o.node, ast.Dict)
        and not o.path
        and not is_changed(o)
        and bool(o.node.values)
        and None not in o.node.keys
        and all(is_certainly_a_module(o.at(each, ())) for each in o.node.values)
        for o in found
    )


def _table_of(origin: Value) -> ast.expr | None:
    """`parts` of `parts[name]`, and of one of `parts.values()` or `parts.items()`"""
    node = origin.node
    if isinstance(node, ast.Subscript):
        return None if isinstance(node.slice, ast.Slice) or origin.path else node.value
    if not isinstance(node, ast.Call) or last_word(node.func) not in ("values", "items") or node.args:
        return None
    is_value = origin.path == (EACH,) if last_word(node.func) == "values" else origin.path == (EACH, 1)
    return receiver(node) if is_value else None


def _is_element(origin: Value) -> bool:
    """`for layer in model.encoder.layers`, an element of `[model.conv1, model.layer1]`"""
    is_part = isinstance(origin.node, (ast.Attribute, ast.Subscript)) and len(origin.path) <= 1
    return is_part and _is_inside(origin.at(origin.node, ()))


def _is_pretrained(origin: Value) -> bool:
    """`BertModel.from_pretrained("…")`"""
    func = getattr(origin.node, "func", None)
    if not isinstance(func, ast.Attribute) or func.attr != "from_pretrained" or origin.path:
        return False
    name = ast.unparse(func.value).rsplit(".", 1)[-1]
    return "Model" in name or "For" in name[1:] and name[:1].isupper()


def _is_listed(origin: Value) -> bool:
    """An element of `model.children()`, a layer of an indexed or iterated container, `model._modules[name]`."""
    listed = origin.node
    if isinstance(listed, ast.Subscript) and not origin.path and _is_by_name(origin.at(listed.value, ())):
        return True
    while (
        isinstance(listed, ast.Subscript)
        or isinstance(listed, ast.Call)
        and isinstance(listed.func, ast.Name)
        and listed.func.id in ("list", "reversed")
        and listed.args
    ):
        listed = listed.value if isinstance(listed, ast.Subscript) else listed.args[0]
    if isinstance(listed, ast.Call) and isinstance(listed.func, ast.Attribute) and listed.func.attr in _LISTING:
        return True
    if listed is not origin.node and _is_inside(origin.at(listed, ())):
        return True
    return (listed is not origin.node or bool(origin.path)) and any(
        isinstance(o.node, ast.Call) and not o.path and _makes_a_list(o) for o in origins(origin.at(listed, ()))
    )


def _is_by_name(value: Value) -> bool:
    """`model._modules`, `dict(model.named_children())`: from names to modules."""
    found = origins(value)
    return bool(found) and all(
        isinstance(o.node, ast.Attribute)
        and o.node.attr == "_modules"
        or isinstance(o.node, ast.Call)
        and len(o.node.args) == 1
        and {c.name for c in callees(o)} == {"builtins.dict"}
        and isinstance(o.node.args[0], ast.Call)
        and last_word(o.node.args[0].func) in ("named_children", "named_modules")
        for o in found
    )


def _makes_a_list(call: Value) -> bool:
    names = {c.name for c in callees(call)}
    return bool(names) and names <= {"torch.nn.ModuleList", "torch.nn.Sequential"}


def layers_indexed(origin: Value) -> list[Value] | None:
    """The layers of which `self.stages[name]`, or one of `self.stages.values()`, may be any, if all of a container are
    seen; None where they are not.
    """
    if (table := _table_of(origin)) is None:
        return None
    found: list[Value] = []
    for held in objects(origin.at(table, ())):
        names = {c.name for c in callees(held)} if isinstance(held.node, ast.Call) and not held.path else set()
        indexed = {f"torch.nn.{name}" for name in ("ModuleList", "ModuleDict", "Sequential")}
        if not names or not names <= indexed or is_changed(held):
            return None
        layers = held.node.args
        if names != {"torch.nn.Sequential"}:
            layers = _written(held.at(layers[0], ())) if len(layers) == 1 else []
        if not layers or any(isinstance(layer, ast.Starred) for layer in layers):
            return None
        found += [each for part in layers for each in objects(held.at(part, ()))]
    return found


def _written(held: Value) -> list[ast.expr]:
    """What is written as the layers in a list, a dict or a comprehension; nothing where stars may bring others."""
    layers = held.node
    if isinstance(layers, (ast.List, ast.Tuple)):
        return layers.elts
    if isinstance(layers, ast.Dict):
        return layers.values
    if isinstance(layers, (ast.ListComp, ast.GeneratorExp)):
        return [layers.elt]
    if isinstance(layers, ast.Call) and (names := {c.name for c in callees(held)}) and names <= _DICTS:
        pairs = layers.args[0].elts if layers.args and isinstance(layers.args[0], (ast.List, ast.Tuple)) else []
        parts = [pair.elts[1] for pair in pairs if isinstance(pair, ast.Tuple) and len(pair.elts) == 2]
        is_seen = len(parts) == len(pairs) and bool(pairs) is bool(layers.args) and not has_stars(layers)
        return [*parts, *(keyword.value for keyword in layers.keywords)] if is_seen else []
    return [layers.value] if isinstance(layers, ast.DictComp) else []
