"""Detach a state that goes from one training step to the next.

A recurrent state carries the graph of the step that made it. If the next step starts from it and runs backward again,
autograd goes back through the step before, whose graph is gone: "Trying to backward through the graph a second time".
`retain_graph=True` is no cure: then each step goes back to the very first one, ever slower, until memory is full.
Detach the state between two steps.

```python bad
rnn, head = nn.GRU(3, 6), nn.Linear(6, 3)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
state = torch.zeros(1, 2, 6)
for x, y in loader:
    out, state = rnn(x, state)
    loss = F.mse_loss(head(out), y)
    optimizer.zero_grad()
    loss.backward()  # TL205
    optimizer.step()
```
```python fixed
rnn, head = nn.GRU(3, 6), nn.Linear(6, 3)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
state = torch.zeros(1, 2, 6)
for x, y in loader:
    out, state = rnn(x, state)
    loss = F.mse_loss(head(out), y)
    optimizer.zero_grad()
    loss.backward()
    state = state.detach()
    optimizer.step()
```
```python bad
def train(model, loader, optimizer, criterion):
    hidden = model.init_hidden(20)
    for x, y in loader:
        optimizer.zero_grad()
        output, new_hidden = model(x, hidden)
        hidden = new_hidden
        loss = criterion(output, y)
        loss.backward()  # TL205
        optimizer.step()
```
```python bad
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 6)
        self.head = nn.Linear(6, 3)
        self.hidden = None

    def forward(self, x):
        out, self.hidden = self.lstm(x, self.hidden)
        return self.head(out)

tagger = Tagger()
optimizer = torch.optim.Adam(tagger.parameters())
for x, y in loader:
    loss = F.mse_loss(tagger(x), y)
    optimizer.zero_grad()
    loss.backward()  # TL205
    optimizer.step()
```

A state that begins anew, that is detached somewhere, or of which one backward sees all steps, is right.

```python good
def repackage(h):
    return h.detach() if torch.is_tensor(h) else tuple(repackage(v) for v in h)

lstm, cell, head = nn.LSTM(3, 6), nn.GRUCell(3, 6), nn.Linear(6, 3)
optimizer = torch.optim.Adam([*lstm.parameters(), *cell.parameters(), *head.parameters()])
state, other, third = None, None, None
for x in windows:
    if state is not None:
        state = tuple(s.detach() for s in state)
    out, state = lstm(x, state)
    if other is not None:
        other = repackage(other)
    out2, other = lstm(x, other)
    out3, third = lstm(x, third)
    loss = head(out + out2 + out3).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    third = (third[0].data, third[1].data)

for sequence in windows:
    h, loss = torch.zeros(5, 6), 0
    for step in sequence:
        h = cell(step, h)
        loss = loss + head(h).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

h, total = torch.zeros(5, 6), 0
for step in sequence:
    h = cell(step, h)
    total = total + head(h).mean()
total.backward()
optimizer.step()
```
```python good
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 6)
        self.hidden = None

    def init_hidden(self):
        return torch.zeros(1, 1, 6), torch.zeros(1, 1, 6)

    def forward(self, x):
        out, self.hidden = self.lstm(x, self.hidden)
        return out

tagger = Tagger()
optimizer = torch.optim.Adam(tagger.parameters())
for x, y in loader:
    tagger.zero_grad()
    tagger.hidden = tagger.init_hidden()
    loss = F.mse_loss(tagger(x), y)
    loss.backward()
    optimizer.step()
```

A model may cut what it is given by itself, or a part of it may.

```python good
class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 4)

    def cut(self, state):
        return state.detach()

    def forward(self, x, state):
        state = self.cut(state)
        return self.cell(x, state)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = Memory()
        self.head = nn.Linear(4, 1)

    def forward(self, x, state):
        state = self.memory(x, state)
        return self.head(state), state

model = Model()
state = torch.zeros(2, 4)
for x, y in loader:
    out, state = model(x, state)
    loss = F.mse_loss(out, y)
    loss.backward()
```

How it is found: `torchlint/source/answers/carried_states.py`.
"""

import ast

from torchlint import Loop, on_loop
from torchlint.source.answers.carried_states import carried_states

read_on = ("TL203", "TL206", "torch.Tensor.detach")
across_files = False


@on_loop(needs="backward")
def check(loop: Loop):
    for carried in carried_states(loop.module, loop.node):
        state, backward = ast.unparse(carried.state), carried.backward
        notes = [loop.note(carried.call, f"`{state}` goes in here as it came out in the round before")]
        if carried.kept is not None and carried.kept.node.lineno != carried.call.node.lineno:
            notes.append(loop.note(carried.kept, f"`{state}` is kept here with its graph"))
        retained = any(k.arg == "retain_graph" for k in backward.node.keywords)
        yield loop.finding(
            f"`{state}` still has the graph of the round before: "
            + (
                "with retain_graph=True each backward goes back to the first round"
                if retained
                else "backward runs through that a second time and fails"
            ),
            help=f"detach it between two rounds: `{state} = {state}.detach()`, each part of a tuple",
            fix=detached(loop, carried),
            notes=notes,
            at=loop.at(backward),
            severity="warning" if retained else "error",
        )


def detached(loop: Loop, carried):
    """`h = h.detach()` after backward, where it is known what the layer returns."""
    if not isinstance(carried.state, ast.Name) or carried.backward.module is not loop.module:
        return None
    names, name = loop.at(carried.call).names, carried.state.id
    if names & {"torch.nn.LSTM()", "torch.nn.LSTMCell()"}:
        parts = getattr(carried.state.up, "elts", None)
        if parts and all(isinstance(part, ast.Name) for part in parts):
            line = f"{', '.join(p.id for p in parts)} = {', '.join(p.id + '.detach()' for p in parts)}"
        else:
            line = f"{name} = tuple(part.detach() for part in {name})"
    elif names and names <= {"torch.nn.GRU()", "torch.nn.RNN()", "torch.nn.GRUCell()", "torch.nn.RNNCell()"}:
        line = f"{name} = {name}.detach()"
    else:
        return None
    return loop.fix("detach the state", loop.insert_after(carried.backward.node, line), applicability="unsafe")
