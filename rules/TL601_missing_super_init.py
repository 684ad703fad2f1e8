"""Call `super().__init__()` before a module gets its first layer.

`nn.Module.__init__` makes the dictionaries in which layers, parameters and hooks are kept. Before it has run, torch
refuses to assign a layer: "cannot assign module before Module.__init__() call". Make it the first statement of
`__init__`.

```python bad
class Net(nn.Module):
    def __init__(self):
        self.fc = nn.Linear(2, 1)  # TL601

    def forward(self, x):
        return self.fc(x)
```
```python fixed
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def forward(self, x):
        return self.fc(x)
```
```python bad
class Scale(nn.Module):
    def __init__(self, width):
        super().__init__
        self.width = width
        if width > 1:
            self.weight = nn.Parameter(torch.ones(width))  # TL601
```
```python bad
class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

class Child(Base):
    def __init__(self, width):
        self.head = nn.Linear(width, 2)  # TL601
        super().__init__(width)
```
```python bad
class Table(nn.Module):
    def __init__(self):
        self.register_buffer("table", torch.zeros(4))  # TL601
```

Plain values may come first, and it may be called by another name, or by another method.

```python good
class Plain(nn.Module):
    def __init__(self, width):
        self.width = width
        nn.Module.__init__(self)
        self.fc = nn.Linear(width, width)

class Heir(Plain):
    def forward(self, x):
        return self.fc(x)

class Late(nn.Module):
    def __init__(self):
        self.begin()
        self.fc = nn.Linear(1, 1)

    def begin(self):
        super().__init__()

class Layers(nn.Sequential):
    def __init__(self, width):
        layers = [nn.Linear(width, width), nn.ReLU()]
        super().__init__(*layers)

class Trainer:
    def __init__(self):
        self.net = nn.Linear(1, 1)

class Causal(nn.Conv2d):
    def __init__(self, width, kernel):
        self.kernel = nn.modules.utils._pair(kernel)
        super().__init__(width, width, kernel)
```

A base that is called `Module` too may be somebody's own.

```python good
from layers.base import Module

class Cell(Module):
    def __init__(self, width):
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.fc(x)
```

Who inherits from a base that never begins: `torchlint/source/answers/unbegun_bases.py`.
"""

import ast
from collections.abc import Iterator

from torchlint import ModuleClass, on_module
from torchlint.source.answers.unbegun_bases import heir_with_layers

read_on = ("TL602", "torch.nn.Module")

REGISTERING = frozenset(("register_buffer", "register_parameter", "add_module", "register_module"))


@on_module(needs="__init__")
def check(cls: ModuleClass):
    init = cls.method("__init__")
    if init is None or init.decorator_list or cls.node.decorator_list or cls.node.keywords or not init.args.args:
        return
    if any(map(cls.info.method, ("__new__", "__init_subclass__"))) or not cls.info.is_named_module:
        return  # these may begin, and a base from elsewhere may need no beginning
    opening = init.body[ast.get_docstring(init) is not None :][:1]
    if any(last_of(call) == "__init__" for statement in opening for call in calls(cls, statement)):
        return  # as nearly everybody does
    begun = min((call.lineno for call in calls(cls, init) if begins(cls, call)), default=None)
    first = next(registrations(cls, init, init.args.args[0].arg, begun), None)
    if begun is None and is_begun_by_a_subclass(cls):
        return
    if first is None:
        yield from for_an_heir(cls, init) if begun is None else ()
        return
    fix = None
    if begun is None and [ast.unparse(base) for base in cls.node.bases] == ["nn.Module"] and first is init.body[0]:
        fix = cls.fix("call it first", cls.insert_before(first, "super().__init__()"), applicability="unsafe")
    yield cls.finding(
        f"`{cls.node.name}` has no place for layers yet: `super().__init__()` "
        + ("is never called" if begun is None else f"is called later, in line {begun}"),
        help="call `super().__init__()` first",
        fix=fix,
        at=first,
    )


def for_an_heir(cls: ModuleClass, init: ast.FunctionDef):
    """It has no layers itself, but a class that inherits from it."""
    heir = heir_with_layers(cls.info)
    if heir is not None:
        yield cls.finding(
            f"`{heir.info.name}` has no place for its layers: `{cls.node.name}.__init__` never calls"
            " `super().__init__()`",
            help="call `super().__init__()` first",
            notes=[cls.note(heir.layer, f"`{heir.info.name}` puts a layer here")],
            at=init,
        )


def is_begun_by_a_subclass(cls) -> bool:
    """`Other.__init__(self); Base.__init__(self)` in a class of the file that has both for bases."""
    begins = [call for call in calls(cls, cls.module.tree) if last_of(call) == "__init__"]
    return any(
        ast.unparse(call.func.value) == cls.node.name
        and any(o.lineno < call.lineno and cls.at(o).function is cls.at(call).function for o in begins)
        for call in begins
    )


def last_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def calls(cls, part) -> list[ast.Call]:
    return list(cls.inside(ast.Call, of=part))


def begins(cls, call: ast.Call) -> bool:
    """`super().__init__()`, `Base.__init__(self)`, or a method of the class that does it."""
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr == "__init__":
        return True
    method = (
        cls.info.method(call.func.attr)
        if isinstance(call.func.value, ast.Name) and call.func.value.id == "self"
        else None
    )
    return method is not None and any(
        isinstance(c.func, ast.Attribute)
        for c in method.module.index.calls_of("__init__", inside=method.node)  # it may stand in another file
    )


def registrations(cls, init, name: str, begun: int | None) -> Iterator[ast.stmt]:
    """The statements that give a module its layers, parameters and buffers before a line, in order."""
    statements = sorted(cls.inside(ast.Assign, ast.Expr, of=init), key=lambda s: s.lineno)
    for node in statements:
        if begun is not None and node.lineno >= begun:
            return
        if isinstance(node, ast.Assign):
            targets = [
                t
                for t in node.targets
                if isinstance(t, ast.Attribute) and isinstance(t.value, ast.Name) and t.value.id == name
            ]
            kinds = cls.kinds(node.value) if targets else set()
            if kinds and kinds <= {"module", "parameter"}:
                yield node
        elif isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            func = node.value.func
            if func.attr in REGISTERING and isinstance(func.value, ast.Name) and func.value.id == name:
                yield node
