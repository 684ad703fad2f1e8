"""Ask what can be true or false: a condition with one answer decides nothing.

`mode == "train" or "test"` is read as `(mode == "train") or "test"`, and a text that is not empty is true. Nothing
fails: one branch never runs, or an assertion never holds anything back.

```python bad
def check(mode):
    assert mode == "train" or "test"  # TL712
    if mode != "train" or mode != "test":  # TL712
        raise ValueError(mode)
```
```python good
def check(mode, default):
    assert mode in ("train", "test")
    if mode != "train" and mode != "test":
        raise ValueError(mode)
    return mode or "train"
```

Nan equals nothing, a `torch.device` equals no text, and `torch.tensor` is a function that makes tensors, not their type.

```python bad
def report(loss: torch.Tensor, value):
    if loss.item() == float("nan"):  # TL712
        print("diverged")
    if loss.device == "cuda":  # TL712
        torch.cuda.synchronize()
    if type(value) == torch.tensor:  # TL712
        value = value.item()
```
```python good
def report(loss: torch.Tensor, value):
    if torch.isnan(loss):
        print("diverged")
    if loss.device.type == "cuda":
        torch.cuda.synchronize()
    if type(value) == torch.Tensor:
        value = value.item()
```

Which conditions have one answer: `torchlint/source/answers/constant_conditions.py`.
"""

from torchlint import Node, on_node
from torchlint.source.answers.constant_conditions import asked_before, settled_comparison, settled_operands

read_on = ("TL513", "torch.isnan", "tensor_attributes#torch.device")
severity = "info"  # in public code what follows was right all the same, of four times three


@on_node("BoolOp")
def check_operands(place: Node):
    """`mode == "train" or "test"`"""
    yield from _findings(place, settled_operands(place.module, place.node))


@on_node("Compare")
def check_comparison(place: Node):
    """`loss == numpy.nan`"""
    yield from _findings(place, settled_comparison(place.module, place.node))


@on_node("If")
def check_branches(place: Node):
    """`elif name == "adam":` below `if name == "adam":`"""
    if (before := asked_before(place.module, place.node)) is not None:
        yield place.finding(
            f"`{place.quoted(place.node.test)}` has been asked before: this never runs",
            help="ask what is meant here",
            notes=[place.note(before.test, "asked here")],
            at=place.node.test,
        )


@on_node("Assert")
def check_assertion(place: Node):
    """`assert (x > 0, "must be positive")`"""
    test = place.node.test
    if place.node.msg is None and test.__class__.__name__ == "Tuple" and test.elts:
        yield place.finding("a tuple is always true: this asserts nothing", help="take the brackets away", at=test)


def _findings(place, settled):
    if settled is not None:
        text = place.quoted(settled.node)
        yield place.finding(f"`{text}` {settled.said}", help=settled.help, at=settled.node)
