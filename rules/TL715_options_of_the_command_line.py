"""Read only options that the parser has, add each once, and give no option `type=bool`.

`args.suffix` of an option that nobody adds is an AttributeError, perhaps after hours of training. An option that is added
twice is refused by argparse before anything runs. And `type=bool` does not do what it says: what stands on the command
line is a string, each string but the empty one is true, so that `--pretrained False` switches it on.

```python bad
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--resume", default="")
parser.add_argument("--resume", action="store_true")  # TL715
args = parser.parse_args()
model = nn.Linear(4, 2)
for _ in range(args.epoch):  # TL715
    model(torch.zeros(1, 4))
```
```python bad
import argparse

def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pretrained", type=bool, default=True)  # TL715
    parser.add_argument("--amp", type=bool, action="store_true")  # TL715
    return parser.parse_args()

net = build(pretrained=options().pretrained)
```
```python good
import argparse

def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pretrained", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--amp", action="store_true")
    return parser.parse_args()

args = options()
args.device = "cuda" if args.amp else "cpu"
x = torch.zeros(3, device=args.device)
```

A flag that is off by default, and takes any word, is a remark: `--amp True` does what is meant. So is one that
nothing reads.

```python remark
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--amp", type=bool, default=False)  # TL715
parser.add_argument("--use-gpu", type=bool, default=True)  # TL715
print(parser.parse_args().amp)
# net = build(parser.parse_args().use_gpu)
```

Silent where options may come from somebody else: `torchlint/source/answers/options_of_parsers.py`.
"""

import ast
from difflib import get_close_matches

from torchlint import Node, on_node
from torchlint.source.answers.options_of_parsers import added_twice, is_option, is_read, unknown_options

read_on = ("TL616", "elastic/run")


@on_node("Module", needs="add_argument")
def check(file: Node):
    for twice in added_twice(file.module):
        place = file.at(twice.again)
        yield place.finding(
            f"`{place.short}` is added a second time: argparse refuses it",
            help="take one away, or give it another name",
            notes=[place.note(twice.first, "which is added here")],
        )
    for unknown in unknown_options(file.module):
        place = file.at(unknown.read)
        near = get_close_matches(unknown.read.attr, sorted(unknown.options), 1)
        of = place.source(unknown.read.value)
        yield place.finding(
            f"no option is called `{unknown.read.attr}`: this is an AttributeError",
            help=f"did you mean `{of}.{near[0]}`?" if near else f'add it: `add_argument("--{unknown.read.attr}", …)`',
        )


@on_node("Call", called="add_argument", needs="argparse")
def check_truths(place: Node):
    """`type=bool`"""
    given = {keyword.arg: keyword.value for keyword in place.node.keywords}
    if "type" not in given or place.name(given["type"]) not in ("bool", "builtins.bool"):
        return
    if not is_option(place.module, place.node):
        return
    default, action = given.get("default"), getattr(given.get("action"), "value", None)
    if isinstance(action, str) and action.startswith("store_"):
        yield place.finding(
            f'`action="{action}"` takes no `type`: argparse refuses it', help="leave out `type=bool`", at=given["type"]
        )
    elif "action" not in given:
        is_on = isinstance(default, ast.Constant) and default.value is True
        is_off = default is None or isinstance(default, ast.Constant) and default.value is False
        yield place.finding(
            "`type=bool` takes any text but an empty one for true, `False` too",
            help='write `action="store_true"`' if is_off else "write `action=argparse.BooleanOptionalAction`",
            at=given["type"],
            severity="warning" if is_on and is_read(place.module, place.node) else "info",
        )
