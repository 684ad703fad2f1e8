"""Detach the advantage in the loss of a policy: the critic learns from its own loss alone.

`advantage = returns - values` has the gradients of the network that says what a state is worth. In `-(log_prob *
advantage)` they reach it: the values of what the policy does often are pushed to make the loss small, not to be right, and
work against the loss of the values. Write `advantage.detach()` in the policy's term.

```python bad
import torch.nn.functional as F
from torch.distributions import Categorical

def update(policy, critic, optimizer, states, actions, returns):
    values = critic(states).squeeze(-1)
    log_prob = Categorical(logits=policy(states)).log_prob(actions)
    advantage = returns - values
    policy_loss = -(log_prob * advantage).mean()  # TL536
    value_loss = F.mse_loss(values, returns)
    optimizer.zero_grad()
    (policy_loss + 0.5 * value_loss).backward()
    optimizer.step()

policy, critic = nn.Linear(4, 2), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()])
for states, actions, returns in episodes:
    update(policy, critic, optimizer, states, actions, returns)
```
```python good
import torch.nn.functional as F
from torch.distributions import Categorical

def update(policy, critic, optimizer, states, actions, returns):
    values = critic(states).squeeze(-1)
    log_prob = Categorical(logits=policy(states)).log_prob(actions)
    advantage = returns - values.detach()
    policy_loss = -(log_prob * advantage).mean()
    value_loss = F.mse_loss(values, returns)
    optimizer.zero_grad()
    (policy_loss + 0.5 * value_loss).backward()
    optimizer.step()

policy, critic = nn.Linear(4, 2), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()])
for states, actions, returns in episodes:
    update(policy, critic, optimizer, states, actions, returns)
```

How it is found: `torchlint/source/answers/carried_advantages.py`.
"""

from torchlint import Call, on_call
from torchlint.source.answers.carried_advantages import carried_advantages

added = "0.2"
read_on = ("TL527", "distributions", "torch.Tensor.detach")
in_tests = False


@on_call(".backward", needs=("log_prob|logp|log_pi|ratio", "value|critic|baseline|Value|Critic"), unknown=True)
def check(call: Call):
    carried = carried_advantages(call.module, call.node)
    if carried is not None:
        advantage, values = call.quoted(carried.advantage), carried.difference.module.segment(carried.values)
        yield call.finding(
            f"`{advantage}` has the gradients of `{values}`: the loss of the policy teaches the critic, too",
            help=f"write `{advantage}.detach()` in the loss of the policy",
            notes=[
                call.note(carried.difference, "it is made here"),
                call.note(call.node, "backward goes through both"),
            ],
            at=carried.advantage,
        )
