"""Minimise the negative of what a policy is to gain: an optimizer goes down.

`(log_prob * advantage).mean()` as a loss makes what was good less probable: the agent learns to lose. The loss is
`-(log_prob * advantage).mean()`. The entropy, which is to stay high, is subtracted from it: added, it makes the policy
certain at once. And of the value of the next state nothing counts where the episode has ended: `gamma * value * (1 - done)`.

```python bad
from torch.distributions import Categorical

def update(policy, optimizer, states, actions, advantages):
    dist = Categorical(logits=policy(states))
    loss = (dist.log_prob(actions) * advantages).mean()
    optimizer.zero_grad()
    loss.backward()  # TL527
    optimizer.step()
```
```python good
from torch.distributions import Categorical

def update(policy, optimizer, states, actions, advantages):
    dist = Categorical(logits=policy(states))
    loss = -(dist.log_prob(actions) * advantages).mean() - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```

Term by term, also where they are gathered in a list.

```python bad
class Agent:
    def __init__(self, policy, optimizer, entropy_coef=0.01):
        self.policy, self.optimizer, self.entropy_coef = policy, optimizer, entropy_coef

    def learn(self, episode, returns):
        losses = []
        for (log_prob, _), reward in zip(episode, returns):
            losses.append(log_prob * reward)
        self.optimizer.zero_grad()
        torch.stack(losses).sum().backward()  # TL527
        self.optimizer.step()

    def improve(self, states, actions, advantages, values, returns):
        dist = torch.distributions.Categorical(logits=self.policy(states))
        policy_loss = -(dist.log_prob(actions) * advantages).mean()
        entropy = dist.entropy().mean()
        loss = policy_loss + 0.5 * F.mse_loss(values, returns) + self.entropy_coef * entropy
        self.optimizer.zero_grad()
        loss.backward()  # TL527
        self.optimizer.step()
```
```python good
class Agent:
    def __init__(self, policy, optimizer):
        self.policy, self.optimizer = policy, optimizer

    def learn(self, episode, returns):
        losses = []
        for (log_prob, _), reward in zip(episode, returns):
            losses.append(-log_prob * reward)
        self.optimizer.zero_grad()
        torch.stack(losses).sum().backward()
        self.optimizer.step()

    def climb(self, log_probs, advantages):
        gain = (log_probs * advantages).mean()
        self.optimizer.zero_grad()
        (-gain).backward()
        self.optimizer.step()

    def imitate(self, log_probs, costs):
        self.optimizer.zero_grad()
        (log_probs * costs).mean().backward()
        self.optimizer.step()
```

An end is 1 where it is called `done`, `terminal` or `terminated`, and no file that is read turns it round.

```python bad
def targets(reward, next_state, done, critic, gamma=0.99):
    with torch.no_grad():
        next_value = critic(next_state).squeeze(-1)
    return reward + gamma * next_value * done  # TL527
```
```python good
def targets(reward, next_state, done, critic, gamma=0.99):
    mask = 1.0 - done.float()
    with torch.no_grad():
        next_value = critic(next_state).squeeze(-1)
    return reward + gamma * next_value * mask
```

What is a gain is taken from its name (`advantage`, `return`, `reward`, `R`), where it is no cost and nothing turns it
round; how the terms are followed: `torchlint/source/answers/policy_terms.py`.
"""

from torchlint import Call, Node, on_call, on_node
from torchlint.source.answers.policy_terms import kept_at_end, minimised

read_on = ("TL519", "distributions")
added = "0.2"
in_tests = False


@on_call(".backward", needs="log_prob|entropy|logp", unknown=True)
def check(call: Call):
    terms = minimised(call.module, call.node)
    gains = [term for term in terms if term.is_gain]
    for term in gains:
        if term.sign > 0:
            yield call.finding(
                f"what is minimised has `{call.at(term.value).short}` in it: what was good becomes less probable",
                help="minimise its negative",
                notes=[call.note(call.at(term.value), "this grows with what was good")],
            )
            return
    is_of_policy = bool(gains) or any(term.sign < 0 and term.is_surrogate for term in terms)
    for term in terms if is_of_policy else ():
        if term.sign > 0 and term.is_entropy:
            yield call.finding(
                f"what is minimised has the entropy `{call.at(term.value).short}` in it: the policy becomes certain",
                help="subtract the entropy",
                notes=[call.note(call.at(term.value), "this is to stay high")],
            )
            return


@on_node("Mult", needs=("gamma|discount|GAMMA", "done|termin"))
def check_ends(place: Node):
    if (end := kept_at_end(place.module, place.node)) is not None:
        said = place.quoted(end)
        yield place.finding(
            f"`{place.short}` counts the next value at the end of an episode, and nowhere else",
            help=f"multiply by `(1 - {said})`, of a bool `(~{said})`",
        )
