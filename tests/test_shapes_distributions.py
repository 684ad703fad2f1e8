"""`torch.distributions` in programs: what each distribution gives without data, and which divergences torch has."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import torch.distributions as D
from dry import USE, faults_of, line_of

from torchlint.shapes.core.values import UnknownUsed
from torchlint.shapes.tensors.dispatch import dry_tensors

USE += """\
from torch.distributions import *
from torch.distributions import kl_divergence, register_kl, constraints, transforms
"""
p, one = "torch.full((3, 4), 0.5)", "torch.ones(3, 4)"
MADE = {
    name: f"{name}({given})"
    for name, given in {
        **dict.fromkeys("Bernoulli Categorical Geometric OneHotCategorical ContinuousBernoulli".split(), p),
        **dict.fromkeys("Chi2 Dirichlet Exponential HalfCauchy HalfNormal Poisson StudentT".split(), one),
        **dict.fromkeys(
            "Beta Cauchy FisherSnedecor Gamma Gumbel InverseGamma Kumaraswamy Laplace LogNormal Normal Pareto VonMises"
            " Weibull LogisticNormal".split(),
            f"{one}, {one}",
        ),
        **dict.fromkeys(("Binomial", "Multinomial"), f"5, {p}"),
        "NegativeBinomial": f"{one}, {p}",
        "Uniform": f"torch.zeros(3, 4), {one}",
        "MultivariateNormal": f"{one}, torch.eye(4)",
        "LowRankMultivariateNormal": f"{one}, torch.ones(3, 4, 2), {one}",
        "Independent": f"Normal({one}, {one}), 1",
        "MixtureSameFamily": f"Categorical({p}), Normal({one}, {one})",
        "TransformedDistribution": f"Normal({one}, {one}), [transforms.TanhTransform(cache_size=1)]",
        "LKJCholesky": "3, torch.ones(2)",
        "RelaxedBernoulli": f"torch.tensor(1.0), {p}",
        "RelaxedOneHotCategorical": f"torch.tensor(1.0), {p}",
        "Wishart": "torch.tensor([5.0]), torch.eye(4).expand(1, 4, 4)",
    }.items()
}
ASKED = (
    "d.sample()",
    "d.sample((5,))",
    "d.rsample((2,))",
    "d.log_prob(d.sample())",
    "d.entropy()",
    "d.mean",
    "d.variance",
    "d.expand((6, *d.batch_shape)).batch_shape",
    "d.event_shape",
)


def shown(expression: str, names: dict) -> object:
    try:
        value = eval(expression, dict(names))
    except UnknownUsed:
        return None
    except NotImplementedError:
        return "not implemented"
    return (tuple(value.shape), value.dtype) if isinstance(value, torch.Tensor) else tuple(value)


@pytest.mark.parametrize("name", MADE)
def test_a_distribution_gives_what_it_gives_with_data(tmp_path, name):
    names = {"torch": torch, **vars(D)}
    there = {text: shown(text, {**names, "d": eval(MADE[name], dict(names))}) for text in ASKED}
    with dry_tensors():
        made = eval(MADE[name], dict(names))
        here = {text: shown(text, {**names, "d": made}) for text in ASKED}
    for text in ASKED:
        assert here[text] in (there[text], None), text
    sample = there["d.sample((5,))"][0]
    program = f"d = {MADE[name]}\nx = d.sample((5,)).float()\nnn.Linear({sample[-1]}, 2)(x)\nnn.Linear(77, 2)(x)\n"
    (fault,) = faults_of(tmp_path, program, USE)
    assert line_of(tmp_path, fault) == "nn.Linear(77, 2)(x)"


def test_samples_of_beta_and_gamma_are_trained_through(tmp_path):
    program = """
    net = nn.Linear(3, 4)
    for made in (Dirichlet, lambda a: Beta(a, a), lambda a: Gamma(a, a)):
        drawn = made(net(torch.randn(2, 3)).exp()).rsample()
        drawn.sum().backward()
        nn.Linear(5, 1)(drawn)
    """
    (fault,) = faults_of(tmp_path, program, USE)
    assert line_of(tmp_path, fault) == "nn.Linear(5, 1)(drawn)"


PAIRS = """
    Normal(a, a) | Normal(a, a)
    Independent(Normal(a, a), 1) | Independent(Normal(a, a), 1)
    MultivariateNormal(a, torch.eye(4)) | MultivariateNormal(a, torch.eye(4))
    Categorical(logits=a) | Categorical(logits=a)
    Dirichlet(a) | Dirichlet(a)
    Beta(a, a) | Beta(a, a)
    Gamma(a, a) | Gamma(a, a)
    Bernoulli(logits=a) | Bernoulli(logits=a)
    Normal(a, a) | Laplace(a, a)
    Normal(a, a) | Cauchy(a, a)
    Beta(a, a) | Gamma(a, a)
    Categorical(logits=a) | Normal(a, a)
    Independent(Normal(a, a), 1) | Normal(a, a)
    Dirichlet(a) | Categorical(a)
"""


@pytest.mark.parametrize("pair", [line.strip() for line in PAIRS.strip().splitlines()])
def test_a_divergence_is_there_or_torch_says_that_it_is_not(tmp_path, pair):
    one, other = pair.split(" | ")
    names = {"torch": torch, **vars(D), "a": torch.ones(3, 4)}
    try:
        there = D.kl_divergence(eval(one, dict(names)), eval(other, dict(names)))
    except NotImplementedError as error:
        (fault,) = faults_of(tmp_path, f"a = torch.ones(3, 4)\nd = kl_divergence({one}, {other})\n", USE)
        assert line_of(tmp_path, fault).startswith("d = ")
        assert str(error) in fault.message + fault.help
    else:
        program = (
            f"a = torch.ones(3, 4)\nd = kl_divergence({one}, {other})\nd + torch.ones{tuple(there.shape)}\nd.view(11)"
        )
        (fault,) = faults_of(tmp_path, program, USE)
        assert line_of(tmp_path, fault) == "d.view(11)"


def test_distributions_whose_sizes_do_not_fit_have_no_divergence(tmp_path):
    program = """
    p, q = Normal(torch.zeros(3, 4), 1.0), Normal(torch.zeros(5), 1.0)
    kl_divergence(p, Normal(torch.zeros(4), torch.ones(4)))
    kl_divergence(p, q)
    """
    (fault,) = faults_of(tmp_path, program, USE)
    assert line_of(tmp_path, fault) == "kl_divergence(p, q)"
    assert "The size of tensor a (4) must match the size of tensor b (5)" in fault.message + fault.help


def test_a_divergence_of_the_program_s_own_is_called(tmp_path):
    program = """
    @register_kl(Normal, Cauchy)
    def divergence(p, q):
        return (p.loc - q.loc).abs()

    d = kl_divergence(Normal(torch.zeros(4), 1.0), Cauchy(torch.zeros(4), 1.0))
    d + torch.ones(4)
    kl_divergence(Independent(Normal(torch.zeros(4), 1.0), 1), Independent(Cauchy(torch.zeros(4), 1.0), 1))
    d + torch.ones(5)
    """
    (fault,) = faults_of(tmp_path, program, USE)
    assert line_of(tmp_path, fault) == "d + torch.ones(5)"
    (fault,) = faults_of(tmp_path, "kl_divergence(Normal(0.0, 1.0), Cauchy(0.0, 1.0))", USE)
    assert "No KL(p || q) is implemented for p type Normal and q type Cauchy" in fault.message


def test_distributions_and_transforms_of_the_program_s_own(tmp_path):
    program = """
    class Squashed(transforms.Transform):
        domain = constraints.real
        codomain = constraints.interval(-1.0, 1.0)
        bijective = True
        sign = +1

        def __init__(self, cache_size=1):
            super().__init__(cache_size=cache_size)

        def _call(self, x):
            return x.tanh()

        def _inverse(self, y):
            return torch.atanh(y)

        def log_abs_det_jacobian(self, x, y):
            return 2.0 * (0.7 - x - nn.functional.softplus(-2.0 * x))

    class Policy(TransformedDistribution):
        def __init__(self, loc, scale):
            self.base = Normal(loc, scale)
            super().__init__(self.base, [Squashed()])

    policy = Policy(nn.Linear(3, 4)(torch.ones(2, 3)), torch.ones(4))
    action = policy.rsample()
    loss = policy.log_prob(action).sum(-1, keepdim=True)
    loss.mean().backward()
    torch.cat([action, loss], 1) @ torch.ones(5, 1)
    torch.cat([action, loss], 1) @ torch.ones(4, 1)
    """
    (fault,) = faults_of(tmp_path, program, USE)
    assert line_of(tmp_path, fault) == "torch.cat([action, loss], 1) @ torch.ones(4, 1)"
