"""What kernels ask of plain sizes imports no algebra; whatever else they ask is answered by the real modules."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

pytest.importorskip("torch")

from torchlint.shapes.tensors import plain_sizes
from torchlint.shapes.tensors import plain_sizes as original

PROGRAM = """import torch
from torch import nn
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.LazyLinear(4))
x = torch.cat([torch.rand(2, 3, 8, 8), torch.zeros(2, 3, 8, 8)])
loss = nn.functional.cross_entropy(net(x).softmax(1) + torch.arange(4), torch.randint(4, (4,)))
optimizers = [make(net.parameters(), lr=0.1) for make in (torch.optim.SGD, torch.optim.AdamW)]
loss.mean().backward()
for optimizer in optimizers:
    optimizer.step()
nn.MultiheadAttention(8, 2)(*[torch.rand(5, 2, 8).transpose(0, 1)] * 3)
nn.Embedding(9, 3)(torch.stack([torch.arange(5), torch.ones(5).long()])) @ torch.eye(4)
"""
# Runs in a process of its own, because what is imported once is imported for good.
ANSWERS = f"""import sys
from torchlint.project import Project
from torchlint.shapes.search.check import dry_run
from torchlint.shapes.tensors import plain_sizes
found = dry_run({PROGRAM!r}, '/nowhere/a.py', Project('/nowhere').view('/nowhere/a.py')).faults
assert [f.span.line for f in found] == [11], found
assert not {{'sympy', 'torch.fx.experimental.symbolic_shapes', 'torch._dynamo'}} & set(sys.modules)

ASKED = [(True,), (False,), (0,), (1,), (7,), (True, True), (True, False), (False, True, True), (2, 2), (2, 3)]
ASKED += [((), ()), ((1, 2), [1, 2]), ([1, 2], [1, 3]), ((1,), (1, 1)), (1, (1,)), (True, 1), (2.0,), (None,)]
given = {{n: f for n, f in vars(plain_sizes._STAND_INS[plain_sizes._SYMBOLS]).items() if callable(f)}}
def said(function, arguments):
    try:
        answer = function(*arguments)
        return type(answer), answer
    except (AssertionError, AttributeError, TypeError) as error:
        return type(error)
from torch.fx.experimental import symbolic_shapes
compared = 0
for name, function in given.items():
    for arguments in ASKED if hasattr(symbolic_shapes, name) else ():
        assert said(function, arguments) == said(getattr(symbolic_shapes, name), arguments), (name, arguments)
        compared += 1
assert compared > 100
"""


def test_training_imports_neither_the_compiler_nor_algebra_and_sizes_are_told_as_torch_tells_them():
    """Each takes as long as a file of hundreds of lines, once for each worker."""
    done = subprocess.run([sys.executable, "-c", ANSWERS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def real(tmp_path, monkeypatch):
    """Two modules in the place of torch's and sympy's, which nobody has imported yet, and a copy of ours that does not
    know what other tests have asked of the real ones.
    """
    spec = importlib.util.spec_from_file_location(original.__name__, original.__file__)
    plain_sizes = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plain_sizes)
    monkeypatch.setattr(sys.modules[__name__], "plain_sizes", plain_sizes)
    (tmp_path / "real_symbols.py").write_text(
        "from real_algebra import Basic\ndef sym_eq(x, y):\n    return 'asked'\nclass ShapeEnv:\n    pass\n"
    )
    (tmp_path / "real_algebra.py").write_text("class Basic:\n    pass\nclass Symbol(Basic):\n    pass\n")
    stand_ins = {}
    for own, name in ((plain_sizes._SYMBOLS, "real_symbols"), (plain_sizes._SYMPY, "real_algebra")):
        stand_ins[name] = plain_sizes._StandIn(name)
        known = vars(plain_sizes._STAND_INS[own]).items()
        vars(stand_ins[name]).update({key: value for key, value in known if not key.startswith("__")})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(plain_sizes, "_SYMBOLS", "real_symbols")
    monkeypatch.setattr(plain_sizes, "_SYMPY", "real_algebra")
    monkeypatch.setattr(plain_sizes, "_STAND_INS", stand_ins)
    monkeypatch.setattr(plain_sizes, "_left", [9])
    yield lambda: {"real_symbols", "real_algebra"} & set(sys.modules)
    for name in stand_ins:
        sys.modules.pop(name, None)


def test_plain_questions_import_nothing_and_nothing_stays(real):
    def kernel(x, y):
        import real_algebra
        from real_symbols import is_nested_int, sym_eq

        return sym_eq(x, y), sym_eq([x], (y,)), is_nested_int(x), isinstance(x, (str, real_algebra.Basic))

    assert plain_sizes.run(kernel, 2, 2) == (True, True, False, False)
    assert plain_sizes.run(kernel, 2, 3) == (False, False, False, False)
    assert not real()


def test_nothing_stays_of_a_kernel_that_fails(real):
    def kernel():
        import real_algebra

        raise RuntimeError(isinstance(1, real_algebra.Basic))

    with pytest.raises(RuntimeError, match="False"):
        plain_sizes.run(kernel)
    assert not real()


def test_other_questions_are_answered_by_the_real_one(real):
    def kernel():
        from real_symbols import sym_eq

        return sym_eq(2.0, 2)

    assert plain_sizes.run(kernel) == "asked"
    assert real() == {"real_symbols", "real_algebra"}


def test_other_names_are_those_of_the_real_one(real):
    def kernel():
        from real_symbols import ShapeEnv

        return ShapeEnv

    shape_env = plain_sizes.run(kernel)
    assert shape_env is sys.modules["real_symbols"].ShapeEnv
    assert plain_sizes.run(kernel) is shape_env


def test_who_keeps_the_stand_in_has_the_real_classes(real):
    kept = []

    def kernel():
        import real_algebra

        kept.append(real_algebra)
        return real_algebra.Symbol(), type("Mine", (real_algebra.Basic,), {})()

    symbol, mine = plain_sizes.run(kernel)
    assert isinstance(symbol, kept[0].Basic) and isinstance(mine, sys.modules["real_algebra"].Basic)
    assert not isinstance(1, kept[0].Basic)


def test_a_class_may_derive_from_the_first_thing_that_is_asked(real):
    def kernel():
        import real_algebra

        class Mine(real_algebra.Basic):
            pass

        return Mine()

    assert isinstance(plain_sizes.run(kernel), sys.modules["real_algebra"].Basic)


def test_what_relies_on_an_import_of_the_real_one_gets_it(real):
    """A kernel may use what another import has brought along: it is asked again."""
    tried = []

    def kernel():
        tried.append(real())
        if "Symbol" not in vars(sys.modules["real_algebra"]):
            raise AttributeError("module has no such attribute")
        return "done"

    assert plain_sizes.run(kernel) == "done"
    assert len(tried) == 2
    with pytest.raises(AttributeError, match="its own"):  # with the real ones it is an error like any other
        plain_sizes.run(lambda: (_ for _ in ()).throw(AttributeError("its own")))


def test_what_looks_through_all_modules_imports_nothing(real):
    def kernel():
        return [getattr(module, "__file__", None) for module in list(sys.modules.values())]

    assert plain_sizes.run(kernel)
    assert not real()


def test_after_many_kernels_the_real_ones_are_asked(real, monkeypatch):
    def kernel():
        from real_symbols import sym_eq

        return sym_eq(1, 1)

    monkeypatch.setattr(plain_sizes, "_left", [2])
    assert [plain_sizes.run(kernel) for _ in range(4)] == [True, True, "asked", "asked"]
    assert real()
