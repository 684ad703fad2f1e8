"""Ask `self.training` in a module, instead of an argument of `forward` that says the same.

`model.train()` and `model.eval()` set `training` in all layers. A flag of one's own must be handed through every call and
contradicts the mode where it is forgotten: dropout is off while the rest of the model trains.

```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)

    def forward(self, x, is_training=True):  # TL610
        x = F.dropout(x, 0.5, training=is_training)
        return self.fc(x)
```
```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)

    def forward(self, x, sample=False):
        x = F.dropout(x, 0.5, self.training)
        return self.fc(x)

def evaluate(model, x, training=False):
    return model(x)
```
"""

from torchlint import ModuleClass, on_module

read_on = ("TL603", "TL503", "torch.nn.Module")
default = False

FLAGS = frozenset("training is_training istraining train is_train train_mode".split())


@on_module(needs="train")
def check(cls: ModuleClass):
    forward = cls.method("forward")
    if forward is None:
        return
    for parameter in [*forward.args.args, *forward.args.kwonlyargs]:
        if parameter.arg in FLAGS:
            yield cls.finding(
                f"`{parameter.arg}` says what `self.training` knows", help="use `self.training`", at=parameter
            )
