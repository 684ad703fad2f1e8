"""What the text world knows about training: order of acts through helpers, what optimizers hold, modes, later uses."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torchlint.project import Project
from torchlint.source.flow.module import Module, World
from torchlint.source.flow.uses import may_follow, uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import Index
from torchlint.source.training.acts import acts
from torchlint.source.training.events import events, may_call
from torchlint.source.training.modes import asks_mode
from torchlint.source.training.optimizers import holds
from torchlint.source.training.sameness import are_distinct
from torchlint.source.training.updates import updates

PRELUDE = "import torch\nfrom torch import nn, optim\nimport torch.nn.functional as F\n"


def module(text: str, folder: Path, **others: str) -> Module:
    for name, other in others.items():
        (folder / f"{name}.py").write_text(other)
    path = str(folder / "main.py")
    world = World(Project(folder).view(path))
    world.modules[path] = Module(Index(PRELUDE + text, path), world)
    return world.modules[path]


def roles(found: Module) -> list[str]:
    return [act.role for act in acts(found, found.tree.body)]


def last(found: Module, name: str) -> Value:
    """The last use of a name."""
    return Value(found, [n for n in ast.walk(found.tree) if isinstance(n, ast.Name) and n.id == name][-1])


@pytest.mark.parametrize(
    "line, role",
    [
        ("loss.backward()", "backward"),
        ("accelerator.backward(loss)", "backward"),
        ("torch.autograd.backward(loss)", "backward"),
        ("optimizer.step()", "step"),
        ("scaler.step(optimizer)", "step"),
        ("scheduler.step()", "schedule"),
        ("optimizer.zero_grad()", "clear"),
        ("w.grad = None", "clear"),
        ("w.grad.zero_()", "clear"),
        ("w.grad = g", "supply"),
        ("nn.utils.clip_grad_norm_(ps, 1.0)", "clip"),
        ("scaler.unscale_(optimizer)", "unscale"),
        ("model.eval()", "eval"),
        ("model.train(False)", "eval"),
        ("model.train()", "train"),
        ("model.train(before)", "opaque"),
        ("library_step(optimizer)", "opaque"),
    ],
)
def test_role(line, role, tmp_path):
    assert roles(module(line, tmp_path)) == [role]


@pytest.mark.parametrize(
    "line",
    ["world.step()", "print(optimizer)", "torch.save(optimizer)", "torch.distributed.autograd.backward(1, [loss])"],
)
def test_nothing_for_training(line, tmp_path):
    assert roles(module(line, tmp_path)) == []


def test_helpers_in_other_files_are_followed_in_order(tmp_path):
    found = module(
        "from steps import update\nupdate(loss, optimizer)\nmodel.eval()",
        tmp_path,
        steps="def update(loss, optimizer):\n    loss.backward()\n    optimizer.step()\n",
    )
    assert roles(found) == ["backward", "step", "eval"]
    assert [act.event.here.lineno for act in acts(found, found.tree.body)] == [5, 5, 6]


def test_recursion_ends(tmp_path):
    found = module("def a(n):\n    b(n)\n    loss.backward()\ndef b(n):\n    a(n - 1)\na(3)", tmp_path)
    assert roles(found) == ["backward"]


def test_a_step_inside_another_loop_is_no_update_of_this_one(tmp_path):
    inner = module("for x in xs:\n    for y in ys:\n        loss.backward()\n        optimizer.step()", tmp_path)
    outer = module("for x in xs:\n    for y in ys:\n        loss.backward()\n    optimizer.step()", tmp_path)
    pairs = [updates(m, m.tree.body[-1]) for m in (inner, outer)]
    assert [len(found) for found in pairs] == [0, 1]


def test_what_may_be_called_is_found_by_name_through_functions(tmp_path):
    found = module("def train():\n    step()\ndef step():\n    loss.backward()\ntrain()", tmp_path)
    assert may_call(found, found.tree.body[-1:], "backward")
    assert not may_call(found, found.tree.body[-1:], "backward", "zero_grad")


@pytest.mark.parametrize(
    "parameters, answer",
    [
        ("a.parameters()", True),
        ("b.parameters()", False),
        ("list(a.parameters()) + list(b.parameters())", True),
        ("[{'params': b.parameters()}, {'params': a.parameters(), 'lr': 1}]", True),
        ("filter(lambda p: p.requires_grad, b.parameters())", False),
        ("unknown", None),
    ],
)
def test_what_an_optimizer_holds(parameters, answer, tmp_path):
    found = module(f"a, b = nn.Linear(1, 1), nn.Linear(1, 1)\nopt = optim.SGD({parameters}, lr=1)\nopt\na", tmp_path)
    assert holds(last(found, "opt"), last(found, "a")) is answer


def test_a_part_of_a_model_is_never_certainly_not_held(tmp_path):
    text = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(1,"
        " 1)\nnet = Net()\nopt = optim.SGD(net.fc.parameters(), lr=1)\nopt\nnet"
    )
    found = module(text, tmp_path)
    assert holds(last(found, "opt"), last(found, "net")) is None


@pytest.mark.parametrize(
    "text, distinct",
    [
        ("a = nn.Linear(1, 1)\nb = nn.Linear(1, 1)\na\nb", True),
        ("a = nn.Linear(1, 1)\nb = a\na\nb", False),
        ("def f(a, b):\n    a\n    b", True),
        ("a = make()\na\nb", False),
    ],
)
def test_two_objects(text, distinct, tmp_path):
    found = module(text, tmp_path)
    assert are_distinct(last(found, "a"), last(found, "b")) is distinct


@pytest.mark.parametrize(
    "model, answer",
    [
        ("nn.Sequential(nn.Linear(1, 1), nn.Dropout())", True),
        ("nn.Sequential(nn.Linear(1, 1), nn.LayerNorm(1))", False),
        ("Net()", True),
        ("Own()", None),
        ("build()", None),
    ],
)
def test_whether_a_model_asks_for_its_mode(model, answer, tmp_path):
    text = (
        "class Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.norm ="
        " nn.BatchNorm1d(1)\n    def forward(self, x):\n        return self.norm(x)\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.block = Block()\n    def forward(self, x):\n"
        "        return self.block(x)\nclass Own(Net):\n    def train(self, mode=True):\n        return self\n"
    )
    found = module(f"{text}m = {model}\nm", tmp_path)
    assert asks_mode(last(found, "m")) is answer


def test_later_uses_of_a_binding(tmp_path):
    found = module("a = 1\nf(a)\nif c:\n    g(a)\nelse:\n    h(a)\na = 2\nf(a)", tmp_path)
    stored = found.tree.body[3].targets[0]
    first, second, third = uses(found, stored)
    assert [n.lineno for n in (first, second, third)] == [5, 7, 9]
    assert may_follow(first, second) and not may_follow(second, third)


def test_no_grad_of_a_caller_counts(tmp_path):
    found = module("def run(x):\n    return model(x)\nwith torch.no_grad():\n    run(1)\nrun(2)", tmp_path)
    assert [e.no_grad for e in events(found, found.tree.body) if e.via] == [True, False]
