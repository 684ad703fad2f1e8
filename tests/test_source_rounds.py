"""Rounds of training as rules see them: their acts in order, their updates, what runs with what."""

from __future__ import annotations

import ast

import pytest
from asking import module_of

from torchlint.config import Settings
from torchlint.linter import Job, lint
from torchlint.rule import load_rules
from torchlint.source.asking.rounds import Loop, Round
from torchlint.source.asking.views import Call
from torchlint.source.flow.values import Value

PRELUDE = "import torch\nfrom torch import nn\noptimizer = torch.optim.SGD(model.parameters(), 0.1)\n"


def round_of(body: str, head: str = "for x in loader:", before: str = "") -> Round:
    """The last statement of a program, a loop or function with this body."""
    text = PRELUDE + before + head + "\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    module = module_of(text)
    value = Value(module, module.tree.body[-1])
    return Round(value) if isinstance(value.node, ast.FunctionDef) else Loop(value)


def texts(acts) -> list[str]:
    return [act.text for act in acts]


@pytest.mark.parametrize(
    "head, answer",
    [("while True:", True), ("def training_step(self, batch, i):", True), ("def train_one(batch):", None)],
)
def test_whether_a_round_repeats(head, answer):
    assert round_of("loss.backward()", head).repeats is answer


def test_acts_of_a_role_come_in_order():
    found = round_of("a.backward()\noptimizer.step()\nb.backward()")
    assert texts(found.each("backward")) == ["a.backward()", "b.backward()"]
    first, last = found.each("backward")
    [step] = found.each("step")
    assert found.runs_before(first, step) and found.runs_before(step, last) and not found.runs_before(last, step)


def test_acts_run_together_under_one_condition_and_in_one_loop():
    found = round_of(
        "loss.backward()\nif good:\n    nn.utils.clip_grad_norm_(ps, 1)\n    optimizer.step()\nfor o in more:\n    a.backward()"
    )
    backward, other = found.each("backward")
    [clip], [step] = found.each("clip"), found.each("step")
    assert found.run_together(clip, step)
    assert not found.run_together(backward, step) and not found.run_together(backward, other)


@pytest.mark.parametrize(
    "line, answer",
    [
        ("optimizer.step()", True),
        ("engine.train_batch_hook(optimizer)", False),  # may do anything to it
        ("w.grad = g", False),
    ],
)
def test_whether_a_round_is_seen_through(line, answer):
    assert round_of(f"loss.backward()\n{line}").is_seen_through is answer


def test_more_calls_than_are_looked_at_may_do_anything():
    calls = "x = torch.relu(torch.relu(x))\n" * 2000
    assert not round_of(f"loss.backward()\n{calls}optimizer.step()").is_seen_through
    [update] = round_of(f"loss.backward()\noptimizer.step()\n{calls}optimizer.zero_grad()").updates
    assert update.is_cleared is None


def test_an_update_is_a_record_of_what_happens_to_the_gradients_of_a_step():
    found = round_of(
        "optimizer.zero_grad()\nother.zero_grad()\na.backward()\nb.backward()\nscaler.unscale_(optimizer)\n"
        "nn.utils.clip_grad_norm_(model.parameters(), 1)\nscaler.step(optimizer)\nscheduler.step()",
        before="from torch.optim.lr_scheduler import StepLR\nother = torch.optim.SGD(critic.parameters(), 0.1)\n"
        "scheduler = StepLR(optimizer, 3)\nscaler = torch.amp.GradScaler()\n",
    )
    [update] = found.updates
    assert texts(update.backwards) == ["a.backward()", "b.backward()"]
    assert update.backward is update.backwards[0]
    assert texts(update.clears) == ["optimizer.zero_grad()"]
    assert texts(update.unscales) == ["scaler.unscale_(optimizer)"]
    assert texts(update.clips) == ["nn.utils.clip_grad_norm_(model.parameters(), 1)"]
    assert texts(update.schedules) == ["scheduler.step()"]
    assert (update.step.text, update.optimizer, update.every) == ("scaler.step(optimizer)", "optimizer", None)


def test_an_update_for_several_rounds_says_under_which_test():
    [update] = round_of("loss.backward()\nif i % 4 == 0:\n    optimizer.step()").updates
    assert ast.unparse(update.every.node) == "i % 4 == 0"


def test_two_steps_without_a_backward_between_them_use_the_same_backward():
    found = round_of(
        "loss.backward()\noptimizer.step()\nother.step()", before="other = torch.optim.SGD(critic.parameters(), 0.1)\n"
    )
    assert [(update.optimizer, texts(update.backwards)) for update in found.updates] == [
        ("optimizer", ["loss.backward()"]),
        ("other", ["loss.backward()"]),
    ]


def test_what_stands_around_a_loop_is_a_round_too():
    found = round_of("for x in loader:\n    loss.backward()\noptimizer.step()", "def train():")
    loop = Loop(Value(found.module, found.node.body[0]))
    assert texts(loop.around.each("step")) == ["optimizer.step()"]


@pytest.mark.parametrize(
    "body, answer",
    [
        ("optimizer.zero_grad()\nloss.backward()\noptimizer.step()", True),
        ("hook(optimizer)\nloss.backward()\noptimizer.step()", None),
        ("loss.backward()\noptimizer.step()", False),
        ("loss.backward()\noptimizer.step()\nif i % 2 == 0:\n    optimizer.zero_grad()", False),
    ],
)
def test_whether_an_update_begins_with_cleared_gradients(body, answer):
    [update] = round_of(body).updates
    assert update.is_cleared is answer


def test_acts_around_another_one():
    found = round_of("a.backward()\nscaler.unscale_(optimizer)\noptimizer.step()\nb.backward()")
    first, last = found.each("backward")
    [step] = found.each("step")
    assert found.last_before(step, "backward") is first and found.next_after(step, "backward") is last
    assert found.last_before(first, "step") is None
    assert texts(found.between(first, step, "unscale")) == ["scaler.unscale_(optimizer)"]


@pytest.mark.parametrize(
    "head, counts, length",
    [
        ("for epoch in range(30):", "epochs", 30),
        ("for e in range(1, rounds):", "epochs", 6),
        ("for x, y in loader:", "batches", None),
        ("for name in names:", None, None),
        ("while True:", None, None),
    ],
)
def test_what_a_loop_counts_and_how_often_it_runs(head, counts, length):
    loop = round_of("loss.backward()", head, before="rounds = 7\nloader = torch.utils.data.DataLoader(data)\n")
    assert (loop.counts, loop.length) == (counts, length)


def test_the_number_that_an_argument_is():
    module = module_of(
        "import torch\nlr = 0.5\neither = 1 if big else 2\n"
        "opt = torch.optim.SGD(ps, lr, -1, either, weight_decay=decay)\n"
    )
    call = Call(Value(module, module.index.calls[0]))
    given = [call.number("lr", 1), call.number("momentum", 2), call.number("dampening", 3), call.number("weight_decay")]
    assert given == [0.5, -1, None, None]


def test_a_finding_drops_notes_on_its_own_line():
    loop = round_of("a = 1\nb = 2")
    first, second = loop.node.body
    assert [
        n.message
        for n in loop.finding("", notes=[loop.note(first, "here"), loop.note(second, "there")], at=first).notes
    ] == ["there"]


def test_words_for_what_stands_around_and_in_a_place():
    module = module_of(
        "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n        return self.head(x + 1)\n"
        "class Plain:\n    def forward(self, x):\n        return use(x)\nuse(3)\n"
    )
    call = next(Call(Value(module, c)) for c in module.index.calls if ast.unparse(c.func) == "self.head")
    assert call.word() == "head" and call.word(call.node.args[0]) == ""
    assert call.names_in() == {"self", "x"} and call.quoted(call.node.args[0]) == "x + 1"
    assert call.method_of.name == "Net" and call.in_forward
    inner, top = call.calls("use")
    assert inner.method_of.name == "Plain" and not inner.in_forward
    assert top.method_of is None and not top.in_forward
    assert [c.node for c in call.calls("use", inside=inner.method_of)] == [inner.node]
    assert call.says("nowhere", "Plain") and not call.says("nowhere")
    assert call.at(call.node.args[0]).short == "x + 1"


TRAINING = """import torch
def step(batch):
    model(batch).sum().backward()
    optimizer.step()
def show(batch):
    print(batch)
for batch in loader:
    step(batch)
for batch in loader:
    show(batch)
"""


@pytest.mark.parametrize(
    "kinds, lines",
    [('"loop"', [7]), ('"function"', [2]), ('"file"', [1]), ('"loop", "function"', [2, 7]), ("", [1, 2, 7])],
)
def test_a_rule_is_given_the_rounds_it_asks_for_if_they_may_run_backward(kinds, lines, tmp_path):
    (tmp_path / "TL999_round.py").write_text(
        f'"""Do not.\n"""\nfrom torchlint import Round, on_round\n\n@on_round({kinds})\n'
        'def check(round):\n    yield round.finding("here", at=round.node.body[0] if round.node.up is None else None)\n'
    )
    found = lint(TRAINING, Job.of(tmp_path / "a.py", Settings(dry_run=False), rules=load_rules([tmp_path]))).findings
    assert sorted(f.span.line for f in found if f.code == "TL999") == lines
