"""`torch.func` in programs, beside torch itself: the shapes of gradients and of mapped functions, and what is refused."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from dry import USE, failing_lines, faults_of, line_of

USE += """\
from torch.func import *
F = nn.functional
x, w, v, n = torch.ones(3, 4), torch.ones(4, requires_grad=True), torch.ones(4), torch.arange(3)
"""
RIGHT = """
    grad(lambda a: (a * 2).sum())(x)
    grad(lambda a, b: (a @ b).sum(), argnums=1)(x, v)
    grad(lambda a, b: (a @ b).sum(), argnums=(0, 1))(x, v)[1]
    grad(lambda d: (d["a"] @ d["b"]).sum())({"a": x, "b": v})["b"]
    grad(lambda a: ((a ** 2).sum(), a[0]), has_aux=True)(x)[1]
    grad(grad(lambda a: a ** 3))(torch.tensor(2.0))
    grad(lambda a: F.relu(a).mean())(x[0])
    grad_and_value(lambda a: (a @ w).sum())(x)[0]
    grad_and_value(lambda a: (a @ w).sum())(x)[1]
    grad_and_value(lambda a: ((a @ w).sum(), a[:2]), has_aux=True)(x)[1][1]
    vmap(lambda a: a * 2)(x)
    vmap(lambda a: a.sum())(x)
    vmap(lambda a: a.sum(), in_dims=1)(x)
    vmap(lambda a, b: a @ b, in_dims=(0, None))(x, v)
    vmap(lambda a, b: a @ b, in_dims=(None, 1))(x, torch.ones(4, 6))
    vmap(lambda a, b: a + b, in_dims=(0, None))(x, 3.0)
    vmap(lambda a: a, out_dims=1)(x)
    vmap(lambda a: a, out_dims=-1)(x)
    vmap(lambda a: (a, a[:2]), out_dims=(0, 1))(x)[1]
    vmap(lambda a: {"y": a.mean()})(x)["y"]
    vmap(lambda d: d["a"] + d["b"], in_dims=({"a": 0, "b": None},))({"a": x, "b": v})
    vmap(lambda a: torch.ones(2))(x)
    vmap(vmap(lambda a, b: a * b))(x, x)
    vmap(vmap(lambda a, b: a @ b, in_dims=(None, 0)), in_dims=(0, None))(x, torch.ones(7, 4))
    vmap(lambda a: F.dropout(a), randomness="different")(x)
    vmap(lambda a: F.dropout(a, 0.5, False))(x)
    vmap(lambda a: a, chunk_size=2)(x)
    vmap(grad(lambda b, a: (a @ b).sum()), in_dims=(None, 0))(v, x)
    vmap(nn.Linear(4, 5))(x)
    vmap(nn.Conv2d(3, 8, 3))(torch.ones(2, 6, 3, 9, 9))
    vmap(lambda a, i: a.gather(0, i))(x, torch.zeros(3, 2, dtype=torch.long))
    torch.vmap(torch.dot)(x, x)
    vmap(lambda a: torch.distributions.Normal(a, 1.0).log_prob(a))(x)
    vmap(lambda i, a: F.cross_entropy(a[None], i[None]))(n, x)
    vmap(lambda i: F.one_hot(i, 10))(n)
    vmap(lambda a: a * x.sum().item())(x)
    vmap(lambda a: a if x.sum() > 0 else -a)(x)
    vmap(lambda a: a.masked_fill(a > 0, 0.0))(x)
    vmap(lambda a: a[: a.shape[0] // 2])(x)
    vmap(nn.TransformerEncoderLayer(4, 2, 8).eval())(torch.ones(3, 5, 4))
    jacrev(lambda a: a * 2)(v)
    jacrev(lambda a: a.sum())(x)
    jacrev(lambda a, b: a @ b, argnums=1)(x, v)
    jacrev(lambda a, b: a @ b, argnums=(0, 1))(x, v)[0]
    jacrev(lambda a: (a, a[:2]))(v)[1]
    jacrev(lambda a: (a * 2, a[:1]), has_aux=True)(v)[1]
    jacfwd(lambda a: a[:2].outer(a))(v)
    jacfwd(jacrev(lambda a: (a ** 3).sum()))(v)
    hessian(lambda a: (a ** 3).sum())(x)
    hessian(lambda a: a ** 3)(v)
    vmap(jacrev(lambda a: a ** 2))(x)
    vmap(hessian(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))))(x)
    vjp(lambda a: a @ v, x)[0]
    vjp(lambda a: a @ v, x)[1](torch.ones(3))[0]
    jvp(lambda a: a @ v, (x,), (x,))[1]
"""
REFUSED = """
    grad(lambda a: a * 2)(x)
    grad(lambda a: (a * 2).sum().item())(x)
    grad(lambda a: a.sum())(n)
    grad(lambda a: a)(3.0)
    grad(lambda a, b: a.sum(), argnums=2)(x, x)
    grad(lambda a: a.sum(), has_aux=True)(x)
    grad(lambda a: (a @ torch.ones(5)).sum())(x)
    grad_and_value(lambda a: a)(v)
    vmap(lambda a, b: a @ b)(x, torch.ones(5, 4))
    vmap(lambda a, b: a @ b, in_dims=(0, 1))(x, torch.ones(4, 5))
    vmap(lambda a: a.sum().item())(x)
    vmap(lambda a: float(a.sum()))(x)
    vmap(lambda a: int(a.argmax()))(x)
    vmap(lambda a: a if a.sum() > 0 else -a)(x)
    vmap(lambda a: 3.0)(x)
    vmap(lambda a: a + torch.randn(4))(x)
    vmap(lambda a: F.dropout(a))(x)
    vmap(nn.Sequential(nn.Linear(4, 4), nn.Dropout()))(x)
    vmap(lambda a: a, in_dims=2)(x)
    vmap(lambda a: a, in_dims=(0, 0))(x)
    vmap(lambda a, b: a + b)(x, 3.0)
    vmap(lambda a: a[a > 0])(x)
    vmap(lambda a: torch.nonzero(a))(x)
    vmap(vmap(lambda a: a.sum().item()))(x)
    vmap(lambda a: vmap(lambda b: b * a.sum().item())(x))(x)
    jacrev(lambda a: a @ torch.ones(3))(x)
    hessian(lambda a: (a @ torch.ones(3)).sum())(x)
    jacrev(lambda a: a * 2, argnums=1)(v)
    stack_module_state([nn.Linear(3, 4), nn.ReLU()])
    stack_module_state([nn.Linear(3, 4), nn.Linear(3, 4).eval()])
"""


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def run(expression: str):
    names: dict = {}
    exec(USE, names)
    return eval(expression, names)


@pytest.mark.parametrize("expression", lines(RIGHT))
def test_a_transform_gives_what_torch_gives(tmp_path, expression):
    there = run(expression)
    asks = f"nn.Parameter(r) if {there.requires_grad} else r"
    program = f"r = {expression}\nr.reshape({there.numel()})\nr.detach().to(torch.{str(there.dtype)[6:]}) + {asks}\n"
    check = "r.sum().backward()\n" if there.requires_grad else "r.numpy()\n"
    (fault,) = faults_of(tmp_path, f"{program}{check}r.reshape(1009)\n", USE)
    assert line_of(tmp_path, fault) == "r.reshape(1009)"
    assert f"{tuple(there.shape)} has {there.numel()}" in fault.message


@pytest.mark.parametrize("expression", lines(REFUSED))
def test_what_torch_refuses_is_found_in_its_words(tmp_path, expression):
    with pytest.raises((RuntimeError, ValueError)) as refused:
        run(expression)
    (fault,) = faults_of(tmp_path, f"r = {expression}\n", USE)
    assert line_of(tmp_path, fault) == f"r = {expression}"
    said = str(refused.value).split("\n")[0]
    assert (said.partition(": ")[2] or said)[:70] in fault.message + fault.help


@pytest.mark.parametrize("function", ["lambda a: a @ torch.ones(3)", "nn.Linear(3, 5)"])
def test_what_does_not_fit_a_sample_is_found(tmp_path, function):
    program = f"r = vmap({function}, in_dims=1)(x)\nr = vmap({function})(x)\n"
    (fault,) = faults_of(tmp_path, program, USE)
    assert line_of(tmp_path, fault) == f"r = vmap({function})(x)"


def test_an_error_inside_a_mapped_function_is_found_at_its_line(tmp_path):
    program = """
    def loss(weights, sample, target):
        guess = sample @ weights
        if guess.mean() > 3:
            guess = guess * 2
        return ((guess - target) ** 2).mean()

    def right(weights, sample, target):
        return ((sample @ weights - target) ** 2).mean()

    each = vmap(grad(right), in_dims=(None, 0, 0))(torch.ones(4, 2), torch.ones(8, 4), torch.ones(8, 2))
    nn.Linear(2, 1)(each)
    vmap(grad(loss), in_dims=(None, 0, 0))(torch.ones(4, 2), torch.ones(8, 4), torch.ones(8, 2))
    """
    assert failing_lines(tmp_path, USE + program.replace("\n    ", "\n")) == ["if guess.mean() > 3:"]


def test_several_models_run_as_one(tmp_path):
    program = """
    import copy

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(4, 8)
            self.last = nn.Linear(8, 2)

        def forward(self, x):
            return self.last(torch.relu(self.first(x)))

    models = [Net() for _ in range(5)]
    params, buffers = stack_module_state(models)
    base = copy.deepcopy(models[0]).to("meta")

    def run(params, buffers, x):
        return functional_call(base, (params, buffers), (x,))

    y = vmap(run, in_dims=(0, 0, None))(params, buffers, torch.ones(7, 4))
    y + torch.ones(5, 7, 2)
    each = vmap(run)(params, buffers, torch.ones(5, 7, 4))
    optimizer = torch.optim.SGD(list(params.values()), lr=0.1)
    y.sum().backward()
    optimizer.step()
    y + torch.ones(5, 8, 2)
    vmap(run)(params, buffers, torch.ones(6, 7, 4))
    """
    found = failing_lines(tmp_path, USE + program.replace("\n    ", "\n"))
    assert found == ["y + torch.ones(5, 8, 2)", "vmap(run)(params, buffers, torch.ones(6, 7, 4))"]


def test_what_nobody_knows_is_mapped_without_a_finding(tmp_path):
    program = """
    import sys
    rows = torch.load(sys.argv[1])
    y = vmap(lambda a: a.sum())(rows)
    z = vmap(lambda a, b: a * b)(rows, x)
    g = grad(lambda a: (a @ x).sum())(rows)
    g, value = grad_and_value(lambda a: rows(a))(x)
    h = vmap(rows)(x)
    seen = []
    vmap(lambda a: seen.append(a) or a)(x)
    if seen[0].sum() > 0:
        print(seen[0].sum().item())
    x.view(7)
    """
    assert failing_lines(tmp_path, USE + program.replace("\n    ", "\n")) == ["x.view(7)"]
