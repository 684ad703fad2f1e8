"""The same code again and again, for benchmarks/growth.py: in functions of its own, under other names in one file, or
one after the other in one function, as programs of experiments and notebooks that have grown have it.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent

from growth_structures import each

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
DIVIDED = """\
features = F.relu(nn.Conv2d(3, 8, 3)(images)).flatten(1)
length = features.norm(dim=1, keepdim=True)
features = features / length
total = torch.sum(nn.ReLU()(scores))
share = scores.div(total)
"""
SAMPLED = """\
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = nn.Linear(8, 2)
        self.decoder = nn.Sequential(nn.Linear(3, 8), nn.ReLU())

    def draw(self, mu, log_var):
        return torch.normal(mu, torch.exp(0.5 * log_var))

    def forward(self, x, c):
        mu = self.mu(x)
        z = self.draw(mu, self.mu(c))
        return self.decoder(torch.cat([z, c], dim=1)), mu
"""
SPREAD = """\
class VAE(nn.Module):
    def reparameterize(self, mu, logvar):
        std = torch.exp(logvar)
        return mu + std * torch.randn_like(std)

def kl(mu, logvar):
    return -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
"""
SCALED = """\
import math
def attend{i}(q, k, v, d):
    weights = torch.softmax(torch.matmul(q, k.transpose(-2, -1)), dim=-1) / math.sqrt(d)
    return torch.matmul(weights, v)
"""
DECODED = """\
class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(50, 8), nn.Linear(8, 50)
        self.decoder = nn.GRU(8, 8)

    def forward(self, src, tokens):
        return self.out(self.decoder(self.embed(tokens))[0])

model = Translator()
for src, tgt in loader:
    logits = model(src, tgt[:, 1:])
    loss = F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten())
    loss.backward()
"""
CUT = """\
class TwoStage(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(6, 4)
        self.decoder = nn.Linear(4, 6)

    def forward(self, x):
        code = torch.relu(self.encoder(x)).data
        return self.decoder(code)
"""
CARRIED = """\
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 6)
        self.hidden = None

    def forward(self, x):
        out, self.hidden = self.lstm(x, self.hidden)
        return out

tagger = Tagger()
optimizer = torch.optim.Adam(tagger.parameters())
for x, y in loader:
    loss = F.mse_loss(tagger(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
FLAGGED = """\
model{i} = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
model{i}.requires_grad = False
model{i}[0].requires_grad = False
"""
CHANGED = """\
model{i} = nn.Linear(3, 3)
for x{i} in loader:
    y{i} = model{i}(x{i}).sigmoid()
    y{i} += 1
    y{i}.sum().backward()
"""
TRIED = """\
def evaluate{i}(model, loader):
    correct = 0
    with torch.inference_mode():
        for x, y in loader:
            correct += (model(x).argmax(1) == y).sum().item()
    return correct

net{i} = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(8, 3))
evaluate{i}(net{i}, loader)
"""
KEPT_MODES = """\
model{i} = nn.Sequential(nn.Linear(3, 6), nn.Dropout(0.5), nn.Linear(6, 1))
optimizer{i} = torch.optim.Adam(model{i}.parameters())
model{i}.train()
for epoch in range(9):
    for x, y in loader:
        optimizer{i}.zero_grad()
        F.mse_loss(model{i}(x), y).backward()
        optimizer{i}.step()
    model{i}.eval()
    with torch.no_grad():
        print(F.mse_loss(model{i}(x_val), y_val))
"""
LEFT_OUT = """\
encoder{i}, head{i} = nn.Linear(8, 4), nn.Linear(4, 2)
scale{i} = nn.Parameter(torch.ones(2))
optimizer{i} = torch.optim.Adam(encoder{i}.parameters())
for x, y in loader:
    optimizer{i}.zero_grad()
    F.cross_entropy(head{i}(encoder{i}(x)) * scale{i}, y).backward()
    optimizer{i}.step()
"""
BARE = "torch.no_grad()\nmodel(x)\n"
BEST = """\
best{i} = None
for epoch in range(9):
    score{i} = train_epoch(model)
    if best{i} is None or score{i} > best{i}:
        best{i} = score{i}
        best_weights{i} = model.state_dict()
model.load_state_dict(best_weights{i})
"""
MONITORED = """\
class Net{i}(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = F.cross_entropy(self(batch[0]), batch[1])
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("valid_loss", F.cross_entropy(self(batch[0]), batch[1]))

stopping{i} = pl.callbacks.EarlyStopping(monitor="val_loss")
trainer{i} = pl.Trainer(callbacks=[stopping{i}])
trainer{i}.fit(Net{i}(), loader)
"""
GROWN = """\
class Net{i}(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.outputs = []

    def training_step(self, batch, batch_idx):
        loss = F.cross_entropy(self(batch[0]), batch[1])
        self.outputs.append(loss)
        return loss

    def on_train_epoch_end(self):
        self.log("loss", torch.stack(self.outputs).mean())
"""
PASSED_BY = """\
net{i} = nn.Linear(8, 3)
replica{i} = DDP(net{i})
optimizer{i} = torch.optim.SGD(net{i}.parameters(), lr=0.1)
for x, y in loader:
    optimizer{i}.zero_grad()
    F.cross_entropy(net{i}(x), y).backward()
    optimizer{i}.step()
"""
LISTED = """\
class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = [nn.Linear(8, 8) for _ in range(depth)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x
"""
DROPPED = """\
def mixed(x):
    return F.dropout(x, 0.5)

class Net(nn.Module):
    def forward(self, x):
        return mixed(x)
"""
FED = """\
class Noisy{i}(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __getitem__(self, i):
        return self.rng.normal()

loader{i} = DataLoader(Noisy{i}(), num_workers=2)
"""
STOPPED = """\
class Net{i}(nn.Module):
    def forward(self, x):
        y = x.softmax(-1)
        pdb.set_trace()
        return y * x
"""
REMOVED = "half{i} = torch.rfft(torch.rand(4, 4), 2)\n"


def in_functions(text: str) -> Callable[[int], str]:
    return lambda n: HEAD + each(n, lambda i: f"def run_{i}():\n{indent(text, '    ')}")


def in_one_function(text: str) -> Callable[[int], str]:
    return lambda n: f"{HEAD}def run():\n{each(n, lambda i: indent(text.replace('{i}', str(i)), '    '))}"


def in_a_row(text: str, head: str = "") -> Callable[[int], str]:
    return lambda n: f"{HEAD}{head}\n{each(n, lambda i: text.replace('{i}', str(i)))}"


REPEATS: dict[str, Callable[[int], str]] = {
    "divisions in functions": in_functions(DIVIDED),
    "divisions in one function": in_one_function(DIVIDED),
    "samples in functions": in_functions(SAMPLED),
    "spreads in functions": in_functions(SPREAD),
    "one name imported again": in_a_row(SCALED),
    "decoders in functions": in_functions(DECODED),
    "results changed in a row": in_a_row(CHANGED),
    "layers cut off in functions": in_functions(CUT),
    "states carried in functions": in_functions(CARRIED),
    "flags of modules in a row": in_a_row(FLAGGED),
    "models tried out in a row": in_one_function(TRIED),
    "modes kept in a row": in_a_row(KEPT_MODES),
    "optimizers left as they are": in_a_row(LEFT_OUT),
    "bare guards in one function": in_one_function(BARE),
    "best states in one function": in_one_function(BEST),
    "monitors in a row": in_a_row(MONITORED, "import pytorch_lightning as pl"),
    "lists of epochs in a row": in_a_row(GROWN, "import pytorch_lightning as pl"),
    "wrappers passed by in a row": in_a_row(PASSED_BY, "from torch.nn.parallel import DistributedDataParallel as DDP"),
    "lists of layers in functions": in_functions(LISTED),
    "helpers that drop in functions": in_functions(DROPPED),
    "generators of workers in a row": in_a_row(
        FED, "import numpy as np\nfrom torch.utils.data import DataLoader, Dataset"
    ),
    "stops in forwards": in_a_row(STOPPED, "import pdb"),
    "removed names in one function": in_one_function(REMOVED),
}
