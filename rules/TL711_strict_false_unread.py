"""Look at what `load_state_dict(…, strict=False)` returns: the names of what was not loaded.

With `strict=False` a checkpoint whose names all begin with `module.` loads nothing at all, and the model trains or
predicts with the random weights it started with. The result says which keys are missing and which were not expected.

This rule is off by default: in many programs it is known which parts are left out, and written nowhere.

```python bad
model.load_state_dict(state, strict=False)  # TL711
```
```python good
missing, unexpected = model.load_state_dict(state, strict=False)
assert not unexpected, unexpected
model.load_state_dict(state)
model.load_state_dict(state, strict=strict)
```
"""

import ast

from torchlint import Call, on_call

read_on = ("TL516", "torch.nn.Module", "notes/serialization")
default = False
in_tests = False


@on_call(".load_state_dict", needs="strict", unknown=True)
def check(call: Call):
    strict = call.argument("strict", 2)
    if isinstance(strict, ast.Constant) and strict.value is False and isinstance(call.node.up, ast.Expr):
        yield call.finding(
            f"`{call.short}` may have loaded nothing, and nobody asks",
            help="look at `missing_keys` and `unexpected_keys` of what it returns",
        )
