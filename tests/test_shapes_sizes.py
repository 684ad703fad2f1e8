"""Unknown sizes are solved, and what fails for every size is told from what fails for a guess."""

import pytest

torch = pytest.importorskip("torch")
from torch import nn
from torch.nn import functional as F

from torchlint.finding import Span
from torchlint.shapes.core.values import UnknownUse, on_use
from torchlint.shapes.record.graph import Recorder
from torchlint.shapes.search import verdict
from torchlint.shapes.search.attempts import OpenParameter, RunResult, TensorGuess
from torchlint.shapes.search.constructors import solve_constructor
from torchlint.shapes.search.harvest import starts
from torchlint.shapes.search.sizes import solve_forward
from torchlint.shapes.search.verdict import same_fault
from torchlint.shapes.tensors.conflicts import pair_of
from torchlint.shapes.tensors.dispatch import dry_tensors

DTYPES = {"float": torch.float32, "double": torch.float64, "long": torch.int64, "bool": torch.bool}


@pytest.fixture(autouse=True)
def dry():
    with dry_tensors():
        yield


def tensor(guess):
    return torch.empty(guess.shape, dtype=DTYPES[guess.dtype]) if isinstance(guess, TensorGuess) else guess


def runner(net, uses=(), log=None):
    """Runs a plain module as the interpreter would: every recorded operation is a step, its number is its line."""

    def run(assumption):
        if log is not None:
            log.append(assumption)
        if not assumption:
            for use in uses:
                on_use[-1](use)
            return RunResult(0)
        with Recorder(lambda: None).watch(net, {}) as recording:
            try:
                net(**{name: tensor(guess) for name, guess in assumption.items()})
            except Exception as error:
                line = len(recording.entries)
                refused = bool(recording.entries and recording.entries[-1].error)
                stopped = "torch" if refused else "own" if isinstance(error, AssertionError) else "python"
                last = recording.entries[-1] if refused else None
                return RunResult(
                    line,
                    stopped,
                    ("net.py", Span(line, 1, line, 2)),
                    f"{type(error).__name__}: {error}",
                    *((last.function, last.args, last.kwargs) if last else ()),
                )
        return RunResult(len(recording.entries))

    return run


def solve(net, *names, uses=(), hints=None):
    if hints is None:
        hints = {}
    return solve_forward(runner(net, uses), [OpenParameter(n) for n in names], hints)


class Function(nn.Module):
    """A module of some layers and a forward."""

    def __init__(self, function, **layers):
        super().__init__()
        for name, layer in layers.items():
            setattr(self, name, layer)
        self.function = function

    def forward(self, **inputs):
        return self.function(self, **inputs)


def lenet(self, x):
    x = F.max_pool2d(F.relu(self.c1(x)), 2)
    x = F.max_pool2d(F.relu(self.c2(x)), 2)
    return self.f2(F.relu(self.f1(x.view(x.size(0), -1))))


def lenet_layers(features=400, hidden=120):
    return {
        "c1": nn.Conv2d(1, 6, 5),
        "c2": nn.Conv2d(6, 16, 5),
        "f1": nn.Linear(features, 120),
        "f2": nn.Linear(hidden, 10),
    }


def transformer(self, x):
    b, n, d = x.shape
    q, k, v = (t.reshape(b, n, 8, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
    return self.out(((q @ k.transpose(-1, -2)).softmax(-1) @ v).transpose(1, 2).reshape(b, n, -1))


def vit(self, x):
    x = self.patch(x).flatten(2).transpose(1, 2)
    return torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.position


def square(self, x):
    assert x.shape[-1] == x.shape[-2], "not a square"
    return self.fc(self.conv(x).flatten(1))


def skip(self, x):
    up = F.interpolate(self.down(x), scale_factor=2)
    return self.last(torch.cat([x, up], 1))


# What runs

with dry_tensors():
    FITTING = {
        "linear": (Function(lambda self, x: self.fc(x), fc=nn.Linear(37, 2)), ["x"]),
        "flatten of one size": (Function(lenet, **lenet_layers()), ["x"]),
        "flatten without convolutions": (
            Function(lambda self, x: self.fc(x.view(-1, 784)), fc=nn.Linear(784, 2)),
            ["x"],
        ),
        "attention": (Function(transformer, qkv=nn.Linear(96, 288), out=nn.Linear(96, 96)), ["x"]),
        "patches": (
            Function(
                vit,
                patch=nn.Conv2d(3, 48, 16, 16),
                token=nn.Parameter(torch.zeros(1, 1, 48)),
                position=nn.Parameter(torch.zeros(1, 197, 48)),
            ),
            ["x"],
        ),
        "an assertion": (Function(square, conv=nn.Conv2d(3, 2, 3), fc=nn.Linear(2 * 30 * 30, 2)), ["x"]),
        "words": (
            Function(lambda self, words: self.fc(self.emb(words)[:, -1]), emb=nn.Embedding(50, 8), fc=nn.Linear(8, 2)),
            ["words"],
        ),
        "volume": (Function(lambda self, x: self.conv(x), conv=nn.Conv3d(4, 2, 3)), ["x"]),
        "two inputs": (Function(lambda self, x, y: self.fc(torch.cat([x, y], 1)), fc=nn.Linear(70, 2)), ["x", "y"]),
        "a float where a long was guessed": (
            Function(lambda self, words: self.fc(words), fc=nn.Linear(5, 2)),
            ["words"],
        ),
        "skip connection": (Function(skip, down=nn.Conv2d(3, 5, 3, 2, 1), last=nn.Conv2d(8, 2, 1)), ["x"]),
        "groups": (Function(lambda self, x: self.norm(x), norm=nn.GroupNorm(8, 56)), ["x"]),
        "recurrent": (Function(lambda self, x: self.fc(self.rnn(x)[0]), rnn=nn.LSTM(11, 6), fc=nn.Linear(6, 2)), ["x"]),
    }


@pytest.mark.parametrize("name", FITTING)
def test_sizes_are_solved(name):
    net, inputs = FITTING[name]
    solution = solve(net, *inputs)
    assert solution.last.stopped is None, solution
    assert not solution.certain and solution.runs <= 80 + verdict.RUNS
    net(**{n: tensor(g) for n, g in solution.assumed.items()})


def test_what_takes_an_input_is_tried_first():
    solution = solve(
        Function(lambda self, x: self.fc(x), fc=nn.Linear(37, 2)),
        "x",
        uses=[UnknownUse("x", "layer", nn.Linear(37, 2))],
    )
    assert solution.assumed == {"x": TensorGuess((2, 37))} and solution.runs == 2


# What fails for every size

with dry_tensors():
    FAILING = {
        "linear after linear": (Function(lambda self, x: self.b(self.a(x)), a=nn.Linear(10, 20), b=nn.Linear(30, 10)), (30, 20)),
        "after a flatten that fits": (Function(lenet, **lenet_layers(hidden=121)), (121, 120)),
        "channels": (Function(lambda self, x: self.b(self.a(x)), a=nn.Conv2d(3, 16, 3), b=nn.Conv2d(32, 8, 3)), (32, 16)),
        "norm": (Function(lambda self, x: self.b(self.a(x)), a=nn.Conv2d(3, 16, 3), b=nn.BatchNorm2d(8)), (8, 16)),
        "residual": (Function(lambda self, x: self.b(self.a(x)) + self.a(x), a=nn.Conv2d(3, 16, 1), b=nn.Conv2d(16, 8, 1)), (16, 8)),
        "pooled": (Function(lambda self, x: self.b(F.adaptive_avg_pool2d(self.a(x), 2).flatten(1)), a=nn.Conv2d(3, 16, 3), b=nn.Linear(16, 2)), (16, 64)),
        "recurrent": (Function(lambda self, x: self.b(self.a(x)[0]), a=nn.LSTM(10, 16, bidirectional=True), b=nn.Linear(16, 2)), (16, 32)),
        "two sizes at once": (Function(lambda self, x: self.a(x.flatten(1)) + self.b(x.flatten(1)), a=nn.Linear(784, 2), b=nn.Linear(785, 2)), (785, 784)),
    }  # fmt: skip


@pytest.mark.parametrize("name", FAILING)
def test_what_fails_for_every_size_is_certain(name):
    net, pair = FAILING[name]
    solution = solve(net, "x")
    assert solution.certain and pair_of(solution.last) == pair and solution.runs <= 80 + verdict.RUNS


with dry_tensors():
    NOT_CERTAIN = {
        "a root": Function(
            lambda self, x: self.norm(x.reshape(x.shape[0], -1, int(x.shape[1] ** 0.5), int(x.shape[1] ** 0.5))),
            norm=nn.LayerNorm(96),
        ),
        "its own error": Function(lambda self, x: _refuse()),
        "a number of dimensions": Function(
            lambda self, h, x: self.conv(torch.cat([h, x], 1)), conv=nn.Conv2d(24, 2, 3)
        ),
    }


def _refuse():
    raise AssertionError("never")


@pytest.mark.parametrize("name", NOT_CERTAIN)
def test_what_may_be_the_guess_is_not_certain(name):
    net = NOT_CERTAIN[name]
    names = ["h", "x"] if "dimensions" in name else ["x"]
    assert not solve(net, *names).certain


def test_configured_inputs_are_checked_as_they_stand():
    net = Function(lenet, **lenet_layers())
    solution = solve(net, "x", hints={"x": [TensorGuess((4, 1, 28, 28))]})
    assert solution.last.stopped is None or solution.certain
    exact = solve(Function(lambda self, x: self.fc(x), fc=nn.Linear(10, 2)), "x", hints={"x": [TensorGuess((4, 10))]})
    assert exact.assumed == {"x": TensorGuess((4, 10))} and exact.last.stopped is None


def test_the_search_is_deterministic():
    logs = []
    for _ in range(2):
        log = []
        solve_forward(runner(Function(lenet, **lenet_layers(hidden=121)), log=log), [OpenParameter("x")])
        logs.append(log)
    assert logs[0] == logs[1]


# First guesses


@pytest.mark.parametrize(
    "parameter, uses, wanted",
    [
        (OpenParameter("x", "Float[Tensor, 'b 3 224 224']"), [], TensorGuess((2, 3, 224, 224))),
        (OpenParameter("x", "Int[Tensor, 'b 7']"), [], TensorGuess((2, 7), "long")),
        (OpenParameter("x", "(B, T, 80)"), [], TensorGuess((2, 12, 80))),
        (OpenParameter("n", "int"), [], 2),
        (OpenParameter("input_ids"), [], TensorGuess((2, 12), "long")),
        (OpenParameter("x"), [UnknownUse("x.shape", "unpack", 3)], TensorGuess((2, 12, 32))),
        (
            OpenParameter("x"),
            [UnknownUse("x", "layer", nn.Sequential(nn.ReLU(), nn.Conv1d(7, 2, 3)))],
            TensorGuess((2, 7, 64)),
        ),
        (
            OpenParameter("x"),
            [UnknownUse("x.shape", "unpack", 3), UnknownUse("x", "layer", nn.Linear(9, 2))],
            TensorGuess((2, 12, 9)),
        ),
        (
            OpenParameter("x"),
            [UnknownUse("x", "call", (F.conv2d, (None, torch.empty(8, 5, 3, 3)), {}))],
            TensorGuess((2, 5, 64, 64)),
        ),
        (
            OpenParameter("batch"),
            [UnknownUse("batch", "index", "image"), UnknownUse("batch['image']", "layer", nn.Conv2d(3, 2, 3))],
            {"image": TensorGuess((2, 3, 64, 64))},
        ),
    ],
)
def test_first_guesses(parameter, uses, wanted):
    assumptions, _ = starts([parameter], uses, {})
    assert assumptions[0] == {parameter.name: wanted}


# Constructors


def constructor(make):
    def run(assumption):
        if not assumption:
            return RunResult(0)
        try:
            make(**assumption)
        except AssertionError as error:
            return RunResult(1, "own", None, f"AssertionError: {error}")
        except Exception as error:
            return RunResult(1, "python", None, f"{type(error).__name__}: {error}")
        return RunResult(2)

    return run


def heads(dim, num_heads):
    assert dim % num_heads == 0, "dim must be divisible by num_heads"


@pytest.mark.parametrize(
    "make, names",
    [
        (lambda dim, depth, heads, mlp_dim: [nn.Linear(dim, mlp_dim) for _ in range(depth)], ["dim", "depth", "heads", "mlp_dim"]),
        (lambda in_channels, out_channels, kernel_size: nn.Conv2d(in_channels, out_channels, kernel_size), ["in_channels", "out_channels", "kernel_size"]),
        (lambda sizes: [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])], ["sizes"]),
        (lambda window: window[0] * window[1], ["window"]),
        (lambda scale: [0] * scale, ["scale"]),
        (heads, ["dim", "num_heads"]),
        (lambda norm_layer, dim: norm_layer(dim), ["norm_layer", "dim"]),
        (lambda dropout: nn.Dropout(dropout), ["dropout"]),
        (lambda act: getattr(F, act), ["act"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("second", [False, True])
def test_constructor_arguments_are_guessed(make, names, second):
    solution = solve_constructor(constructor(make), [OpenParameter(n) for n in names], second=second)
    assert solution.last.stopped is None, solution


def test_the_second_set_differs_by_a_factor_of_its_own():
    names = [OpenParameter(n) for n in ("in_channels", "planes", "dim", "hidden_dim", "embed_dim")]
    run = constructor(lambda **values: None)
    first, second = (solve_constructor(run, names, second=s).assumed for s in (False, True))
    factors = [second[p.name] / first[p.name] for p in names]
    assert len(set(factors)) == len(factors) and 1 not in factors


def both(build):
    """The forward of a class under both sets of guessed arguments."""
    return [
        solve_forward(runner(build(**sizes)), [OpenParameter("x")])
        for sizes in ({"dim": 64, "planes": 32}, {"dim": 96, "planes": 80})
    ]


def test_a_fault_of_the_class_is_told_from_one_of_its_guessed_arguments():
    bug = both(
        lambda dim, planes: Function(
            lambda self, x: self.b(self.a(x)), a=nn.Linear(dim, dim * 2), b=nn.Linear(dim * 4, dim)
        )
    )
    assert same_fault(*bug)
    relation = both(
        lambda dim, planes: Function(
            lambda self, x: self.b(self.a(x)), a=nn.Linear(dim, planes * 4), b=nn.Linear(dim, 2)
        )
    )
    assert all(s.certain for s in relation) and not same_fault(*relation)
    constant = both(
        lambda dim, planes: Function(lambda self, x: self.b(self.a(x)), a=nn.Linear(dim, 20), b=nn.Linear(30, planes))
    )
    assert same_fault(*constant)
    one_value = both(
        lambda dim, planes: Function(lambda self, x: self.b(self.a(x)), a=nn.Linear(10, dim), b=nn.Linear(100, 2))
    )
    assert not same_fault(*one_value)


def test_a_size_that_is_a_tensor_is_no_number_to_go_by():
    layer = nn.Linear(8, 2)
    layer.in_features = torch.tensor(9)
    failing = RunResult(1, "torch", None, "shapes cannot be multiplied", layer, (torch.zeros(1, 8),), {})
    assert pair_of(failing) is None
    layer.in_features = 9
    assert pair_of(failing) == (9, 8)
