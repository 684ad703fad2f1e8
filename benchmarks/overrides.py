"""Lints programs that put something of their own where torch has a method or an attribute: none may be too much.

    python benchmarks/overrides.py [PART OF A NAME …]

Subclasses of torch's optimizers, data, layers, functions and tensors get each of some names in each of many ways: a
value, a method, one that fails, a property, nothing at all. What cannot be linted is printed with the place in
torchlint where it failed; exit code 1 if there is any. tests/test_shapes_shadowed.py keeps a small part of it.
"""

from __future__ import annotations

import collections
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from torchlint.linter import Job, lint
from torchlint.project import Project
from torchlint.rule import load_rules

RULES = {code: rule for code, rule in load_rules().items() if code.startswith("TL9")}
VALUES = (
    "3",
    "None",
    "[1, 2]",
    "{'a': 1}",
    "'x'",
    "torch.zeros(3)",
    "nn.Linear(2, 2)",
    "__import__('unknown').thing",
    "lambda *a, **k: 1",
)
OF_MODULES = "_modules _parameters _buffers _forward_hooks modules children parameters named_parameters train eval"
BASES = {  # base -> how its own constructor is called, the names that are taken
    "torch.optim.SGD": (
        "super().__init__(params, lr=0.1)",
        "param_groups state defaults step zero_grad add_param_group state_dict load_state_dict",
    ),
    "torch.optim.Optimizer": ("super().__init__(params, {'lr': 0.1})", "param_groups state defaults step zero_grad"),
    "torch.optim.lr_scheduler.StepLR": (
        "super().__init__(torch.optim.SGD(params, lr=0.1), 3)",
        "step get_lr get_last_lr optimizer last_epoch base_lrs",
    ),
    "torch.utils.data.Dataset": ("pass", "__len__ __getitem__ __iter__ data tensors transform"),
    "torch.utils.data.TensorDataset": ("super().__init__(torch.zeros(8, 4))", "tensors __len__ __getitem__"),
    "torch.utils.data.DataLoader": (
        "super().__init__([torch.zeros(4)] * 8)",
        "dataset batch_size sampler batch_sampler collate_fn num_workers __iter__ __len__ generator",
    ),
    "nn.Module": (
        "super().__init__()",
        f"{OF_MODULES} training forward __call__ __getattr__ __setattr__ _apply cuda device __dict__ __class__",
    ),
    "nn.ModuleList": ("super().__init__([nn.Linear(4, 4)])", f"{OF_MODULES} __iter__ __len__ __getitem__ append"),
    "nn.Sequential": ("super().__init__(nn.Linear(4, 4))", f"{OF_MODULES} __iter__ __len__ forward"),
    "torch.autograd.Function": ("pass", "forward backward apply setup_context"),
    "torch.Tensor": ("pass", "shape size dim __torch_function__ device requires_grad grad __add__ detach"),
    "nn.Parameter": ("pass", "data grad shape __new__ requires_grad"),
}
PROGRAM = """import torch
from torch import nn


class Own({base}):
    {body}

    def __init__(self, params=None):
        {init}
        {then}


class Net(nn.Module):
    def __init__(self, own):
        super().__init__()
        self.fc, self.own = nn.Linear(4, 4), own

    def forward(self, x):
        return self.own(self.fc(x)) if isinstance(self.own, nn.Module) else self.fc(x)


own = Own(list(nn.Linear(4, 4).parameters()))
net = Net(own)
for i in range(2):
    if hasattr(own, "step"):
        own.zero_grad()
    net(torch.zeros(2, 4)).sum().backward()
    if hasattr(own, "step"):
        own.step()
for x in own:
    net(x)
print(own.{name}, len(own), own[0], own + 1, net.state_dict(), own(torch.zeros(2, 5)))
"""


class Override(NamedTuple):
    """What takes the place of a name: in the class, and at the end of its constructor."""

    body: str
    then: str


def overrides(name: str) -> Iterator[Override]:
    for value in VALUES:
        yield Override(f"{name} = {value}", "pass")
        yield Override("pass", f"self.{name} = {value}")
        yield Override(f"def {name}(self, *a, **k):\n        return {value}", "pass")
    yield Override(f"def {name}(self, *a, **k):\n        raise KeyError('x')", "pass")
    yield Override(f"@property\n    def {name}(self):\n        return 5", "pass")
    yield Override("pass", f"del self.{name}")


def failure(program: str, folder: str) -> str:
    """Where torchlint fails on a program, or nothing."""
    try:
        lint(program, Job.of(str(Path(folder, "own.py")), project=Project(folder), rules=RULES))
    except Exception as error:
        ours = [f for f in traceback.extract_tb(error.__traceback__) if "torchlint" in f.filename][-1]
        return f"{Path(ours.filename).name}:{ours.lineno}: {type(error).__name__}: {error}"
    return ""


def main() -> None:
    wanted, count, found = sys.argv[1:], 0, collections.Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for base, (init, names) in BASES.items():
            for name in names.split():
                for body, then in overrides(name):
                    if wanted and not any(part in f"{base}.{name}" for part in wanted):
                        continue
                    count += 1
                    where = failure(PROGRAM.format(base=base, body=body, init=init, then=then, name=name), folder)
                    if where and not found[where]:
                        print(f"{base}.{name}: {body!r}, {then!r}\n    {where}")
                    found[where] += bool(where)
    print(f"{count} programs, {sum(found.values())} of them cannot be linted")
    sys.exit(1 if sum(found.values()) else 0)


if __name__ == "__main__":
    main()
