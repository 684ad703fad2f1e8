"""NumPy on arrays without data, beside NumPy itself: the shapes and dtypes of what its functions give, where they are
said at all.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")

from dry import faults_of, line_of

from torchlint.project import Project
from torchlint.shapes.core.values import Unknown, machines
from torchlint.shapes.libraries.world import find
from torchlint.shapes.machine.machine import Machine
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import Array, fresh
from torchlint.shapes.tensors.dispatch import dry_tensors

KINDS = "float32 float64 int64 int16 uint8 bool complex64".split()
OF_ONE = """sqrt exp log log2 log10 sin cos tan tanh arcsin arccos arctan sinh cosh arcsinh log1p expm1 exp2 cbrt rint fabs
    square sign negative nan_to_num conj isnan isfinite logical_not floor ceil trunc abs absolute angle around clip deg2rad
    sinc real imag""".split()
OF_TWO = """add subtract multiply divide floor_divide power mod fmod hypot arctan2 logaddexp float_power maximum minimum greater
    less_equal equal logical_and outer""".split()
CALLS = """
    np.hanning(64)
    np.hamming(5) * x[0, :5]
    np.kaiser(8, 14.0)
    np.fft.rfft(d)
    np.fft.rfft(d, 16)
    np.fft.rfft(d, n=16, axis=0)
    np.fft.irfft(np.fft.rfft(d))
    np.fft.fft2(d)
    np.fft.fftn(d, axes=(0,))
    np.abs(np.fft.rfft(d)) ** 2
    abs(np.fft.fft(i))
    np.angle(np.fft.fft(d))
    np.fft.fftshift(x)
    np.fft.rfftfreq(9)
    np.fft.fftfreq(9, d=0.1)
    np.outer(x, d[0])
    np.eye(3, dtype=np.float32)[np.zeros((5, 4), dtype=np.uint8)]
    x[np.ones(6, dtype=np.int16), 0]
    np.outer(np.arange(3) + 0.5, np.arange(4))
    np.outer([1, 2], i[0])
    np.convolve(x[0], d[0])
    np.convolve(x[0], d[0], "valid")
    np.correlate(i[0], i[1], mode="same")
    np.lib.stride_tricks.sliding_window_view(x[0], 3)
    np.lib.stride_tricks.sliding_window_view(x, 3, axis=1)
    np.lib.stride_tricks.sliding_window_view(x, (2, 3))
    np.stack([x[0, i : i + 3] for i in range(4)]) * np.hanning(3)
    np.column_stack([x[:, 0], d])
    np.column_stack([x[0], d[0]])
    np.dstack([x, x])
    np.diff(x)
    np.diff(x, axis=0)
    np.diff(b)
    np.interp(x[0], d[0], d[0])
    np.logspace(0, 1, 7)
    np.geomspace(1, 10, num=7)
    np.moveaxis(x, 0, -1)
    np.broadcast_to(x[0], (4, 8))
    np.roll(x, 1, axis=0)
    np.flip(x)
    np.median(x, axis=0)
    np.nanmean(u, axis=1)
    np.percentile(x, 5, axis=0)
    np.quantile(i, 0.5, axis=1, keepdims=True)
    np.linalg.norm(x, axis=1)
    np.linalg.norm(i, axis=1, keepdims=True)
    np.linalg.norm(x, 2, 0)
    np.ptp(x, axis=0)
    np.cos(np.pi / 3 * np.outer(np.arange(3) + 0.5, np.arange(2)))
    np.log(x + 1e-6) @ d.T
    np.maximum(i, 0.5)
    np.maximum(x, i)
    np.clip(u, 0, 3)
    np.round(x, 2)
    np.array_split(x, 3, axis=1)[0]
    np.array_split(x, 3, axis=1)[2]
    np.array_split(x, 5)[4]
    np.array_split(x, [2, 5, 20], 1)[2]
    np.array_split(x, [2, 5, 20], 1)[3]
    np.array_split([1, 2, 3], 2)[0]
    np.split(x, 4, axis=1)[1]
    np.split(x, [3, 5], axis=-1)[1]
    np.split(x, [-2], axis=1)[1]
    np.hsplit(x, 2)[0]
    np.hsplit(x[0], 2)[0]
    np.vsplit(x, 3)[0]
    np.dsplit(x[None], 2)[0]
    np.append(x, d, axis=0)
    np.append(x, 1.0)
    np.append(i, [1, 2])
    np.append([], i)
    np.delete(x, 1, axis=0)
    np.delete(i, -1)
    np.take_along_axis(x, i[:, :2], axis=1)
    np.take_along_axis(x, i[:1], 0)
    np.argpartition(x, 2)
    np.partition(u, 2, axis=0)
    np.digitize(x, d[0])
    np.searchsorted(d[0], x)
    np.count_nonzero(x, axis=1)
    np.isclose(x, d)
    np.isin(i, [1, 2])
    np.einsum("ij,kj->ik", x, d)
    np.einsum("ij->j", i)
    np.inner(x, x)
    np.kron(x, i)
    np.cross(x[:, :3], d[:, :3])
    np.cov(x)
    np.cov(x, rowvar=False)
    np.corrcoef(d)
    np.histogram(x, 5)[0]
    np.histogram(x, bins=5, density=True)[0]
    np.histogram(x)[1]
    np.atleast_2d(x[0])
    np.atleast_2d(x)
    np.take(x, [1, 2], axis=1)
    np.take(x, i[:, :2])
    np.take(x, 1, axis=0)
    np.triu_indices(4, 1)[0]
    np.tril_indices(4)[1]
    np.gradient(x[0])
    np.gradient(i, axis=1)
    np.gradient(d, 0.5, axis=0)
    np.gradient(x[0], d[0], edge_order=2)
    np.polyfit(d[0], d[0], 2)
    np.linalg.svd(x)[2]
    np.linalg.svd(x)[1]
    np.linalg.qr(x.T)[0]
    np.linalg.qr(d)[1]
    np.linalg.solve(np.eye(3), x)
    np.linalg.cholesky(np.eye(3))
    np.linalg.eigh(np.eye(3))[1]
    np.linalg.eigvalsh(np.eye(3))
    np.random.dirichlet([1, 2, 3], 5)
    np.random.dirichlet((1.0, 2.0))
    np.random.multinomial(4, [0.5, 0.5], size=(2, 3))
    np.asanyarray(x)
"""


MODULES = "numpy.fft", "numpy.linalg", "numpy.lib", "numpy.lib.stride_tricks", "numpy.random"


class Numpy:
    """`np` with the functions of the dry run."""

    def __init__(self, name: str = "numpy"):
        self.name = name

    def __getattr__(self, name: str):
        name = f"{self.name}.{name}"
        return Numpy(name) if name in MODULES else find(name)


@pytest.fixture
def machine(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("")
    made = Machine(Project(tmp_path).view(path), 10**6, {}, cuda=False)
    machines.append(made)
    with dry_tensors():
        yield made
    machines.pop()


def both(expression: str, kinds: dict[str, str]):
    """What an expression gives with data, and without."""
    real = {name: numpy.ones((3, 8), kind) for name, kind in kinds.items()}
    bare = {name: fresh((3, 8), getattr(torch, kind)) for name, kind in kinds.items()}
    made = eval(expression, {"np": Numpy(), **bare})
    with numpy.errstate(all="ignore"):
        try:
            return eval(expression, {"np": numpy, **real}), made
        except TypeError:  # not of this dtype
            return None, made


def agrees(there, made) -> bool:
    return (made.shape, made.dtype.name) == (there.shape, there.dtype.name)


@pytest.mark.parametrize("expression", [line.strip() for line in CALLS.strip().splitlines()])
def test_a_call_gives_what_numpy_gives(machine, expression):
    there, made = both(expression, {"x": "float32", "d": "float64", "i": "int64", "u": "uint8", "b": "bool"})
    assert isinstance(made, Array)
    assert agrees(there, made)


@pytest.mark.parametrize("name", OF_ONE)
def test_a_function_of_each_number_says_nothing_else_than_numpy(machine, name):
    said = 0
    for kind in KINDS:
        there, made = both(f"np.{name}(x, 0, 1)" if name == "clip" else f"np.{name}(x)", {"x": kind})
        if there is not None and isinstance(made, Array):
            said += 1
            assert agrees(there, made), kind
    assert said > 1


@pytest.mark.parametrize("name", OF_TWO)
def test_a_function_of_two_says_nothing_else_than_numpy(machine, name):
    pairs = "float32 float32", "float32 float64", "int64 float32", "int64 int64", "uint8 float32"
    for one, other in map(str.split, pairs):
        there, made = both(f"np.{name}(x, y)", {"x": one, "y": other})
        assert agrees(there, made), (one, other)


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("np.abs(-3)", 3),
        ("np.clip(5, 0, 3)", 3),
        ("np.round(2.345, 1)", 2.3),
        ("np.floor(2.5)", 2),
        ("np.sqrt(9)", 3.0),
    ],
)
def test_numbers_of_python_stay_known(machine, expression, wanted):
    assert eval(expression, {"np": Numpy()}) == wanted


@pytest.mark.parametrize("expression", ["np.fft.rfft(x)", "np.floor(i)", "np.loadtxt('a')", "np.angle(i)"])
def test_what_depends_on_the_version_or_on_a_file_is_not_said(machine, expression):
    made = eval(expression, {"np": Numpy(), "x": fresh((3, 8), torch.float32), "i": fresh((3,), torch.int64)})
    assert type(made) is Unknown


def test_a_spectrum_of_few_bits_has_one_of_two_dtypes(machine):
    machine.wild = True
    made = Numpy().fft.rfft(fresh((3, 8), torch.float32))
    known = wild.known_of(made)
    assert {one.tensor.dtype for one in known.values.values()} == {torch.complex64, torch.complex128}
    assert {one.shape for one in known.values.values()} == {(3, 5)}


READ = """
import numpy as np
from torch.nn import functional as F

table = np.{read}
x, y = torch.from_numpy(table[:, :4]), torch.from_numpy(np.floor(table[:, 4]))
net = nn.Linear(4, 3)
for rows in torch.randperm(len(x)).split(20):
    {loss}
"""


@pytest.mark.parametrize(
    ("read", "loss", "fails"),
    [
        ('loadtxt("a.csv", dtype=np.float32)', "F.cross_entropy(net(x[rows]), y[rows])", True),
        ('loadtxt("a.csv", dtype=np.float32)', "F.cross_entropy(net(x[rows]), y[rows].long())", False),
        ('loadtxt("a.csv", dtype="f4", ndmin=2)', "F.mse_loss(net(x[rows])[:, 0], y[rows])", False),
        ('loadtxt("a.csv")', "F.mse_loss(net(x[rows])[:, 0], y[rows])", True),
        ('loadtxt("a.csv")', "F.mse_loss(net(x[rows].float())[:, 0], y[rows].float())", False),
        ('genfromtxt("a.csv", delimiter=",", skip_header=1)', "net(x[rows])", True),
        ('genfromtxt("a.csv", dtype=None)', "net(x[rows])", False),
        ('genfromtxt("a.csv", names=True)', "net(x[rows])", False),
        ('loadtxt("a.csv", dtype=[("a", "f4"), ("b", "f4")])', "net(x[rows])", False),
        ('loadtxt("a.csv", dtype=settings)', "net(x[rows])", False),
    ],
)
def test_a_table_of_a_file_has_a_dtype_and_any_number_of_rows(tmp_path, read, loss, fails):
    assert bool(faults_of(tmp_path, READ.format(read=read, loss=loss))) is fails


PIECES = """
    np.split(x, 3, axis=1) | np.split(x, 4, axis=1)
    np.hsplit(x, 5) | np.hsplit(x, 8)
    np.vsplit(x[0], 2) | np.vsplit(x, 3)
    np.dsplit(x, 2) | np.dsplit(x[None], 2)
    np.array_split(x, 0) | np.array_split(x, 7)
"""


@pytest.mark.parametrize("line", [line.strip() for line in PIECES.strip().splitlines()])
def test_pieces_that_numpy_cannot_make_are_told_of(tmp_path, line):
    bad, good = line.split(" | ")
    with pytest.raises(ValueError) as refused:
        eval(bad, {"np": numpy, "x": numpy.ones((3, 8))})
    (fault,) = faults_of(tmp_path, f"import numpy as np\nx = np.ones((3, 8))\n{good}\n{bad}\n")
    assert line_of(tmp_path, fault) == bad
    assert str(refused.value) in fault.message


def test_pieces_of_data_of_unknown_size_are_no_errors(tmp_path):
    program = """
    import sys
    import numpy as np
    x = np.loadtxt(sys.argv[1], ndmin=2)
    train, test = np.split(x, 2)
    parts = np.array_split(x, 3)
    net = nn.Linear(3, 1)
    for part in np.split(x, 6):
        net(torch.from_numpy(part[:, :3]).float())
    y = np.split(np.ones((12, 8), "float32"), 4)
    net(torch.from_numpy(y[0]))
    """
    (fault,) = faults_of(tmp_path, program)
    assert line_of(tmp_path, fault) == "net(torch.from_numpy(y[0]))"
    assert "(3, 8)" in fault.message


COLUMNS = """
import json
import numpy as np

records = json.loads(open("load.json").read())
table = np.stack([records[name] for name in ("load", "hour", "day")], axis=AXIS)
mean, std = table[:100].mean(0), table[:100].std(0)
series = torch.as_tensor((table - mean) / std, dtype=torch.float32)
out, _ = nn.LSTM(WIDTH, 8)(series[:24])
"""


@pytest.mark.parametrize("axis, width, found", [(1, 3, False), (1, 4, False), (0, 3, False), (-1, 4, True)])
def test_unknown_columns_that_are_stacked_are_so_many(tmp_path, axis, width, found):
    """Each may be of numbers or of rows, so that only the last dimension is certainly the one of features."""
    program = COLUMNS.replace("AXIS", str(axis)).replace("WIDTH", str(width))
    assert bool(faults_of(tmp_path, program)) == found


@pytest.mark.parametrize(
    "rows, found",
    [
        ("[[float(a), float(b)] for a, b in pairs]", True),
        ("[[float(a), *rest] for a, *rest in pairs]", False),
        ("[[float(v) for v in pair] for pair in pairs]", False),
        ("[[float(a), [float(b), 1.0]] for a, b in pairs]", False),
    ],
)
def test_an_array_of_nested_numbers_has_their_shape(tmp_path, rows, found):
    program = f"import csv\nimport numpy as np\npairs = csv.reader(open('pairs'))\nx = np.array({rows}, np.float32)\n"
    program += "nn.Linear(3, 2)(torch.from_numpy(x))\n"
    assert bool(faults_of(tmp_path, program)) == found
