"""Take half of a log variance before `exp`, and add the KL term with the sign that it has.

A layer that gives `logvar` gives the logarithm of the variance; the standard deviation is `torch.exp(0.5 * logvar)`.
Noise that is scaled by `torch.exp(logvar)` has another width than the KL term believes, and the two pull at each other.
The divergence from a standard normal is `-0.5 * (1 + logvar - mu ** 2 - logvar.exp())`. Without the minus, what is
minimized rewards codes that go as far away from the prior as they can.

The width is said where the name says that it is a log variance, and a KL term of the file says so too; the sign where
the term is seen to be added to a reconstruction loss of torch.

```python bad
class VAE(nn.Module):
    def reparameterize(self, mu, logvar):
        std = torch.exp(logvar)  # TL118
        return mu + std * torch.randn_like(std)

def kl(mu, logvar):
    return -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
```
```python fixed
class VAE(nn.Module):
    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

def kl(mu, logvar):
    return -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
```
```python bad
def loss_function(recon, x, mu, log_var):
    bce = F.binary_cross_entropy(recon, x, reduction="sum")
    kld = 0.5 * torch.sum(1 + log_var - mu.pow(2) - log_var.exp())  # TL118
    return bce + kld
```

Right are the halves, a variance of which the root is taken, a term that is subtracted, and names that mean the
logarithm of the deviation, as their own KL term says.

```python good
def reparameterize(mu, logvar):
    std = torch.exp(0.5 * logvar)
    var = logvar.exp()
    return mu + std * torch.randn_like(std), mu + var.sqrt() * torch.randn_like(mu)

def loss_function(recon, x, mu, logvar):
    mse = F.mse_loss(recon, x, reduction="sum")
    kl = 0.5 * torch.sum(logvar.exp() + mu.pow(2) - 1 - logvar)
    rest = 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    usual = -0.5 * torch.mean(1 + logvar - mu.pow(2) - logvar.exp())
    elbo = rest - mse
    return mse + kl, mse - rest, -elbo, mse + usual, mse + 2 * -rest
```
```python good
def reparameterize(mu, logvar):
    return mu + torch.exp(logvar) * torch.randn_like(mu)

def kl(mu, logvar):
    return -0.5 * torch.sum(1 + 2 * logvar - mu.pow(2) - torch.exp(2 * logvar))
```

How it is found: `torchlint/source/answers/log_variances.py`.
"""

from torchlint import Call, Node, on_call, on_node
from torchlint.source.answers.log_variances import added_opposites, divergence_of, log_variance_in, scaled_noise

added = "0.2"
read_on = ("TL117", "torch.distributions.kl.kl_divergence", "torch.randn_like")
in_tests = False


@on_call("torch.exp", ".exp", needs="logvar|log_var|logVar|logsigma|log_sigma", unknown=True)
def check_width(call: Call):
    log = log_variance_in(call.node)
    if log is None or (divergence := divergence_of(call.module, log)) is None:
        return
    if (noise := scaled_noise(call.value)) is not None:
        yield call.finding(
            f"`{call.short}` is the variance, and is used as the standard deviation",
            help=f"write `torch.exp(0.5 * {call.quoted(log)})`",
            fix=call.fix(
                "take half of it",
                call.replace(log, f"0.5 * {call.source(log)}")
                if call.node.args
                else call.replace(log, f"(0.5 * {call.source(log)})"),
                applicability="unsafe",
            ),
            notes=[
                call.note(noise, "scales the noise here"),
                call.note(divergence, "here it is the logarithm of the variance"),
            ],
        )


@on_node("Module", needs="logvar|log_var|logVar|logsigma|log_sigma")
def check_sign(place: Node):
    for term, total in added_opposites(place.module):
        yield place.finding(
            f"`{place.quoted(term)}` is the negative of the divergence, and is added to what is minimized",
            help="multiply it with -0.5, or subtract it",
            notes=[place.note(total, "added here")],
            at=term,
        )
