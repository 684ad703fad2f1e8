"""Detach a tensor before it becomes a NumPy array.

NumPy knows no gradients: `.numpy()` on a tensor that belongs to a graph raises "Can't call numpy() on Tensor that
requires grad". Write `tensor.detach().cpu().numpy()`, or compute under `torch.no_grad()` what is only looked at. The
tensor of the array is cut from the graph, so no loss may be made of it. In a `forward`, which somebody may run under
`no_grad`, it is a remark.

```python bad
model = nn.Linear(3, 1)
prediction = model(x).numpy()  # TL208
```
```python fixed
model = nn.Linear(3, 1)
prediction = model(x).detach().numpy()
```
```python bad
import numpy as np

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return torch.sigmoid(self.fc(x)) * self.scale

class Report:
    def __init__(self):
        self.net = Net().eval()

    def collect(self, loader):
        found = []
        for x in loader:
            out = self.net(x)
            found.append(out.cpu().numpy())  # TL208
            best = out.max(dim=1).values.squeeze()
        return np.concatenate(found), np.asarray(out), self.net.scale.cpu().numpy()  # TL208, TL208
```

Without a graph, or with indices instead of values, it is right.

```python good
import numpy as np

model = nn.Linear(3, 1)
with torch.no_grad():
    prediction = model(x).numpy()
classes = model(x).argmax(dim=1).cpu().numpy()
values = model(x).detach().cpu().numpy() + model(x).data.numpy() + model(x).numpy(force=True)
hits = (model(x) > 0).numpy()
labels = np.asarray(y)

@torch.inference_mode()
def predict(model, x):
    return model(x).cpu().numpy()

best, places = model(x).max(dim=1)
places = places.numpy()
also = model(x).topk(2, dim=1)[1].numpy()

frozen = nn.Linear(3, 1).requires_grad_(False)
shown = frozen(torch.zeros(3)).numpy()
```

An action that is drawn has no gradient, and a call under `no_grad` covers what the called method does.

```python good
import numpy as np
from torch.distributions import Categorical

class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = nn.Linear(4, 2), nn.Linear(4, 1)

    def forward(self, obs):
        return Categorical(logits=self.actor(obs)), self.critic(obs)

    def act(self, obs):
        dist = Categorical(logits=self.actor(obs))
        action = dist.sample()
        return action, dist.log_prob(action), self.critic(obs)

agent = Agent()
dist, value = agent(torch.zeros(1, 4))
action = dist.sample()
env.step(action.cpu().numpy())
with torch.no_grad():
    action, log_prob, value = agent.act(torch.zeros(1, 4))
env.step(action.numpy())
values = value.numpy()
hidden, value, _ = agent.act(torch.zeros(1, 4))
env.step(hidden.numpy())
```

What is handed to a forward may be a plain image, and a method that nobody calls here may be called under `no_grad`.

```python good
class Backend(nn.Module):
    def __init__(self, session):
        super().__init__()
        self.session = session
        self.scorer = nn.Linear(4, 4)

    def forward(self, image):
        image = image.permute(0, 2, 3, 1).half()
        return self.session.run(image.cpu().numpy())

    def decode(self, x):
        return best_tree(self.scorer(x).cpu().numpy())
```

A list is what was put into it, even where its name held something else before.

```python good
regressor = nn.Linear(2, 3)
predictions = regressor(x)
predictions = list()

def show(models):
    for net in models:
        with torch.no_grad():
            predictions.append(net(x))
        print(predictions[-1].cpu().numpy())
    print(torch.stack(predictions).var(dim=0).numpy())

show([regressor])
```

Only a tensor has `.detach()`: what a method of something else returns is left alone, and so is a network whose weights
may be buffers.

```python good
import numpy as np

class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, encoded):
        return self.fc(encoded.input_ids), np.array(encoded.word_ids())

class Filters(nn.Module):
    def __init__(self, trainable=False):
        super().__init__()
        self.pad = nn.ConstantPad1d(1, 0)
        kernels = torch.randn(4, 1, 3)
        if trainable:
            self.register_parameter("kernels", nn.Parameter(kernels))
        else:
            self.register_buffer("kernels", kernels)

    def forward(self, x):
        return torch.sqrt(F.conv1d(self.pad(x), self.kernels) ** 2)

bands = Filters()(torch.tensor(signal)).cpu().numpy()
```

What a loop puts into a list is followed in `torchlint/source/answers/collected.py`, what a backward has gone through in
`torchlint/source/answers/trained_outputs.py`.
"""

import ast

from torchlint import SAME_NUMBERS, Call, on_call
from torchlint.source.answers.collected import collected_with_graph
from torchlint.source.answers.trained_outputs import is_asked_about, trained_output

read_on = ("TL204", "TL405", "torch.Tensor.numpy", "torch.Tensor.detach")
in_tests = False
across_files = False

SAME = SAME_NUMBERS | {"[]"}


@on_call(".numpy", "numpy.array", "numpy.asarray", needs="numpy", without="force", unknown=True)
def check(call: Call):
    tensor = call.receiver if call.is_method else call.argument("a", 0)
    if (
        tensor is None
        or call.no_grad
        or is_handed_in(call, tensor)
        or is_of_a_method(call)
        or call.in_forward
        and call.asks_mode
        or is_asked_about(call.value.at(tensor, ()))
    ):
        return
    kept = trained = None
    if call.requires_grad(tensor) is not True:
        kept = collected_with_graph(call.value.at(tensor, ()))
        trained = None if kept is not None else trained_output(call.value.at(tensor, ()))
        if kept is None and trained is None:
            return
    if call.says("requires_grad_(False)", "requires_grad = False") or call.may_be_without_grad:
        return
    yield call.finding(
        f"`{call.source(tensor) if len(call.source(tensor)) < 40 else 'this tensor'}` belongs to a"
        " graph: NumPy refuses it",
        help="write `.detach().cpu().numpy()`, or compute it under `torch.no_grad()`",
        notes=[
            call.note(made, why)
            for made, why in (
                (kept, "put into the list here, with its graph"),
                (trained, "computed here, and backward goes through it"),
            )
            if made is not None
        ],
        fix=call.fix("detach it", call.with_suffix(tensor, ".detach()")) if call.is_tensor(tensor) else None,
        severity="info" if call.in_forward else "error",  # whoever runs a forward may do so under `no_grad`
    )


def is_handed_in(call: Call, tensor) -> bool:
    return any(isinstance(origin.node, ast.arg) for origin in call.origins(tensor, SAME))


def is_of_a_method(call: Call) -> bool:
    """A method of a module, other than `forward` and the steps of training, that nobody calls in this file."""
    function = call.function
    if (
        not isinstance(function, ast.FunctionDef)
        or not isinstance(function.up, ast.ClassDef)
        or function.name in ("forward", "training_step", "loss")
    ):
        return False
    first = function.args.args[:1]
    return bool(first) and not call.calls(function.name) and call.is_module(first[0])
