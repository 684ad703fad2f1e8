"""The layer that a file puts at the end of a model of torchvision or timm: what it returns is what the model
returns.
"""

from __future__ import annotations

import ast

from torchlint.source.flow.changed import changes_of, is_used_before, names_of
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, standing_in
from torchlint.source.text.spelling import constant_key, unparsed

_HEADS = {  # families of models, and the attribute with the place of the last layer in it
    "fc": ("resnet", "resnext", "wide_resnet", "shufflenet", "regnet"),
    "classifier": ("vgg", "alexnet", "mobilenet", "efficientnet", "densenet", "convnext", "mnasnet", "maxvit"),
    "heads": ("vit",),
    "head": ("swin", "vit"),
}
_PLACES = {"vgg": 6, "alexnet": 6, "mobilenet_v2": 1, "efficientnet": 1, "mnasnet": 1, "mobilenet_v3": 3, "convnext": 2}


def new_head(name: str, made: Value | None) -> Value | None:
    """The layer given to the end of the model that a call of the function `name` makes, if there is exactly one."""
    if (
        made is None
        or not isinstance(made.node, ast.Call)
        or not name.startswith(("torchvision.models.", "timm.create_model"))
    ):
        return None
    model = name.rsplit(".", 1)[-1].removesuffix("()")
    if model == "create_model":
        first = made.node.args[0] if made.node.args else None
        model = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
    attributes = [attribute for attribute, families in _HEADS.items() if model.startswith(families)]
    function = enclosing_function(made.node)
    given: list[ast.expr] = []
    for attribute in attributes:
        for own in names_of(made):
            for change in changes_of(made.module.index, f"{own}.{attribute}"):
                if (
                    not isinstance(change, ast.Subscript)
                    or constant_key(change.slice) not in (-1, _place(model))
                    or enclosing_function(change) is not function
                ):
                    return None
                given.append(change)
            given += [
                s
                for s in standing_in(function or made.module.tree, made.module.index.stored(attribute))
                if unparsed(s.value) == own and enclosing_function(s) is function
            ]
    assignment = given[0].up if len(given) == 1 else None
    if not isinstance(assignment, ast.Assign) or assignment.targets != given or is_used_before(made, assignment):
        return None
    return made.at(assignment.value, ())


def _place(model: str) -> int:
    return next((place for family, place in _PLACES.items() if model.startswith(family)), -1)
