"""Shapes that authors write, in jaxtyping's annotations and in comments: they are tried as inputs, and checked."""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.core.named_axes import of_comment, of_jaxtyping
from torchlint.shapes.record.traces import Traces
from torchlint.shapes.search.check import dry_run

USE = """
import torch
import jaxtyping as jt
from jaxtyping import Bool, Float, Int, jaxtyped
from beartype import beartype
from torch import Tensor, nn
"""
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.head = nn.Linear(8, 10)

    def forward(self, x: {takes}) -> {gives}:
        return self.head(self.conv(x).mean((2, 3)))
"""


def said(tmp_path, program, presumed=False):
    path = tmp_path / "program.py"
    text = USE + textwrap.dedent(program)
    faults = dry_run(text, str(path), Project(tmp_path).view(path)).faults
    return [f"{fault.message} {fault.help}" for fault in faults if fault.presumed == presumed]


@pytest.mark.parametrize(
    "text, shape, why",
    [
        ("batch 3 h w", (2, 3, 8, 8), ""),
        ("batch 3 h w", (2, 1, 8, 8), "1 where 3 is written"),
        ("batch 3 h w", (2, 3, 8), "3 dimensions where 4 are written"),
        ("b b", (2, 3), "`b` is 2 and 3"),
        ("*b d 4", (7, 2, 3, 4), ""),
        ("*b d 4", (4,), "1 dimension where 2 are written"),
        ("... 3", (5, 4), "4 where 3 is written"),
        ("b _ #n n-1 h=4", (1, 2, 3, 4, 4), ""),
        ("b h=4", (1, 5), "5 where 4 is written"),
        ("", (), ""),
        ("", (1,), "1 dimension where 0 are written"),
    ],
)
def test_the_axes_of_jaxtyping(text, shape, why):
    assert of_jaxtyping(text).misfit(shape, {}) == why


def test_names_stand_for_one_size_in_all_of_a_call():
    names = {}
    assert of_jaxtyping("b n").misfit((2, 3), names) == ""
    assert of_jaxtyping("b m").misfit((4, 3), names) == "`b` is 2 and 4"
    assert "m" not in names


@pytest.mark.parametrize(
    "text, sizes",
    [
        ("(b, 3, h, w)", ("b", 3, "h", "w")),
        ("[B x T x 80]", ("B", "T", 80)),
        ("(b, n, h x w)", None),
        ("(see below)", None),
        ("(3)", None),
        ("(b, n) or (n,)", None),
    ],
)
def test_a_comment_is_a_shape_or_something_else(text, sizes):
    axes = of_comment(text)
    assert (axes and axes.sizes) == sizes


@pytest.mark.parametrize(
    "takes, gives, word",
    [
        ('Float[Tensor, "b 3 h w"]', 'Float[Tensor, "b 10"]', ""),
        ('Float[Tensor, "b 1 h w"]', 'Float[Tensor, "b 10"]', "takes 3 channels but gets 1"),
        ('Float[Tensor, "b 3 h w"]', 'Float[Tensor, "b 100"]', "10 where 100 is written"),
        ('Float[Tensor, "b 3 h w"]', 'Float[Tensor, "b n 10"]', "2 dimensions where 3 are written"),
        ('Float[torch.Tensor, "b 3 h w"] | None', 'jt.Int[Tensor, "b 10"]', "float32 where Int is written"),
        ('Float[Tensor, "*b h w"]', 'Float[Tensor, "..."]', ""),
        ('Float[Tensor, f"b {3} h w"]', "Tensor", ""),
    ],
)
def test_a_module_that_nobody_calls_is_run_with_what_is_written(tmp_path, takes, gives, word):
    found = said(tmp_path, NET.format(takes=takes, gives=gives))
    assert [word in one for one in found] == [True] * bool(word)


def test_a_class_with_open_sizes_is_not_blamed(tmp_path):
    program = """
    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.fc = nn.Linear(width, width)

        def forward(self, x: Float[Tensor, "b 512"]) -> Float[Tensor, "b 512"]:
            return self.fc(x)
    """
    assert said(tmp_path, program) == []


@pytest.mark.parametrize(
    "takes, gives, words",
    [
        ("", "b 49 8", 0),  # as many as the side of the picture makes it
        (", parts: int", "b 1 8", 0),  # how many parts there are is for the caller to say
        ("", "b n 16", 1),
        ("", "b b 8", 1),
    ],
)
def test_what_depends_on_sizes_that_are_assumed_is_no_contradiction(tmp_path, takes, gives, words):
    program = f"""
    class Patches(nn.Module):
        def __init__(self):
            super().__init__()
            self.cut = nn.Conv2d(3, 8, 4, 4)

        def forward(self, x: Float[Tensor, "b 3 h w"]{takes}) -> Float[Tensor, "{gives}"]:
            cut = self.cut(x).flatten(2).transpose(1, 2)
            return {"cut[:, :parts]" if takes else "cut"}
    """
    assert len(said(tmp_path, program)) == words


CALLS = """
{decorator}
def merge(a: Float[Tensor, "b n"], b: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"], Bool[Tensor, "b"]]:
    return a + b, a.sum({axis}) > 0


merge(torch.zeros(3, 4), torch.zeros({rows}, 4))
merge(torch.zeros(3, 4), torch.ones(3, 4)).missing
"""


@pytest.mark.parametrize("decorator", ["@jaxtyped(typechecker=beartype)", "@jaxtyped(typechecker=None)", ""])
@pytest.mark.parametrize(
    "rows, axis, word",
    [(1, 1, "`b` is written as `Float[Tensor, "), (3, 0, "part 2 of what it returns (`merge`)"), (3, 1, "")],
)
def test_what_a_script_gives_is_compared(tmp_path, decorator, rows, axis, word):
    found = said(tmp_path, CALLS.format(decorator=decorator, rows=rows, axis=axis).replace(".missing", ""))
    assert [word in one for one in found[:1]] == [True] * bool(word)


def test_what_a_type_checker_refuses_ends_the_program(tmp_path):
    program = CALLS.format(decorator="@jaxtyped(typechecker=beartype)", rows=1, axis=1)
    assert ["is written as" in one for one in said(tmp_path, program)] == [True, False]
    caught = program.replace("merge(torch.zeros(3, 4), torch.zeros(1, 4))", PATIENT)
    assert not any("is written as" in one for one in said(tmp_path, caught))


PATIENT = """
try:
    merge(torch.zeros(3, 4), torch.zeros(1, 4))
except TypeError:
    merged = None
"""


@pytest.mark.parametrize(
    "written", [f'Float[Tensor, "{"9" * 5000}"]', f'Float[Tensor, "{"n " * 5000}"]', "Same", " | ".join(["Same"] * 50)]
)
def test_what_is_written_to_do_harm_says_nothing(tmp_path, written):
    program = f"""
    from typing import Optional
    Same = Optional["Same"]
    Same = Optional[Same]


    def twice(x: {written}, y: {written} = None) -> {written}:
        return x + x


    twice(torch.zeros(2))
    """
    assert said(tmp_path, program) == []


def test_words_that_are_not_of_jaxtyping_say_nothing(tmp_path):
    program = NET.format(takes='Float[Tensor, "b 1 h w"]', gives="Tensor")
    path = tmp_path / "program.py"
    text = "import torch\nfrom torch import Tensor, nn\nfrom shapes import Float  # not jaxtyping\n" + program
    assert dry_run(text, str(path), Project(tmp_path).view(path)).faults == ()


@pytest.mark.parametrize(
    "head",
    [
        "def forward(self, x):  # (b, 5, 20, 24)",
        "def forward(self, x):\n        # x: (b, 5, 20, 24)",
        'def forward(self, x):\n        """Pool.\n\n        x (Tensor): a tensor of shape (b, 5, 20, 24)\n        """',
        "def forward(\n        self,\n        x,  # [B x 5 x 20 x 24]\n    ):",
    ],
)
def test_a_comment_says_what_an_input_is(tmp_path, head):
    text = f"""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)

    {head}
        return self.pool(x)
"""
    path = tmp_path / "program.py"
    traces = Traces(str(path))
    result = dry_run(text, str(path), Project(tmp_path).view(path), traces=traces, graphs=True)
    assert [trace.inputs["x"] for trace in result.traces] == ["(2, 5, 20, 24) float32"]


def test_what_fails_as_it_is_written_is_shown_so(tmp_path):
    path = tmp_path / "program.py"
    traces = Traces(str(path))
    text = USE + NET.format(takes='Float[Tensor, "b 1 h w"]', gives="Tensor")
    (fault,) = dry_run(text, str(path), Project(tmp_path).view(path), traces=traces).faults
    (table,) = traces.tables
    assert (table.inputs["x"], "gets 1" in fault.message) == ("(2, 1, 64, 64) float32", True)
    assert (table.steps[-1].module, table.error != "") == ("conv", True)


def test_the_layers_know_better_than_a_comment(tmp_path):
    program = NET.format(takes="Tensor", gives="Tensor").replace("-> Tensor:", "-> Tensor:  # (b, 1, 32, 32)")
    assert said(tmp_path, program) == []


def test_a_comment_that_is_wrong_is_a_remark(tmp_path):
    program = """
    conv = nn.Conv2d(3, 8, 3, padding=1)
    x = torch.zeros(2, 3, 32, 32)  # (b, 3, h, w)
    x = conv(x)  # (b, 16, h, w)
    pair = (3, 4)  # (rows, columns)
    """
    assert said(tmp_path, program) == []
    (remark,) = said(tmp_path, program, presumed=True)
    assert "`x` is (2, 8, 32, 32) here: 8 where 16 is written" in remark
