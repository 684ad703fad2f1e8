"""How the cost of reading a file as text grows with its lines, in counted calls: benchmarks/growth.py in small."""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import pytest
from effort import calls_of

from torchlint.config import Settings
from torchlint.linter import Job, lint
from torchlint.project import Project
from torchlint.rule import load_rules
from torchlint.source.answers.graphless_models import freezes

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))

import growth
from growth_expressions import NESTED
from growth_statements import STATEMENTS
from growth_structures import FILES, STRUCTURES
from growth_training import TRAINING

SIZES = (8, 18, 36)
LARGER = {
    "returns of one function that are called often": (64, 128, 256),  # every call asks for all callers, up to 64
    "samplers told the epoch": (64, 128, 256),  # each epoch loop looks at all calls, up to so many
    "functions that count one global": (64, 128, 256),  # each asks for all places that set it, up to so many
    "rounds left early, and steps behind": (64, 128, 256),  # a part that is quadratic would show only here
    "helpers of one name that step": (64, 128, 256),  # each call may be one of each function, up to so many
    "functions of a notebook that nobody uses": (64, 128, 256),  # a part that is quadratic would show only here
    "options that no parser lets through": (32, 64, 128),
    "findings in a chain of elif": (128, 256, 512),  # each looks at the hundred around it
}
ALONE_AND_LARGER = {
    "classes with a slip each": (256, 384, 512),  # each looks for those that derive from it
    "one name imported again": (256, 384, 512),  # of up to a hundred each place knows all
    # Where only so many nodes are looked at for what may do no harm, what is quadratic shows before.
    "best states in one function": (12, 24, 36),
    "lists of epochs in a row": (6, 12, 18),
}
UNTOLD = ("optimizers that wrap others",)  # quadratic up to the bound on steps: each call may be one of each method
ALONE = (
    ("TL201", "kept and changed (forward)"),
    ("TL203", "lists grown (loop)"),
    ("TL206", "backwards (file)"),
    ("TL105", "logarithms in functions"),
    ("TL208", "NumPy and back (function)"),
    ("TL503", "rounds of evaluation (function)"),
    ("TL510", "models and optimizers in turn"),
    ("TL511", "optimizers stepped (loop)"),
    ("TL512", "rounds of training (loop)"),
    ("TL523", "frozen parts in eval mode"),
    ("TL529", "checkpoints without a mode"),
    ("TL611", "heads cut and joined"),
    ("TL614", "places told to layers that attend"),
    ("TL616", "attributes nobody sets"),
    ("TL616", "classes with a slip each"),
    ("TL617", "calls that somebody catches"),
    ("TL725", "files that are not there"),
    ("TL712", "branches of one if"),
    ("TL712", "types that are none"),
    ("TL713", "states saved"),
    ("TL713", "arguments kept by the wrong name"),
    ("TL713", "means of one loop"),
    ("TL714", "arguments exchanged in one call"),
    ("TL715", "groups with one option"),
    ("TL715", "options that are texts"),
    ("TL516", "states compared (file)"),
    ("TL516", "states kept (file)"),
    ("TL516", "states kept (function)"),
    ("TL516", "states kept (loop)"),
    ("TL106", "divisions in functions"),
    ("TL106", "divisions in one function"),
    ("TL115", "one name imported again"),
    ("TL117", "samples in functions"),
    ("TL118", "spreads in functions"),
    ("TL126", "decoders in functions"),
    ("TL201", "results changed in a row"),
    ("TL204", "layers cut off in functions"),
    ("TL205", "states carried in functions"),
    ("TL209", "flags of modules in a row"),
    ("TL503", "models tried out in a row"),
    ("TL504", "modes kept in a row"),
    ("TL510", "optimizers left as they are"),
    ("TL514", "bare guards in one function"),
    ("TL516", "best states in one function"),
    ("TL532", "monitors in a row"),
    ("TL535", "lists of epochs in a row"),
    ("TL537", "wrappers passed by in a row"),
    ("TL602", "lists of layers in functions"),
    ("TL603", "helpers that drop in functions"),
    ("TL702", "generators of workers in a row"),
    ("TL705", "stops in forwards"),
    ("TL802", "removed names in one function"),
)
pytestmark = pytest.mark.effort
LIMIT = 20_000_000  # calls
STEEPEST = 1.33  # 1 is linear, 2 quadratic, and a part that is quadratic shows late at such sizes
RULES = load_rules()
TEXT = Settings(dry_run=False)
ALL = growth.constructs()
IN_PLACES = [name for name in ALL if name.rpartition(" (")[0] in STATEMENTS]
# All that has structure, and of the single statements every eleventh, so that each place and many kinds are among them.
CHOSEN = [*STRUCTURES, *(name for name in TRAINING if name not in UNTOLD), *FILES, *NESTED, *IN_PLACES[::11]]


def calls(name: str, n: int, folder: Path, rules: dict = RULES) -> int:
    path = growth.written(ALL[name](n), folder / str(n))
    text, project = path.read_text(), Project(str(path.parent))
    return calls_of(lambda: lint(text, Job.of(str(path), TEXT, project, rules)), LIMIT)


def exponent(sizes: tuple[int, ...], small: int, middle: int, large: int) -> float:
    growth_of_size = (sizes[2] - sizes[0]) / (sizes[1] - sizes[0])
    return math.log(max(1, large - small) / max(1, middle - small)) / math.log(growth_of_size)


@pytest.fixture(scope="module", autouse=True)
def warm(tmp_path_factory):
    """What is imported and compiled once is counted for none of them."""
    for name in ("trainers", "findings"):
        calls(name, 2, tmp_path_factory.mktemp("warm"))


@pytest.mark.parametrize("name", CHOSEN)
def test_twice_the_lines_are_twice_the_work(name, tmp_path):
    sizes = LARGER.get(name, SIZES)
    small, large = (calls(name, sizes[n], tmp_path) for n in (0, 2))
    assert large < LIMIT
    if large >= 2 * small:  # else it is next to nothing, however it grows
        middle = calls(name, sizes[1], tmp_path)
        assert exponent(sizes, small, middle, large) < STEEPEST, (small, middle, large)


@pytest.mark.parametrize("code, name", ALONE)
def test_a_rule_alone_does_the_same_for_each_line(code, name, tmp_path):
    """Beside the work of all others a part that is quadratic shows late."""
    sizes, rules = ALONE_AND_LARGER.get(name, (32, 64, 128)), {code: RULES[code]}
    calls(name, sizes[0], tmp_path, rules)  # what is compiled once
    found = [calls(name, n, tmp_path, rules) for n in sizes]
    assert exponent(sizes, *found) < 1.03, found


def test_what_is_frozen_is_looked_for_once_in_a_long_line():
    """A line of many calls that might each be given `requires_grad=False`."""
    line = f"x = [{'torch.zeros(2), ' * 10_000}]"
    start = time.process_time()
    assert freezes(f"{line}; model.requires_grad_(False)")
    assert not freezes(f"{line}; y = torch.ones(2, requires_grad=False)")
    assert time.process_time() - start < 1


@pytest.mark.parametrize("dry", [False, True])
def test_the_constants_of_a_table_cost_next_to_nothing(dry, tmp_path):
    def effort(n: int) -> int:
        text = "import torch\n" + f"x = [{'0, ' * n}]\ny = {{{', '.join(f'{i}: 1' for i in range(n))}}}\n"
        text += "z = torch.zeros(2)\nz.nothing(x, y)\n"
        job = Job.of(str(tmp_path / "a.py"), Settings(dry_run=dry), Project(str(tmp_path)))
        return calls_of(lambda: lint(text, job), LIMIT)

    effort(100)
    assert effort(20_000) - effort(10_000) < 15 * 20_000


def test_the_rank_of_what_many_branches_change_is_found_once_for_each(tmp_path):
    """Each branch doubles the ways in which a tensor may have come about."""
    branches = "".join(
        f"    if flags[{n}]:\n        x = x.relu()\n    if flags[-{n}]:\n        x = x.tanh()\n" for n in range(9)
    )
    path = tmp_path / "main.py"
    text = f"import torch\n\ndef run(flags):\n    x = torch.zeros(2, 3, 4)\n{branches}    return x.T\n"
    job = Job.of(path, Settings(dry_run=False), Project(tmp_path), load_rules())
    assert calls_of(lambda: lint(text, job), 2_000_000) < 500_000


def test_what_a_function_leads_to_is_followed_only_where_it_may_evaluate_a_model(tmp_path):
    """A script of training sets modes and leads through a whole trainer."""
    helper = "def train(trainer):\n" + "".join(f"    prepare(trainer, {n})\n" for n in range(200))
    prepare = "def prepare(trainer, n):\n    trainer.log(str(n))\n"

    def effort(inside: str) -> int:
        run = f"def run(trainer, model, data):\n    model.eval()\n    train(trainer)\n    for x in data:\n        {inside}\n"
        job = Job.of(tmp_path / "a.py", Settings(dry_run=False), Project(tmp_path), {"TL505": RULES["TL505"]})
        return calls_of(lambda: lint(f"import torch\n{prepare}{helper}{run}", job), LIMIT)

    effort("model(x)")  # what is loaded once
    assert effort("print(x)") < 0.7 * effort("model(x)")
