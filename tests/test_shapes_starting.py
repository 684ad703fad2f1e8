"""How far scripts come in the dry run: what stands between their first line and their second step."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

TRAINING = """
def train(model, device="cpu"):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        loss = model(torch.randn(4, 8).to(device)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
START = "import argparse, sys\nimport torch\nimport unheard\nfrom torch import nn\n" + TRAINING
REFUSED = "model(torch.randn(4, 9))"


def run(tmp_path, text: str):
    path = tmp_path / "train.py"
    path.write_text(text)
    return dry_run(text, str(path), Project(tmp_path).view(path))


@pytest.mark.parametrize(
    "text",
    [
        """
parser = argparse.ArgumentParser()
parser.add_argument("--root", default=unheard.ROOT)
parser.add_argument("rest", default=None, nargs=argparse.REMAINDER)
args = parser.parse_args()
assert args.rest == []
print(args.root.name)
train(nn.Linear(8, 2))
""",
        """
parser = argparse.ArgumentParser()
if unheard.first == unheard.second:
    parser.error("not both")
if unheard.second:
    sys.exit("not this one")
train(nn.Linear(8, 2))
""",
        """
def evaluate(args):
    print(args.path.name)

parser = argparse.ArgumentParser()
parser.add_argument("--classes", type=int, default=2)
commands = parser.add_subparsers(dest="command", required=True)
evaluating = commands.add_parser("eval")
evaluating.add_argument("path")
evaluating.set_defaults(run=evaluate)
training = commands.add_parser("train")
training.add_argument("--width", type=int, default=8)
training.set_defaults(run=lambda args: train(nn.Linear(args.width, args.classes)))
args = parser.parse_args()
if args.command is None:
    parser.error("which?")
args.run(args)
""",
        """
net = nn.Linear(8, 2)
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.8)

def closure():
    optimizer.zero_grad()
    loss = net(torch.zeros(4, 8)).sum()
    loss.backward()
    return loss

for _ in range(10):
    optimizer.step(closure)
""",
        """
import torch.multiprocessing as mp

def work(rank, classes):
    train(nn.parallel.DistributedDataParallel(nn.Linear(8, classes).to(rank), device_ids=[rank]), rank)

mp.spawn(work, args=(3,), nprocs=2)
""",
        """
import torch.multiprocessing as mp
processes = [mp.Process(target=train, args=(nn.Linear(8, 2),)) for _ in range(2)]
for process in processes:
    process.start()
for process in processes:
    process.join()
""",
        """
import torch.multiprocessing as mp

def work(rank, **options):
    train(nn.Linear(8, 2))

def begin(**options):
    options["seed"] = 3
    mp.Process(target=work, args=(0,), kwargs=options).start()

begin(**unheard.options)
""",
        """
if torch.cuda.device_count() < 2:
    print("two are needed")
    sys.exit()
train(nn.Linear(8, 2))
""",
        """
class Settings:
    def __init__(self, **values):
        for name, value in values.items():
            if type(value) == dict:
                value = Settings(**value)
            setattr(self, name, value)

settings = Settings(**unheard.settings)
print(settings.data.path)
train(nn.Linear(8, 2))
""",
        """
class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(8, size))

    def forward(self, x):
        return x @ self.weight

train(Net(unheard.size))
""",
        """
first = nn.Linear(8, 2)
optimizer = torch.optim.SGD([unheard.weight, first.weight], lr=0.1)
optimizer.add_param_group({"params": [unheard.other, first.bias]})
for _ in range(2):
    first(torch.randn(4, 8)).sum().backward()
    optimizer.step()
""",
        """
class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.first = nn.utils.weight_norm(nn.Conv1d(size, 8, 1))
        self.second = nn.Linear(8, 2)

    def forward(self, x):
        return self.second(x)

train(Net(unheard.size))
""",
        """
import math
import numpy as np
eps = np.finfo(np.float32).eps.item()
assert round(3.14159, ndigits=2) == 3.14 and math.isclose(1.0, 1.0 + eps, rel_tol=1e-3)
train(nn.Linear(8, 2))
""",
    ],
)
def test_a_script_comes_to_its_second_step(tmp_path, text):
    found = run(tmp_path, START + text)
    assert found.statistics["scripts_stepped_twice"] == 1, found.unknowns
    assert found.statistics["scripts_ended"] == 1
    assert not found.faults


def test_what_a_process_runs_is_checked(tmp_path):
    text = """
import torch.multiprocessing as mp

def work(rank, classes):
    model = nn.Linear(8, classes)
    model(torch.randn(4, 9))  # it takes 8

mp.spawn(work, args=(3,), nprocs=2)
"""
    lines = [fault.span.line for fault in run(tmp_path, START + text).faults]
    assert lines == [(START + text).split(REFUSED)[0].count("\n") + 1]


def test_what_nobody_gives_of_a_configuration_has_no_default_of_nothing(tmp_path):
    text = """
from dataclasses import dataclass

@dataclass
class Sizes:
    width: int = None

model = nn.Linear(8, 2)
table = torch.zeros(2, Sizes(**unheard.sizes).width)
train(model)
"""
    assert not run(tmp_path, START + text).faults
    assert run(tmp_path, START + text.replace("**unheard.sizes", "")).faults


PLAYING = """
import gym
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
env, seen, total = gym.make("CartPole-v1"), [], 0
for episode in range(1000):
    state = env.reset()
    for t in range(500):
        scores = net(torch.from_numpy(state).float().unsqueeze(0))
        state, reward, done, _ = env.step(scores.argmax().item())
        seen.append(reward)
        total += reward
        if done:
            break
    if len(seen) > 300:
        optimizer.zero_grad()
        (scores.logsumexp(1) * sum(seen)).sum().backward()
        optimizer.step()
    if total > env.spec.reward_threshold:
        break
"""


@pytest.mark.parametrize("end", ["break", "return"])
def test_an_unknown_end_does_not_come_in_the_first_round(tmp_path, end):
    lines = PLAYING.splitlines()
    program = "def main():\n" + "".join(f"    {line}\n" for line in [*lines[:-1], lines[-1].replace("break", end)])
    result = run(tmp_path, f"{START}{program}main()\n")
    assert result.statistics["scripts_stepped_twice"] == 1 and not result.faults


def test_the_first_of_two_defaults_for_one_name_counts(tmp_path):
    text = """
import argparse, torch
parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=9)
parser.add_argument("--width", dest="size", type=int, default=8)
args = parser.parse_args()
print(torch.nn.Linear(args.size, 2)(torch.zeros(1, 9)))
print(torch.nn.Linear(args.size, 2)(torch.zeros(1, 8)))
"""
    assert [fault.span.line for fault in run(tmp_path, text).faults] == [8]


def test_nobody_sees_the_default_of_what_has_to_be_given(tmp_path):
    text = """
import argparse, torch
parser = argparse.ArgumentParser()
parser.add_argument("--net", required=True, default="custom")
parser.add_argument("--width", type=int, {}default=9)
args = parser.parse_args()
net = {{"small": torch.nn.Linear(4, 2), "large": torch.nn.Linear(8, 2)}}[args.net]
print(torch.nn.Linear(8, 2)(torch.zeros(1, args.width)))
"""
    assert run(tmp_path, text.format("required=True, ")).faults == ()
    assert [fault.span.line for fault in run(tmp_path, text.format("")).faults] == [8]
