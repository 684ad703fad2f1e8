"""Expressions and texts of any length, one to a program, for benchmarks/growth.py."""

from __future__ import annotations

from collections.abc import Callable

from growth_statements import in_file

DEEP = 80  # what Python's parser lets stand in each other

Length = Callable[[int], str]
EXPRESSIONS: dict[str, Length] = {
    "sum": lambda n: "x = " + "x + " * n + "x",
    "sum of calls": lambda n: "x = " + "torch.relu(x) + " * n + "x",
    "sum of losses": lambda n: (
        "loss = " + " + ".join(f"criterion(model(x), y) * {i}" for i in range(1, n + 1)) + "\nloss.backward()"
    ),
    "product": lambda n: "x = " + "x * " * n + "x",
    "signs": lambda n: "\n".join("x = " + "-" * DEEP + "x" for _ in range(n // DEEP + 1)),
    "powers": lambda n: "\n".join("x = " + "x ** " * DEEP + "1" for _ in range(n // DEEP + 1)),
    "chain of attributes": lambda n: "v = torch" + ".a" * n,
    "chain of attributes of a tensor": lambda n: "v = x" + ".T" * n,
    "chain of calls": lambda n: "x = x" + ".abs()" * n,
    "chain of different calls": lambda n: "x = x" + ".detach().to(y).relu_().view(8, 8)" * (n // 4 + 1),
    "chain of calls of calls": lambda n: "x = x" + "()" * n,
    "chain of indexes": lambda n: "v = x" + "[0]" * n,
    "calls in calls": lambda n: "\n".join(
        "x = " + "torch.relu(" * DEEP + "x" + ")" * DEEP for _ in range(n // DEEP + 1)
    ),
    "calls of the model in calls": lambda n: "\n".join(
        "x = " + "model(" * DEEP + "x" + ")" * DEEP for _ in range(n // DEEP + 1)
    ),
    "lists in lists": lambda n: "\n".join("v = " + "[" * DEEP + "x" + "]" * DEEP for _ in range(n // DEEP + 1)),
    "tables in tables": lambda n: "\n".join("v = " + "{1: " * DEEP + "x" + "}" * DEEP for _ in range(n // DEEP + 1)),
    "parentheses": lambda n: "\n".join("x = " + "(" * DEEP + "x" + " + 1)" * DEEP for _ in range(n // DEEP + 1)),
    "lambdas in lambdas": lambda n: "\n".join(
        "v = " + "(lambda: " * DEEP + "x" + ")()" * DEEP for _ in range(n // DEEP + 1)
    ),
    "comprehensions in comprehensions": lambda n: "\n".join(
        "xs = " + "[" * 15 + "x" + " for x in xs]" * 15 for _ in range(n // 15 + 1)
    ),
    "comprehension of many fors": lambda n: "xs = [x" + "".join(f" for v{i} in xs" for i in range(n)) + "]",
    "comprehension of many ifs": lambda n: "xs = [x for x in xs" + " if flag" * n + "]",
    "conditions": lambda n: "x = " + "".join(f"torch.relu(x) if flag > {i} else " for i in range(n)) + "x",
    "ands": lambda n: "v = " + "x and " * n + "y",
    "ors": lambda n: "x = " + " or ".join(f"xs[{i}]" for i in range(n)),
    "comparison": lambda n: "v = x" + " < y" * n,
    "list": lambda n: "xs = [" + "x, " * n + "]\nx = xs[0]",
    "list of numbers": lambda n: "x = torch.tensor([" + ", ".join(map(str, range(n))) + "])",
    "list of calls": lambda n: "xs = [" + "torch.relu(x), " * n + "]\nx = sum(xs)",
    "list of layers": lambda n: (
        "net = nn.Sequential(*[" + "nn.Linear(8, 8), nn.ReLU(inplace=True), " * (n // 2 + 1) + "])\nx = net(x)"
    ),
    "sequence of layers": lambda n: (
        "net = nn.Sequential("
        + "nn.Linear(8, 8), nn.ReLU(inplace=True), " * (n // 2 + 1)
        + "nn.Softmax())\nloss = F.cross_entropy(net(x), y)"
    ),
    "tuple": lambda n: "v = (" + "x, " * n + ")\nx = v[0]",
    "set": lambda n: "v = {" + "x, " * n + "}",
    "table": lambda n: "table = {" + ", ".join(f'"k{i}": x' for i in range(n)) + '}\nx = table["k0"]',
    "table of names read": lambda n: (
        "table = {"
        + ", ".join(f'"k{i}": x' for i in range(n))
        + "}\n"
        + "\n".join(f'x = table["k{i}"]' for i in range(n))
    ),
    "table of tables": lambda n: "table = {" + "**table, " * n + "}",
    "arguments": lambda n: "print(" + "x, " * n + ")",
    "keywords": lambda n: "table = dict(" + ", ".join(f"k{i}=x" for i in range(n)) + ")",
    "stars": lambda n: "print(" + "*xs, " * n + ")",
    "targets": lambda n: "v = " + " = ".join(f"v{i}" for i in range(n)) + " = torch.zeros(1)",
    "targets of one name": lambda n: "v = " * n + "torch.zeros(1)",
    "targets in a tuple": lambda n: (
        ", ".join(f"v{i}" for i in range(n)) + " = xs\n" + "x = " + " + ".join(f"v{i}" for i in range(n))
    ),
    "targets in tuples": lambda n: "\n".join("(" * DEEP + "x" + ", )" * DEEP + " = xs" for _ in range(n // DEEP + 1)),
    "deleted names": lambda n: (
        "\n".join(f"v{i} = x" for i in range(n)) + "\ndel " + ", ".join(f"v{i}" for i in range(n))
    ),
    "slices": lambda n: "v = x[" + "0:1, " * n + "]",
    "text in pieces": lambda n: "v = (" + '"a" ' * n + ")",
    "text in pieces with values": lambda n: 'print(f"' + "{x} " * n + '")',
    "formats in formats": lambda n: "\n".join('print(f"{x:{y}} {loss.item():.3f}")' for _ in range(n)),
    "long text": lambda n: 'v = "' + "torch.relu(x) " * n + '"',
    "long text of many lines": lambda n: 'v = """' + "import torch\nx = 1  # noqa\n" * n + '"""',
    "long comment": lambda n: "x = x  # " + "noqa " * n,
    "long comment of spaces": lambda n: "x = x  #" + " " * 10 * n + "x",
    "long comment of codes": lambda n: "x = x  # noqa: " + "TL101, " * n,
    "long comment of codes without commas": lambda n: "x = x  # noqa: " + "TL101" * n,
    "long comment of a suppression": lambda n: "x = x  # torchlint: ignore[" + "TL101, " * n,
    "long comment of hashes": lambda n: "x = x  " + "# " * n + "noqa",
    "comments": lambda n: "# noqa\n" * n,
    "suppressions of all kinds": lambda n: (
        "x = x  # noqa\nx = x  # torchlint: ignore[TL101] a reason\nx = x  # type: ignore # noqa:TL102\n" * n
    ),
    "suppressions in one text of many lines": lambda n: 'x = """' + "\n" * n + '"""  # noqa',
    "empty lines": lambda n: "\n" * n,
    "blanks": lambda n: "x = x" + " " * 10 * n + "+ 1",
    "continued line": lambda n: "x = x " + "\\\n  " * n + "+ 1",
    "long name": lambda n: "v" * 10 * n + " = x",
    "long number": lambda n: "v = " + "9" * min(n, 4000),
    "long import": lambda n: "from torch import (" + ", ".join(f"relu as r{i}" for i in range(n)) + ")",
    "long import without an end": lambda n: 'v = """\n' + "import (a\n" * n + '"""',
    "import of a long path": lambda n: "import " + ".".join(["a"] * n),
    "imports of long paths": lambda n: (
        "import torch" + ".nn" * 10 + "\n" + "\n".join(f"import a.b{i}.c" for i in range(n))
    ),
    "decorators": lambda n: "@torch.no_grad()\n" * n + "def f(x):\n    return model(x)\nx = f(x)",
    "parameters of a function": lambda n: (
        "def f("
        + ", ".join(f"a{i}=x" for i in range(n))
        + "):\n    return "
        + " + ".join(f"a{i}" for i in range(n))
        + "\nx = f(x)"
    ),
    "arguments of a function": lambda n: (
        "def f("
        + ", ".join(f"a{i}" for i in range(n))
        + "):\n    return "
        + " + ".join(f"a{i}" for i in range(n))
        + "\nx = f("
        + "x, " * n
        + ")"
    ),
    "elifs": lambda n: (
        "if flag == 0:\n    x = x\n" + "\n".join(f"elif flag == {i}:\n    x = x + {i}" for i in range(1, n))
    ),
    "elifs of tensors": lambda n: (
        "if flag == 0:\n    v = torch.zeros(1)\n"
        + "\n".join(f"elif flag == {i}:\n    v = torch.zeros(1)" for i in range(1, n))
        + "\nx = x + v"
    ),
    "cases": lambda n: "match count:\n" + "\n".join(f"    case {i}:\n        x = x + {i}" for i in range(n)),
    "cases of many forms": lambda n: (
        "match count:\n    case " + " | ".join(map(str, range(n))) + ":\n        x = x + 1"
    ),
    "except clauses": lambda n: (
        "try:\n    x = model(x)\n" + "\n".join("except ValueError:\n    x = x + 1" for _ in range(n))
    ),
    "items of a with": lambda n: (
        "with " + ", ".join(f"torch.no_grad() as a{i}" for i in range(n)) + ":\n    y = model(x)"
    ),
    "global names": lambda n: (
        "\n".join(f"v{i} = x" for i in range(n))
        + "\ndef f():\n    global "
        + ", ".join(f"v{i}" for i in range(n))
        + "\n"
        + "\n".join(f"    v{i} = v{i} + 1" for i in range(n))
    ),
    "semicolons": lambda n: "x = x + 1; " * n,
}


def _blocks(openings: list[str], inner: str, n: int) -> str:
    """Blocks in each other, as often as it takes to have about n of them."""
    deep = "".join(f"{' ' * i}{line}\n" for i, line in enumerate(openings)) + f"{' ' * len(openings)}{inner}"
    return "\n".join(deep for _ in range(n // len(openings) + 1))


NESTED: dict[str, Length] = {
    "ifs in ifs": lambda n: _blocks(["if flag:"] * 60, "x = x + 1", n),
    "ifs in ifs with bindings": lambda n: _blocks(["if flag:"] * 60, "x = torch.relu(x)", n) + "\nprint(x)",
    "ifs in elses": lambda n: "\n".join(
        "".join(f"{' ' * i}if flag == {i}:\n{' ' * i} x = torch.relu(x)\n{' ' * i}else:\n" for i in range(60))
        + " " * 60
        + "x = x + 1"
        for _ in range(n // 60 + 1)
    ),
    "loops in loops": lambda n: _blocks([f"for i{i} in range(2):" for i in range(15)], "x = x + 1", n),
    "training in loops in loops": lambda n: _blocks(
        [f"for i{i} in range(2):" for i in range(15)],
        "loss = criterion(model(x), y); loss.backward(); optimizer.step()",
        n,
    ),
    "withs in withs": lambda n: _blocks(["with torch.no_grad():"] * 15, "y = model(x)", n),
    "functions in functions": lambda n: _blocks([f"def f{i}(x):" for i in range(40)], "return x + 1", n),
    "classes in classes": lambda n: _blocks(
        [f"class C{i}(nn.Module):" for i in range(40)], "def forward(self, x): return x + 1", n
    ),
    "tries in tries": lambda n: "\n".join(
        "".join(f"{' ' * i}try:\n" for i in range(15))
        + " " * 15
        + "x = model(x)\n"
        + "".join(f"{' ' * i}except ValueError:\n{' ' * i} x = x + 1\n" for i in reversed(range(15)))
        for _ in range(n // 15 + 1)
    ),
}


def program(text: str) -> str:
    return in_file(text.split("\n"))
