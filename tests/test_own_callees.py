"""What a call of the project's own functions is said to run: in words, the class or function that somebody wrote."""

import pytest

from torchlint.config import Selection, Settings
from torchlint.run import check

TEXT = """\
from torch import nn


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, 4)

    def forward(self, x, scale):
        return self.fc(x) * scale


class Net(Base):
    def __init__(self, width):
        super(Net, self).__init__()


class Plain(Base):
    pass


def use(x):
    return {call}
"""


@pytest.mark.parametrize(
    ("call", "line", "name"), [("x", 15, "`Base`"), ("Plain()", 23, "`Base`"), ("use()", 23, "`use`")]
)
@pytest.mark.usefixtures("alone")
def test_what_does_not_fit_is_named_as_it_is_written(tree, call, line, name):
    tree({"net.py": TEXT.format(call=call)})
    settings = Settings(dry_run=False, selections=(Selection(None, (), ("TL617",)),))
    said = {f.span.line: f.message for f in check(["."], settings).findings if f.code == "TL617"}
    assert f"does not fit {name}: " in said[line]


@pytest.mark.parametrize(
    ("given", "help"),
    [("niter=1, interp=2", "it takes `x`, `niter`"), ("interp=2", "`niter` may be meant"), ("2, nitr=3", "it takes")],
)
@pytest.mark.usefixtures("alone")
def test_a_name_that_is_given_already_is_not_meant(tree, given, help):
    text = f"import torch\n\ndef use(x, niter=0):\n    return x\n\nuse(torch.zeros(3), {given})\n"
    tree({"net.py": text})
    settings = Settings(dry_run=False, selections=(Selection(None, (), ("TL617",)),))
    found = [f for f in check(["."], settings).findings if f.code == "TL617"]
    assert [f.help.startswith(help) for f in found] == [True]
