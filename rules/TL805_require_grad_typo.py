"""Spell it `requires_grad`: a tensor takes any other attribute without a word.

`p.require_grad = False` sets a new attribute that nobody reads. Nothing is frozen, the parameters go on training, and no
error says so.

```python bad
model = nn.Linear(4, 2)
for p in model.parameters():
    p.require_grad = False  # TL805
```
```python fixed
model = nn.Linear(4, 2)
for p in model.parameters():
    p.requires_grad = False
```
```python bad
x = torch.rand(3)
x.requires_grads = True  # TL805
model = nn.Linear(4, 2)
model.weight.require_grad: bool = False  # TL805
for name, parameter in model.named_parameters():
    setattr(parameter, "require_grad", name == "bias")  # TL805
y = torch.zeros(3, require_grad=True)  # TL805
```

Objects may define that name themselves.

```python good
class Config:
    def __init__(self, require_grad=True):
        self.require_grad = require_grad

class Encoding(nn.Module):
    def __init__(self, require_grad=False):
        super().__init__()
        self.require_grad = require_grad

    def forward(self, x):
        return x if self.require_grad else x.detach()

config = Config()
config.require_grad = False
args.require_grad = True
for p in parameters:
    p.requires_grad = False
```

Which names are set by helpers is answered in `torchlint/source/answers/set_attributes.py`.
"""

import ast
import re

from torchlint import Node, on_node
from torchlint.source.answers.set_attributes import is_one_of_parameters, is_plain, is_read, sets_keyword, words_of

read_on = ("TL209", "torch.Tensor.requires_grad_", "notes/autograd#setting-requires-grad")

TYPO = re.compile(r"req\w{3,5}_grad(s|_|ient)?")


@on_node(
    "Assign", "AnnAssign", "Call",
    holds=("require_grad", "requires_grads", "require_grads", "required_grad", "reqires_grad", "requries_grad",
           "requires_grad_", "requires_gradient", "require_gradient"),
)  # fmt: skip
def check(place: Node):
    node = place.node
    if isinstance(node, ast.Call):
        yield from in_call(place)
        return
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if not isinstance(target, ast.Attribute) or place.uses(target):  # a setting that a class gives itself
            continue
        if not is_typo(target.attr) or is_own_mark(place, target.value, target.attr):
            continue
        if is_parameter(place, target.value) and not is_so(place, target.value, node.value):
            fix = place.replace(target, f"{place.source(target.value)}.requires_grad")
            yield finding(place, target, target.attr, fix)


def in_call(place: Node):
    for keyword in place.node.keywords:
        if is_typo(keyword.arg or "") and (
            (place.name(place.node.func) or "").startswith("torch.") or sets_keyword(place.value, keyword.arg)
        ):
            fix = place.replace(keyword, f"requires_grad={place.source(keyword.value)}")
            yield finding(place, keyword, keyword.arg, fix)


@on_node(
    "Call",
    called="setattr",
    needs="require_g|requires_grads|requires_grad_|requires_gradient|required_grad|reqires_grad|requries_grad",
)
def by_name(place: Node):
    if place.word() == "setattr" and len(place.node.args) == 3:
        tensor, word, value = place.node.args
        for typo in sorted(set(filter(is_typo, words_of(place.value.at(word, ()))))):
            if is_own(place, tensor) or is_own_mark(place, tensor, typo):
                continue
            if is_parameter(place, tensor) and not is_so(place, tensor, value):
                fix = place.replace(word, '"requires_grad"') if isinstance(word, ast.Constant) else None
                yield finding(place, place.node, typo, fix)


def is_typo(word: str) -> bool:
    return word != "requires_grad" and TYPO.fullmatch(word) is not None


def is_own(place: Node, node: ast.expr) -> bool:
    """Is it the object itself, which may have settings of any name?"""
    return place.word(node) == "self"


def is_own_mark(place: Node, node: ast.expr, word: str) -> bool:
    """Does its class have that, or does the file read what another word for it says?"""
    return "gradient" in word and is_read(place.module, word) or place.has_own_attribute(node, word)


def is_parameter(place: Node, node: ast.expr) -> bool:
    """Is it a tensor, a module, or what a loop over parameters gives?"""
    if place.is_tensor(node) or place.is_module(node):
        return True
    if isinstance(node, ast.Attribute) and node.attr in ("weight", "bias"):  # `model.fc.weight`, of whichever layer
        owner = node.value
        while isinstance(owner, (ast.Attribute, ast.Subscript)) and not place.is_module(owner):
            owner = owner.value
        return place.is_module(owner)
    is_in_loop = isinstance(node, ast.Name) and any(
        isinstance(loop, ast.For)
        and "parameters(" in place.source(loop.iter)
        and node.id in place.names_in(loop.target)
        for loop in place.loops
    )
    return is_in_loop or is_one_of_parameters(place.value.at(node, ()))


def is_so(place: Node, tensor: ast.expr, value: ast.expr | None) -> bool:
    """Is a tensor told to take no gradient that takes none anyhow, and becomes no parameter that does?"""
    takes_one = place.requires_grad(tensor)
    if not is_false(value) or takes_one:
        return False
    if takes_one is None and not is_plain(place.value.at(tensor, ())):
        return False
    text, around = place.source(tensor), place.function or place.module.tree
    later = place.calls("Parameter", "requires_grad_", "register_parameter", inside=around)
    learns = (call for call in later if not is_false(call.argument("requires_grad", 1)))
    return not any(place.source(n) == text for call in learns for n in call.inside(type(tensor)))


def is_false(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def finding(place: Node, at: ast.AST, typo: str, edit):
    return place.finding(
        f"`{typo}` is no attribute of a tensor: nothing reads it",
        help="it is called `requires_grad`",
        fix=place.fix("spell it `requires_grad`", edit, applicability="unsafe"),
        at=at,
    )
