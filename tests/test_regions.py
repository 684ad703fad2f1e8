"""Where nothing is recorded for backward."""

from __future__ import annotations

import pytest
from asking import asked, module_of

from torchlint.source.flow.flow import origins
from torchlint.source.flow.values import Value
from torchlint.source.training.regions import runs_without_grad, under_no_grad

PRELUDE = "import torch\n"


@pytest.mark.parametrize(
    "program, off",
    [
        ("ask(x)", False),
        ("with torch.no_grad():\n    ask(x)", True),
        ("with torch.inference_mode():\n    ask(x)", True),
        ("with torch.inference_mode(False):\n    ask(x)", False),
        ("with torch.inference_mode(mode=False):\n    ask(x)", False),
        ("with torch.set_grad_enabled(False):\n    ask(x)", True),
        ("with torch.set_grad_enabled(True):\n    ask(x)", False),
        ("with torch.no_grad():\n    with torch.enable_grad():\n        ask(x)", False),
        ("with torch.enable_grad():\n    with torch.no_grad():\n        ask(x)", True),
        ("with torch.no_grad(), open(p) as f:\n    ask(x)", True),
        ("with open(p) as f:\n    ask(x)", False),
        ("off = torch.no_grad()\nwith off:\n    ask(x)", True),
        ("from torch import no_grad as quiet\nwith quiet():\n    ask(x)", True),
        ("@torch.no_grad()\ndef f():\n    ask(x)", True),
        ("@torch.no_grad\ndef f():\n    ask(x)", True),
        ("@torch.inference_mode()\ndef f():\n    ask(x)", True),
        ("@torch.enable_grad()\ndef f():\n    ask(x)\nwith torch.no_grad():\n    f()", False),
        ("@other()\ndef f():\n    ask(x)", False),
        ("@torch.no_grad()\nclass A:\n    def f(self):\n        ask(x)", False),  # decorates the constructor only
        # switches
        ("torch.set_grad_enabled(False)\nask(x)", True),
        ("torch.set_grad_enabled(False)\ndef f():\n    ask(x)", True),
        ("torch.set_grad_enabled(False)\ntorch.set_grad_enabled(True)\nask(x)", False),
        ("def f():\n    torch.set_grad_enabled(False)\n    ask(x)", True),
        ("def f():\n    ask(x)\n    torch.set_grad_enabled(False)", False),
        ("def f():\n    torch.set_grad_enabled(False)\n    torch.set_grad_enabled(True)\n    ask(x)", False),
        # callers
        ("def f():\n    ask(x)\nwith torch.no_grad():\n    f()", True),
        ("def f():\n    ask(x)\nwith torch.no_grad():\n    f()\nf()", False),
        ("def f():\n    ask(x)\ndef g():\n    f()\nwith torch.no_grad():\n    g()", True),
        ("class A:\n    def f(self):\n        ask(x)\n    @torch.no_grad()\n    def g(self):\n        self.f()", True),
        ("def f():\n    ask(x)\n    f()\nwith torch.no_grad():\n    f()", False),  # a recursion is not followed
        # tests
        ("if not torch.is_grad_enabled():\n    ask(x)", True),
        ("if torch.is_grad_enabled():\n    ask(x)", False),
        ("if torch.is_grad_enabled():\n    pass\nelse:\n    ask(x)", True),
    ],
)
def test_gradients_are_off(program, off):
    value = asked(module_of(PRELUDE + program))
    assert under_no_grad(value.module, value.node) is off


def test_of_what_nobody_can_point_at_nothing_is_known():
    """What a generator gives has no place: its caller may have one."""
    module = module_of(PRELUDE + "def f():\n    yield 1\nx = f()")
    (call,) = module.index.callers("f")
    (unknown,) = origins(Value(module, call))
    assert unknown.node is None and runs_without_grad(unknown) is False
