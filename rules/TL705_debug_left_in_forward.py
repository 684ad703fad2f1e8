"""Take the debugger, the `print` and the profiler out of a forward when the bug is found.

A forward runs for every batch. `print(x.mean())` waits for the GPU each time and fills the log, a profiler costs more than
the layer that it measures, and at `breakpoint()` a job on a cluster waits for a key until its time is over.
`torch.compile` cannot look through any of them.

```python remark
class Net(nn.Module):
    def forward(self, x):
        x = torch.relu(x)
        print(x.shape)  # TL705
        return x
```
```python fixed
class Net(nn.Module):
    def forward(self, x):
        x = torch.relu(x)
        return x
```
```python bad
import pdb

class Net(nn.Module):
    def forward(self, x):
        y = x.softmax(-1)
        pdb.set_trace()  # TL705
        with torch.autograd.profiler.profile() as report:  # TL705
            return y * x
```

Only a stop that comes in every forward is more than a remark: half of the prints in public code stood in classes that
nobody makes any more, or are what a notebook is for. A stop that waits for a value that should not be, or for an error,
is a remark too, as is one in a class that nobody builds (`torchlint/source/answers/unbuilt_classes.py`).

```python remark
class Net(nn.Module):
    def forward(self, x):
        y = x.softmax(-1)
        assert y.dim() == 2, breakpoint()  # TL705
        if y.isnan().any():
            breakpoint()  # TL705
        try:
            return y @ x.T
        except RuntimeError:
            breakpoint()  # TL705
```

Behind a flag it is a choice, and a module that does nothing but show is meant to. So is the line of a log, and the
number of the round in which a sampler is.

```python good
class Net(nn.Module):
    def forward(self, x):
        if self.verbose:
            print(x.shape)
        if x.size(0) > 100:
            print("a large batch")
        with torch.profiler.record_function("net"):
            return x + 1

class Boxes(nn.Module):
    def forward(self, x, y):
        loss = (x - y).abs().mean()
        print("%d boxes, loss %6.3f" % (len(y), loss))
        return loss

class Sampler(nn.Module):
    def forward(self, x):
        for step in reversed(range(1000)):
            print(step)
            x = self.denoise(x, step)
        return x

class Show(nn.Module):
    def forward(self, x):
        print(x.shape)
        return x

class Stop(nn.Module):
    def forward(self, x):
        import pdb
        pdb.set_trace()
        return x

class Trainer(nn.Module):
    def forward(self, *inputs):
        print("not implemented")
        pass

def forward(x):
    print(x)
    return x
```

Which functions print for others: `torchlint/source/answers/printing_helpers.py`.
"""

import ast
from pathlib import PurePath

from torchlint import ModuleClass, on_module
from torchlint.source.answers.printing_helpers import calls_that_print
from torchlint.source.answers.unbuilt_classes import is_built_by_nobody

read_on = ("TL704", "profiler")
in_tests = False

STOPS = ("builtins.breakpoint", "pdb.set_trace", "ipdb.set_trace", "pudb.set_trace", "IPython.embed")
PROFILES = ("torch.profiler.profile", "torch.autograd.profiler.profile", "torch.autograd.profiler.emit_nvtx")
SHOWS = ("builtins.print",)
WRITES = ("open", "write", "save", "savefig", "log", "log_metrics", "add_scalar", "add_scalars", "dump", "to_csv")
MEANT = ("debug", "verbose", "profil", "trace", "print", "log")  # what a test, a class or a parameter may be called


@on_module(needs=("forward", "print|breakpoint|set_trace|profile|embed"))
def check(cls: ModuleClass):
    forward = cls.method("forward")
    shown = is_meant(cls.node.name) or "demo" in PurePath(cls.module.path).stem.lower()
    if forward is None or only_shows(forward) or trains(cls, forward) or shown or reports(cls, forward):
        return
    run = [forward, *helpers(cls, forward)]
    words = ("breakpoint", "set_trace", "embed", "profile", "emit_nvtx", "print")
    shown = [call for method in run for call in calls_that_print(cls.module, method) if not is_meant(cls.word(call))]
    written = (call for method in run for call in cls.calls(*words, inside=method))
    for call in (*written, *map(cls.at, shown)):
        if call.function not in run or any(is_meant(call.source(test)) for test, _ in call.tests):
            continue
        statement = call.statement
        waits = bool(call.tests) or is_of_an_error(statement) or isinstance(statement.up, ast.ExceptHandler)
        if call.is_call(*STOPS):
            what = "stops the program, each time it comes here"
        elif call.is_call(*PROFILES) and not call.tests:
            what = "measures each forward, and slows it"
        elif (
            (call.node in shown or call.is_call(*SHOWS))
            and not call.tests
            and not is_logged(call)
            and not is_of_an_error(statement)
            and not isinstance(statement.up, (ast.Try, ast.ExceptHandler))
        ):
            what = "prints for every batch"
        else:
            continue
        is_sure = call.is_call(*STOPS) and not waits and not is_built_by_nobody(cls.module, cls.node)
        alone = isinstance(statement, ast.Expr) and statement.value is call.node and not call.tests
        yield cls.finding(
            f"`{call.short}` in {'a' if call.function is forward else 'what is run by each'} forward {what}",
            help="remove it, or put it behind a flag",
            fix=cls.fix("remove it", cls.delete(statement), applicability="unsafe") if alone else None,
            at=call.node,
            severity="warning" if is_sure else "info",
        )


def helpers(cls: ModuleClass, forward) -> list:
    """The methods of the class that compute a part of each forward, but not those that are made to show."""
    called = [cls.at(call) for call in cls.inside(ast.Call, of=forward) if isinstance(call.func, ast.Attribute)]
    named = [call for call in called if call.source(call.node.func) == f"self.{call.word()}"]
    own = {call.word() for call in named if call.function is forward and not call.tests} - {"forward"}
    methods = [cls.method(word) for word in sorted(own) if cls.method(word) is not None and not is_meant(word)]
    return [method for method in methods if not only_shows(method) and gives(cls, method)]


def gives(cls: ModuleClass, function) -> bool:
    """Does it return something?"""
    returned = (r for r in cls.inside(ast.Return, of=function) if cls.at(r).function is function)
    return any(cls.source(r.value) not in ("", "None") for r in returned)


def is_meant(text: str) -> bool:
    return any(word in text.lower() for word in MEANT)


def is_logged(call) -> bool:
    """Is it the line of a log, which names the loss it shows, or the number of a round?"""
    shown = [ast.unparse(a) for a in call.node.args]
    if any(isinstance(loop, ast.For) and shown == [ast.unparse(loop.target)] for loop in call.loops):
        return True
    return "loss" in ast.unparse(call.node).lower()


def is_of_an_error(statement) -> bool:
    """Is it what an assert says, or the last word before something is raised?"""
    if isinstance(statement, ast.Assert):
        return True
    blocks = (getattr(statement.up, name, []) for name in ("body", "orelse"))
    block = next((block for block in blocks if statement in block), [])
    return bool(block) and any(isinstance(later, ast.Raise) for later in block[block.index(statement) :])


def only_shows(forward) -> bool:
    """Does it compute nothing at all?"""
    return all(isinstance(s, (ast.Expr, ast.Return, ast.Pass, ast.Import)) and not computes(s) for s in forward.body)


def computes(statement) -> bool:
    return isinstance(statement, ast.Return) and not isinstance(statement.value, (ast.Name, ast.Constant, type(None)))


def trains(cls: ModuleClass, forward) -> bool:
    """Is it a whole training, which a module is called for once?"""
    return cls.says("backward") and any(node.attr == "backward" for node in cls.inside(ast.Attribute, of=forward))


def reports(cls: ModuleClass, forward) -> bool:
    """Is it a metric, or does it return nothing and write into a log or a file? That is called once for all batches."""
    if any("metric" in name.lower() for name in (cls.node.name, *map(cls.word, cls.node.bases))):
        return True
    return not gives(cls, forward) and bool(cls.calls(*WRITES, inside=forward))
