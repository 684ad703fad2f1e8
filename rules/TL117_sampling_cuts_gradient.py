"""Draw with `rsample()` what layers are to learn from: `sample()` and `torch.normal` give no gradient.

`Normal(mu, std).sample()` draws numbers that know nothing of `mu` and `std`. A decoder behind it learns, but the layers
that made `mu` and `std` get no gradient from the reconstruction: of a VAE's loss only the KL term reaches the encoder,
which then says the same of every input. `torch.normal(mu, std)` is no better: its gradient is zero. `rsample()`
computes `mu + std * noise`, through which gradients go.

It is said of distributions that have `rsample`, in a `forward` or what it calls, where what they are made of is seen to
be learned and a layer or a network is given the sample. Who asks `log_prob` anywhere in the file learns in
another way.

```python bad
from torch.distributions import Normal

class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = nn.Linear(8, 2)
        self.log_std = nn.Linear(8, 2)
        self.decoder = nn.Linear(2, 8)

    def forward(self, x):
        mu, std = self.mu(x), self.log_std(x).exp()
        z = Normal(mu, std).sample()  # TL117
        return self.decoder(z), mu, std
```
```python fixed
from torch.distributions import Normal

class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = nn.Linear(8, 2)
        self.log_std = nn.Linear(8, 2)
        self.decoder = nn.Linear(2, 8)

    def forward(self, x):
        mu, std = self.mu(x), self.log_std(x).exp()
        z = Normal(mu, std).rsample()
        return self.decoder(z), mu, std
```
```python bad
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = nn.Linear(8, 2)
        self.log_var = nn.Linear(8, 2)
        self.decoder = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8))

    def draw(self, mu, log_var):
        return torch.normal(mu, torch.exp(0.5 * log_var))  # TL117

    def forward(self, x, c):
        mu, log_var = self.mu(x), self.log_var(x)
        z = self.draw(mu, log_var)
        return self.decoder(torch.cat([z, c], dim=1)), mu, log_var
```

Right are `rsample`, what is drawn to be looked at, priors, and gradients of scores.

```python good
from torch.distributions import Normal

class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = nn.Linear(8, 2)
        self.log_std = nn.Linear(8, 2)
        self.decoder = nn.Linear(2, 8)

    def forward(self, x):
        mu, std = self.mu(x), self.log_std(x).exp()
        prior = Normal(torch.zeros(2), torch.ones(2)).sample()
        seen = torch.normal(mu, std)
        z = Normal(mu, std).rsample() + torch.normal(0.0, 1.0, size=(2,))
        return self.decoder(z), self.decoder(prior), seen

    @torch.no_grad()
    def generate(self, x):
        return self.decoder(Normal(self.mu(x), self.log_std(x).exp()).sample())
```
```python good
from torch.distributions import Normal

class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = nn.Linear(8, 2)
        self.value = nn.Linear(2, 1)

    def forward(self, x):
        choice = Normal(self.mu(x), 1.0)
        action = choice.sample()
        return action, choice.log_prob(action), self.value(action)
```

How it is found: `torchlint/source/answers/cutting_samples.py`.
"""

from torchlint import Call, on_call
from torchlint.source.answers.cutting_samples import critic_of_sample, parameters_of_sample, taker_of_sample

added = "0.2"
read_on = ("TL204", "TL906", "torch.distributions.Distribution.rsample", "distributions#pathwise-derivative")
in_tests = False


@on_call(".sample", needs="distributions", unknown=True)
def check_sample(call: Call):
    if not (parameters := parameters_of_sample(call.value)):
        return
    taker = None if call.project_says("log_prob") else taker_of_sample(call.value, parameters)
    if (taker := taker or critic_of_sample(call.value, parameters)) is not None:
        drawn = f"{call.source(call.receiver)}.rsample"
        yield said(
            call,
            taker,
            f"no gradient goes through `{call.short}`: `{call.quoted(parameters[0])}` learns nothing from the sample",
            "draw with `rsample()`",
            call.fix("draw with `rsample()`", call.with_callee(drawn), applicability="unsafe"),
        )


@on_call("torch.normal", needs="normal(")
def check_normal(call: Call):
    parameters = [one for one in (call.argument("mean", 0), call.argument("std", 1)) if one is not None]
    if call.has_stars or not parameters or call.project_says("log_prob"):
        return
    if (taker := taker_of_sample(call.value, parameters)) is not None:
        mean = call.quoted(parameters[0])
        yield said(
            call,
            taker,
            f"the gradient of `{call.short}` is zero: `{mean}` learns nothing from the sample",
            f"add the noise: `{mean} + std * torch.randn_like({mean})`",
        )


def said(call: Call, taker, message: str, help: str, fix=None):
    notes = [call.note(taker, "a gradient is wanted from here")]
    return call.finding(message, help=help, fix=fix, notes=notes)
