"""Models whose parts are on two GPUs, modules that nobody has moved yet, and what is pinned for one."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import faults_of

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

PROGRAM = """
import torch
from torch import nn

class Split(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(4, 8), nn.ReLU()).to("cuda:0")
        self.second = nn.Linear(8, 2).to("cuda:1")

    def forward(self, x):
        hidden = self.first(x.to("cuda:0"))
        return self.second(hidden.to("cuda:1"))

model = Split()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(3, 4), torch.zeros(3, 2)
    loss = nn.functional.mse_loss(model(x), y.to("cuda:1"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("optimizer", ["SGD(model.parameters(), lr=0.1, momentum=0.9)", "Adam(model.parameters())"])
def test_an_optimizer_has_parameters_on_both(tmp_path, optimizer):
    path = tmp_path / "train.py"
    text = PROGRAM.replace("SGD(model.parameters(), lr=0.1)", optimizer)
    result = dry_run(text, str(path), Project(tmp_path).view(path))
    assert not result.faults
    assert result.statistics["scripts_stepped_twice"] == 1


@pytest.mark.parametrize(
    "line, instead, found",
    [
        ("", "", []),
        ('hidden.to("cuda:1")', "hidden", ["self.second is on cuda:1 but `hidden` (3, 8) is on cuda:0"]),
        ('x.to("cuda:0")', "x", ["self.first is on cuda:0 but `x` (3, 4) is on the CPU, where line 18 makes it"]),
        (
            'y.to("cuda:1")',
            'y.to("cuda:0")',
            ["`model(x)` (3, 2) is on cuda:1 but `y.to('cuda:0')` (3, 2) is on cuda:0"],
        ),
    ],
)
def test_what_meets_is_on_one_gpu(tmp_path, line, instead, found):
    path = tmp_path / "train.py"
    text = PROGRAM.replace(line, instead) if line else PROGRAM
    said = [f.message for f in dry_run(text, str(path), Project(tmp_path).view(path)).faults]
    assert [message.partition(";")[0] for message in said] == found


PINNED = """
import torch
from torch.utils.data import DataLoader, TensorDataset

x, y = torch.randn(30, 4, device=WHERE), torch.zeros(30)
loader = DataLoader(TensorDataset(x, y), batch_size=10, PIN)
for inputs, targets in loader:
    print(inputs.shape)
"""


@pytest.mark.parametrize(
    ("where", "pin", "collated", "found"),
    [
        ("'cuda'", "pin_memory=True", "", 1),
        ("'cuda'", "pin_memory=torch.cuda.is_available()", "", 1),
        ("'cuda' if torch.cuda.is_available() else 'cpu'", "pin_memory=True", "", 1),
        ("'cuda'", "pin_memory=False", "", 0),
        ("'cuda'", "num_workers=0", "", 0),
        ("'cpu'", "pin_memory=True", "", 0),
        ("'cpu'", "pin_memory=True", ".to", 1),
    ],
)
def test_only_what_is_on_the_cpu_is_pinned(tmp_path, where, pin, collated, found):
    if collated:
        pin += ", collate_fn=lambda rows: (torch.stack([row[0] for row in rows]).to('cuda'), 0)"
    program = PINNED.replace("WHERE", where).replace("PIN", pin)
    faults = faults_of(tmp_path, program, use="")
    assert [fault.kind for fault in faults] == ["device"] * found


def test_a_batch_is_pinned_before_it_is_moved(tmp_path):
    program = """
    x = torch.randn(8, 4)
    print(x.pin_memory().to("cuda", non_blocking=True) @ torch.zeros(4, 2, device="cuda"))
    print(x.to("cuda").pin_memory())
    """
    assert len(faults_of(tmp_path, program)) == 1


@pytest.mark.parametrize(
    "weights, found",
    [
        ("self.out = nn.Linear(4, 2)", []),  # whoever makes it may move it
        ("self.out = lambda x: torch.ones(1, 2)", ["device"]),  # nobody moves that
    ],
)
def test_a_module_that_no_script_made_may_be_moved(tmp_path, weights, found):
    program = f"""
    class Controller(nn.Module):
        def __init__(self):
            super().__init__()
            self.start = nn.Embedding(1, 4)
            {weights}

        def forward(self):
            target = torch.tensor([0.6, 0.4]).cuda()
            return self.out(self.start.weight) / target
    """
    assert [fault.kind for fault in faults_of(tmp_path, program)] == found


def test_a_module_that_the_script_leaves_on_the_cpu_is_not_moved(tmp_path):
    program = """
    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(4))

        def forward(self, x):
            return self.weight * x.cuda()

    Scale()(torch.ones(4))
    """
    assert [fault.kind for fault in faults_of(tmp_path, program)] == ["device"]


def test_places_are_where_their_numbers_are(tmp_path):
    program = """
    scores = torch.rand(32, 16, device="cuda")
    row, column = torch.unravel_index(scores.argmax(), scores.shape)
    scores[row, column] + torch.ones(1, device="cuda")
    row.view(1) + torch.ones(1)
    """
    (fault,) = faults_of(tmp_path, program)
    assert fault.kind == "device" and "row.view(1)" in fault.message


SHARED = """
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
many = dist.get_world_size()
nodes = torch.stack([torch.ones(6) * step / many for step in range(many)])
first, second = nodes[0], nodes[1]
net = nn.Linear(6, 2)
if many > 1:
    net = nn.parallel.DistributedDataParallel(net)
print(net(first - second), 64 // many)
"""


@pytest.mark.parametrize(
    "line, instead, found",
    [
        ("", "", []),
        ("print(net", "print(net(nodes[:, :5])) or (net", ["net takes 6 features but gets 5"]),
        ("dist.get_world_size()", "1", ["`nodes` (1, 6) cannot be indexed by `[1]`"]),
    ],
)
def test_what_fails_in_one_process_alone_is_no_mistake_of_many(tmp_path, line, instead, found):
    said = [fault.message for fault in faults_of(tmp_path, SHARED.replace(line, instead))]
    assert len(said) == len(found) and all(map(str.startswith, said, found)), said


def test_a_call_that_fails_on_a_gpu_and_behind_that_on_the_cpu_is_said_to_do_both(tmp_path):
    other = """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = torch.ones(4)
                self.out = nn.Linear(8, 2)

            def forward(self, x):
                return self.out(x * self.scale)
        """
    program = """
        from other import Net

        device = "cuda" if torch.cuda.is_available() else "cpu"
        model = Net().to(device)
        model(torch.ones(3, 4).to(device))
        """
    said = sorted(fault.kind for fault in faults_of(tmp_path, program, other=other))
    assert said == ["device", "shape"]
