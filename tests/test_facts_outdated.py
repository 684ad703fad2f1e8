"""The tables of removed and deprecated names say what torch itself shows: it lacks them, raises, warns or documents it."""

from __future__ import annotations

import importlib
import inspect
import re
import warnings

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from torchlint.config import Selection, Settings
from torchlint.facts.deprecated import DEPRECATED
from torchlint.facts.outdated import OutdatedName, rows
from torchlint.facts.removed import REMOVED
from torchlint.installed import NEWEST
from torchlint.linter import Job, lint
from torchlint.rule import load_rules

of_this_torch = pytest.mark.skipif(
    not torch.__version__.startswith("{}.{}.".format(*NEWEST)), reason="the tables are those of another torch"
)
# Torch says it in its documentation only, or (what is not public) not at all.
SAID_ELSEWHERE = re.compile(r"torch\.autograd\.Variable|torch\.utils\.data\.|torch\.sub\b|torch\.distributed\.|\.add\b")
# Calls that show it where the name alone does not.
MATRIX = torch.eye(3)
CALLS = {
    "torch.symeig": lambda: torch.symeig(MATRIX),
    "torch.solve": lambda: torch.solve(MATRIX, MATRIX),
    "torch.eig": lambda: torch.eig(MATRIX),
    "torch.lstsq": lambda: torch.lstsq(MATRIX, MATRIX),
    "torch.matrix_rank": lambda: torch.matrix_rank(MATRIX),
    ".symeig": lambda: MATRIX.symeig(),
    ".eig": lambda: MATRIX.eig(),
    ".lstsq": lambda: MATRIX.lstsq(MATRIX),
    ".reinforce": lambda: MATRIX.reinforce(1),
    "torch.fft": lambda: torch.fft(MATRIX, 1),
    "torch.stft": lambda: torch.stft(torch.rand(99), 8),
    ".stft": lambda: torch.rand(99).stft(8),
    "torch.cross": lambda: torch.cross(torch.rand(2, 3), torch.rand(2, 3)),
    "torch.meshgrid": lambda: torch.meshgrid(torch.rand(2), torch.rand(2)),
    "torch.range": lambda: torch.range(0, 3),
    "torch.cholesky": lambda: torch.cholesky(MATRIX),
    "torch.chain_matmul": lambda: torch.chain_matmul(MATRIX, MATRIX),
    "torch.sparse.FloatTensor": lambda: torch.sparse.FloatTensor(2, 3),
    "torch.nn.utils.clip_grad_norm": lambda: nn.utils.clip_grad_norm([nn.Parameter(MATRIX)], 1.0),
    "torch.utils.checkpoint.checkpoint": lambda: torch.utils.checkpoint.checkpoint(
        F.relu, torch.ones(1, requires_grad=True)
    ),
    "torch.utils.checkpoint.checkpoint_sequential": lambda: torch.utils.checkpoint.checkpoint_sequential(
        [nn.ReLU()], 1, MATRIX
    ),
    ".resize_as": lambda: MATRIX.resize_as(MATRIX),
    ".storage": lambda: MATRIX.storage(),
    "torch.nn.*": lambda: nn.MSELoss(size_average=False, reduce=True),
    "torch.get_autocast_gpu_dtype": lambda: torch.get_autocast_gpu_dtype(),
    "torch.get_autocast_cpu_dtype": lambda: torch.get_autocast_cpu_dtype(),
    "torch.set_autocast_gpu_dtype": lambda: torch.set_autocast_gpu_dtype(torch.float16),
    "torch.set_autocast_cpu_dtype": lambda: torch.set_autocast_cpu_dtype(torch.bfloat16),
    "torch.is_autocast_cpu_enabled": lambda: torch.is_autocast_cpu_enabled(),
    "iter().next": lambda: iter(torch.utils.data.DataLoader(MATRIX)).next(),
    "torch.optim.lr_scheduler.*": lambda: torch.optim.lr_scheduler.StepLR(
        torch.optim.SGD([nn.Parameter(MATRIX)], 0.1), 3, verbose=True
    ),
}
# One overload warns for all, or torch warns once in the life of a process.
NO_WARNING_TWICE = {".add_", ".sub_", ".addcmul_", ".addcdiv_", "torch.add", "torch.sub", ".storage"}


def of_torch(table: tuple[OutdatedName, ...]) -> dict[str, OutdatedName]:
    return {row.name: row for row in table if not row.name.startswith(("torchvision.",))}


def found(name: str) -> object:
    """The thing of a name; raises where there is none."""
    parts = name.split(".")
    thing = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:], 2):
        thing = getattr(thing, part) if hasattr(thing, part) else importlib.import_module(".".join(parts[:i]))
    return thing


@of_this_torch
@pytest.mark.parametrize("row", of_torch(REMOVED).values(), ids=lambda row: row.name)
def test_what_is_removed_is_not_there_or_raises(row: OutdatedName) -> None:
    if row.condition == "volatile=":
        with pytest.warns(UserWarning, match="volatile was removed"):
            torch.autograd.Variable(MATRIX, volatile=True)
        return
    with pytest.raises((ImportError, AttributeError, RuntimeError, TypeError)):
        CALLS[row.name]() if row.name in CALLS else found(row.name)


@of_this_torch
@pytest.mark.parametrize("row", of_torch(DEPRECATED).values(), ids=lambda row: row.name)
def test_what_is_deprecated_warns_or_says_so(row: OutdatedName) -> None:
    if SAID_ELSEWHERE.match(row.name) or row.name in NO_WARNING_TWICE:
        return
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            thing = CALLS[row.name]() if row.name in CALLS else found(row.name)
    finally:
        torch.set_warn_always(False)
    if row.name not in CALLS:
        said.append(getattr(thing, "__doc__", "") or "")
        said.append(getattr(thing, "__deprecated__", ""))
        said += [inspect.getsource(thing)] if inspect.isfunction(thing) or inspect.isclass(thing) else []
    text = " ".join(str(getattr(one, "message", one)) for one in said)
    assert re.search(
        "deprecat|renamed|passed explicitly|reduction=|without specifying|required|copy construct|now calls", text
    )


@of_this_torch
def test_what_is_only_a_remark_does_not_warn() -> None:
    rule = load_rules()["TL803"]
    is_quiet = rule.function(rule.triggers[0]).__globals__["is_quiet"]
    quiet = [name for name in of_torch(DEPRECATED) if is_quiet(name)]
    assert "torch.norm" in quiet and "torch.cholesky" not in quiet
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for name in quiet:
                given = {"torch.ger": (MATRIX[0], MATRIX[0]), "default_collate": ([MATRIX],)}
                found(name)(*next((given[end] for end in given if name.endswith(end)), (MATRIX,)))
    finally:
        torch.set_warn_always(False)


@of_this_torch
def test_what_stands_there_instead_exists() -> None:
    for row in (*REMOVED, *DEPRECATED):
        for name in re.findall(r"\b(?:torch|builtins|itertools|collections)(?:\.\w+)+", row.instead if row.fix else ""):
            assert not name.startswith("torchvision") and found(name) is not None, row.name


@of_this_torch
def test_an_argument_by_position_stands_where_torch_takes_it() -> None:
    for row in (row for row in DEPRECATED if row.flag and not row.name.startswith("torchvision.")):
        word, position = row.flag
        assert [*inspect.signature(found(row.name)).parameters][position] == word, row.name


@of_this_torch
def test_the_schedulers_that_count_themselves_warn_of_an_epoch() -> None:
    rule = load_rules()["TL803"]
    counting = rule.function(rule.triggers[-1]).__globals__["COUNTING"]
    needed = {"step_size": 3, "milestones": [3], "lr_lambda": lambda epoch: 1, "gamma": 0.9, "T_max": 3}
    needed |= {"base_lr": 0.1, "max_lr": 0.2, "total_steps": 9}
    optimizer = torch.optim.SGD([nn.Parameter(MATRIX)], 0.1)
    for name in counting:
        make = found(name)
        asked = [p.name for p in inspect.signature(make).parameters.values() if p.default is p.empty][1:]
        asked += ["total_steps"] if name.endswith("OneCycleLR") else []
        scheduler = make(optimizer, **{word: needed[word] for word in asked})
        with pytest.warns(UserWarning, match="epoch parameter"):
            scheduler.step(1)


# What a fix makes computes the same: old and new are both run where torch still has the old.
SAME = [
    ("torch.cholesky(a, upper=True)", "torch.linalg.cholesky(a, upper=True)"),
    ("torch.qr(a)", "torch.linalg.qr(a)"),
    ("torch.qr(b, some=False)", 'torch.linalg.qr(b, mode="complete")'),
    ("torch.lu(a)", "torch.linalg.lu_factor(a)"),
    ("torch.norm(b)", "torch.linalg.vector_norm(b)"),
    ("torch.norm(b, 1, dim=0, keepdim=True)", "torch.linalg.vector_norm(b, 1, dim=0, keepdim=True)"),
    ('torch.norm(b, "fro", dim=1)', "torch.linalg.vector_norm(b, dim=1)"),
    ("torch.range(-2, 3)", "torch.arange(-2, 3 + 1, dtype=torch.get_default_dtype())"),
    ("torch.chain_matmul(a, a)", "torch.linalg.multi_dot([a, a])"),
    ("torch.triangular_solve(b, a)[0]", "torch.linalg.solve_triangular(a, b, upper=True)"),
    ("a.clone().add_(0.5, a)", "a.clone().add_(a, alpha=0.5)"),
    ("a.clone().addcdiv_(0.5, a, a + 1)", "a.clone().addcdiv_(a, a + 1, value=0.5)"),
    ("nn.MSELoss(False)(a, a + 1)", 'nn.MSELoss(reduction="sum")(a, a + 1)'),
    ("nn.CrossEntropyLoss(None, False)(a, a)", 'nn.CrossEntropyLoss(None, reduction="sum")(a, a)'),
    ("F.l1_loss(a, a + 1, False)", 'F.l1_loss(a, a + 1, reduction="sum")'),
    ("F.upsample_bilinear(i, scale_factor=2)", 'F.interpolate(i, scale_factor=2, mode="bilinear", align_corners=True)'),
]


@of_this_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("old, new", SAME)
def test_the_new_form_computes_the_same(old: str, new: str) -> None:
    names = {
        "torch": torch,
        "F": F,
        "nn": nn,
        "a": MATRIX * 2 + 0.1,
        "b": torch.arange(6.0).reshape(3, 2),
        "i": torch.rand(1, 1, 3, 3),
    }
    before, after = eval(old, names), eval(new, names)
    if isinstance(before, tuple):
        before, after = tuple(before), tuple(after)
    torch.testing.assert_close(before, after)


def test_a_row_is_read_as_it_is_written() -> None:
    plain, method = rows("torch.a .b(x, y) | 1.13 | torch.c({x}) |\n    x, y=True | safe | why not")
    assert (plain.name, plain.condition, plain.since) == ("torch.a", None, (1, 13))
    assert (method.name, method.condition, method.arguments, method.fix) == (".b", "x, y", "x, y=True", "safe")
    assert method.help == "torch.c(x)" and method.is_method


@pytest.mark.parametrize(
    "line, said",
    [
        ('torch.set_default_tensor_type("torch.cuda.FloatTensor")', 'torch.set_default_device("cuda")'),
        (
            "torch.set_default_tensor_type(torch.cuda.DoubleTensor)",
            '"cuda") and torch.set_default_dtype(torch.float64)',
        ),
        ("torch.set_default_tensor_type(torch.DoubleTensor)", "`torch.set_default_dtype(torch.float64)`"),
        ('torch.set_default_tensor_type("torch.HalfTensor")', "`torch.set_default_dtype(torch.float16)`"),
        ("torch.set_default_tensor_type(kind)", "torch.set_default_dtype and torch.set_default_device"),
        ("torch.rfft(x, 1, onesided=False)", "`torch.fft.fft(...)`"),
        ("torch.rfft(x, 2)", "`torch.fft.rfft2(...)`"),
        ("torch.rfft(x, signal_ndim=3, normalized=True)", "`torch.fft.rfftn(..., dim=...)`"),
        ("torch.rfft(x, 1, onesided=half)", "torch.fft.rfftn, or torch.fft.fftn for"),
        ("torch.rfft(x, **options)", "torch.fft.rfftn, or torch.fft.fftn for"),
        ("torch.irfft(x, 2, onesided=False, signal_sizes=sizes)", "`torch.fft.ifft2(...).real`"),
        ("torch.ifft(x, 1)", "`torch.fft.ifft(...)`"),
        ("torch.fft(x, 3)", "`torch.fft.fftn(..., dim=...)`"),
        ("torch.qr(x, some=False)", 'torch.linalg.qr(input, mode="complete")'),
        ("torch.optim.lr_scheduler.StepLR(o, 3, verbose=True)", "`print(scheduler.get_last_lr())`"),
        ("torch.optim.lr_scheduler.StepLR(o, 3, verbose=False)", "leave it out"),
        ("torch.optim.lr_scheduler.StepLR(o, 3).step(epoch)", "at the end of each epoch"),
        ("torch.optim.lr_scheduler.StepLR(o, 3).step(state.steps_trained)", "where it is called now"),
    ],
)
def test_the_help_is_that_of_these_arguments(line: str, said: str, tmp_path) -> None:
    settings = Settings(dry_run=False, selections=(Selection(select=("TL802", "TL803")),))
    [finding] = lint(f"import torch\n\n{line}\n", Job.of(tmp_path / "a.py", settings)).findings
    assert said in (finding.help or "")


def test_a_default_on_the_gpu_is_not_taken_from_anyone(tmp_path) -> None:
    settings = Settings(dry_run=False, selections=(Selection(select=("TL803",)),))
    text = 'import torch\n\ntorch.set_default_tensor_type("torch.cuda.FloatTensor")\n'
    [finding] = lint(text, Job.of(tmp_path / "a.py", settings)).findings
    assert finding.fix is None


@pytest.mark.parametrize("line", ["torch.nn.utils.remove_weight_norm(layer)", "layer.weight_g.data.fill_(1)"])
def test_who_handles_the_old_weight_norm_keeps_it(line: str, tmp_path) -> None:
    """What takes it off and what reads its two parameters find neither on a layer of the new one."""
    settings = Settings(dry_run=False, selections=(Selection(select=("TL803",)),))
    text = f"import torch\nfrom torch.nn.utils import weight_norm\nlayer = weight_norm(conv)\n{line}\n"
    [finding] = lint(text, Job.of(tmp_path / "a.py", settings)).findings
    assert finding.fix is None
