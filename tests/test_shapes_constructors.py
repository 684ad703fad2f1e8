"""Classes that no script builds: where the dry run takes their constructor arguments from, and how many come to their
end.
"""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

USE = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def share(tmp_path, text: str, **others: str) -> tuple[int, int, dict]:
    """(module classes, those that ran to their end, why the others did not) of a file that is never wrong."""
    for name, other in others.items():
        (tmp_path / f"{name}.py").write_text(USE + textwrap.dedent(other))
    path, program = tmp_path / "program.py", USE + textwrap.dedent(text)
    path.write_text(program)
    result = dry_run(program, str(path), Project(tmp_path).view(path))
    assert result.faults == ()
    return result.statistics["modules"], result.statistics["modules_run"], result.reasons


PICKY = """
class Block(nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        assert (wide, narrow) == (int("48"), int("12"))
        self.down = nn.Conv2d(wide, narrow, 1)

    def forward(self, x):
        return self.down(x)
"""


@pytest.mark.parametrize(
    "caller",
    [
        "from program import Block\nlayer = Block(48, 12)",
        "import program\ndef build():\n    return program.Block(48, narrow=12)",
        (
            "from program import Block\ndef build(width):\n    size = 12\n    return nn.Sequential(Block(4 * size,"
            " size), nn.Conv2d(size, width, 1))"
        ),
        (
            "from program import *\nclass Net(nn.Module):\n    def __init__(self, size=12):\n       "
            " super().__init__()\n        self.block = Block(4 * size, size)"
        ),
    ],
)
def test_a_class_is_constructed_as_other_files_do(tmp_path, caller):
    assert share(tmp_path, PICKY)[:2] == (1, 0)
    assert share(tmp_path, PICKY, net=caller)[:2] == (1, 1)


def test_a_file_that_only_says_the_name_is_not_asked(tmp_path):
    other = "class Block:\n    pass\ndef build():\n    return Block(48, 12)"
    assert share(tmp_path, PICKY, other=other)[:2] == (1, 0)


def net(
    parameters: str, check: str, layer: str = "nn.Linear(8, 8)", forward: str = "self.layer(x)", before: str = ""
) -> str:
    return (
        f"{before}\nclass Net(nn.Module):\n    def __init__(self, {parameters}):\n        super().__init__()\n"
        f"        {check}\n        self.layer = {layer}\n\n    def forward(self, x):\n        return {forward}\n"
    )


@pytest.mark.parametrize(
    "program",
    [
        net("blocks", "assert isinstance(blocks, tuple) and len(blocks) == 3"),
        net("fraction_kept", "assert 0 < fraction_kept < 1"),
        net("ratio", "if not (ratio > 0 and ratio < 1): raise ValueError('no fraction')"),
        net("way", "if way == 'left':\n            pass\n        elif way == 'right':\n            pass\n        else:\n            raise ValueError(way)"),
        net("way", "assert way in WAYS", before="WAYS = {'left': 1}"),
        net("size", "assert size % 7 == 0"),
        net("size=None", "assert size is not None"),
        net("first, second", "self.check(first)", before="class Base(nn.Module):\n    def check(self, first):\n        assert first % 5 == 0\n    def forward(self, x):\n        return x").replace("Net(nn.Module)", "Net(Base)"),
        net("other", "assert isinstance(other, Part)", before="class Part(nn.Module):\n    def __init__(self):\n        super().__init__()\n    def forward(self, x):\n        return x"),
        net("fn", "pass", "fn", "self.layer(x)"),
        net("encoder", "width = encoder.stem.out_features", "nn.Linear(width, 2)", "self.layer(x)", "class Vit(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.stem = nn.Linear(8, 8)\n    def forward(self, x):\n        return self.stem(x)"),
        net("config", "pass", "nn.Dropout(config.keep_ratio)"),
        net("**options", "pass", "Inner(**options)", before="class Inner(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n        self.up = nn.Linear(dim, dim)\n    def forward(self, x):\n        return self.up(x)"),
        net("layers: list[nn.Module]", "pass", "nn.Sequential(*layers)"),
        net("width", "names = locals()", "nn.Linear(names['width'], 1)"),
    ],
)  # fmt: skip
def test_arguments_follow_the_checks_of_the_program(tmp_path, program):
    modules, run, reasons = share(tmp_path, program)
    assert modules == run, reasons


def test_a_default_that_stands_for_later_is_guessed(tmp_path):
    program = """
    from dataclasses import dataclass
    @dataclass
    class Settings:
        dim: int = 8
        vocabulary: int = -1

    class Net(nn.Module):
        def __init__(self, settings: Settings):
            super().__init__()
            self.embed = nn.Embedding(settings.vocabulary, settings.dim)

        def forward(self, ids):
            return self.embed(ids)
    """
    assert share(tmp_path, program)[:2] == (1, 1)


@pytest.mark.parametrize(
    "forward",
    [
        "def forward(self, *inputs):\n        return self.layer(inputs[0])",
        "@torch.no_grad()\n    def forward(self, x):\n        return self.layer(x)",
        "@torch.autocast('cuda')\n    def forward(self, x):\n        return self.layer(x)",
        (
            "def forward(self, x, angles):\n        assert angles.shape == (x.shape[1], x.shape[-1])\n        return"
            " self.layer(x) * angles"
        ),
        "def forward(self, x):\n        self.seen = x.new_zeros(3)\n        return self.layer(x) + self.seen.sum()",
    ],
)
def test_forwards_of_every_kind_come_to_their_end(tmp_path, forward):
    program = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layer = nn.Linear(8,"
        f" 8)\n        self.seen = torch.zeros(3)\n    {forward}\n"
    )
    assert share(tmp_path, program)[:2] == (1, 1)


def test_a_class_without_a_forward_does_not_count(tmp_path):
    program = (
        "class Base(nn.Module):\n    pass\nclass Block(nn.Sequential):\n    def __init__(self, dim):\n       "
        " super().__init__(nn.Linear(dim, dim), nn.ReLU())\n"
    )
    assert share(tmp_path, program) == (1, 1, {})


def test_what_stands_behind_the_end_of_a_script_is_run_too(tmp_path):
    program = (
        "import sys\nif not torch.tensor([1]).rot90:\n    pass\nsys.exit(0)\nclass Net(nn.Module):\n    def"
        " forward(self, x):\n        return x\n"
    )
    assert share(tmp_path, program)[:2] == (1, 1)


def test_classes_that_functions_make_count(tmp_path):
    program = (
        "def build(width):\n    class Net(nn.Module):\n        def forward(self, x):\n            return x\n    return"
        " Net()\n"
    )
    assert share(tmp_path, program)[:2] == (1, 1)


def test_the_caller_knows_better_than_a_guess(tmp_path):
    """With arguments that nobody gives the forward fails for every input; with those of the caller it runs."""
    program = """
    class Mix(nn.Module):
        def __init__(self, dim, out):
            super().__init__()
            self.first = nn.Linear(dim * 2, 64)
            self.second = nn.Linear(out + 2, 1)

        def forward(self, x):
            return self.second(self.first(x))
    """
    assert share(tmp_path, program, net="from program import Mix\nmixed = Mix(4, 62)")[:2] == (1, 1)


def test_lists_that_lack_an_item_do_not_grow_for_ever():
    """A check of the program's own may never be content with the length of a list."""
    from torchlint.shapes.search.attempts import OpenParameter, RunResult
    from torchlint.shapes.search.constructors import LONGEST, solve_constructor

    longest = []

    def run(assumption):
        longest.extend(len(v) for v in assumption.values() if isinstance(v, list))
        return RunResult(1, "python", None, "IndexError: list index out of range")

    solve_constructor(run, [OpenParameter("dims", hint="list")], {"dims": [[1, 2]]})
    assert longest and max(longest) <= 2 * LONGEST


@pytest.mark.parametrize(
    ("parameters", "body", "width"),
    [
        ("dims", "[width, hidden, classes] = dims\n        sizes = [width, *hidden, classes]", "sizes[0]"),
        ("sizes, width", "self.parts = nn.ModuleDict({k: nn.Linear(width, n) for k, n in sizes.items()})", "width"),
        ("opt", "self.bad = [int(k) for k, v in opt.vocab.items() if v in ('a', 'the')]", "opt.rnn_size"),
    ],
)
def test_lists_in_lists_and_tables_are_found(tmp_path, parameters, body, width):
    text = f"""
class Net(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
        {body}
        self.end = nn.Linear({width}, 3)

    def forward(self, x):
        return self.end(x)
"""
    assert share(tmp_path, text) == (1, 1, {})


def test_a_forward_may_hand_on_all_it_gets(tmp_path):
    text = """
class Base(nn.Module):
    def forward(self, *args, **kwargs):
        return getattr(self, "_" + kwargs.pop("mode", "train"))(*args, **kwargs)

    def _train(self, *args):
        return args

class Net(Base):
    def __init__(self, width=12):
        super().__init__()
        self.words, self.pictures, self.end = nn.Embedding(30, width), nn.Linear(7, width), nn.Linear(width, 3)

    def _train(self, pictures, words, mask=None):
        return self.end(self.words(words) + self.pictures(pictures).unsqueeze(1))
"""
    assert share(tmp_path, text) == (2, 2, {})
