"""Small words of the text world: the dtype of a tensor, how a dataset is read, what a call is given by keyword."""

from __future__ import annotations

import ast

import pytest
import torch
from asking import asked, module_of

from torchlint.source.flow.values import Value
from torchlint.source.training.datasets import reading
from torchlint.source.training.dtypes import dtype
from torchlint.source.training.keyword_values import keyword_values

PRELUDE = "import torch\nfrom torch.utils.data import Dataset, IterableDataset, Subset, TensorDataset\n"


@pytest.mark.parametrize(
    "line, known",
    [
        ("ask(x.argmax(1))", "int64"),
        ("_, i = x.max(1)\nask(i)", "int64"),
        ("ask(x > 0)", "bool"),
        ("y = x.to('cuda').int()\nask(y.view(-1))", "int32"),
        ("ask(x.long().to(device))", "int64"),
        ("ask(x.type(torch.LongTensor))", "int64"),
        ("ask(torch.zeros(3, dtype=torch.uint8)[0])", "uint8"),
        ("ask(torch.tensor([1, 2]))", "int64"),
        ("ask(torch.tensor([[1.0, 2]]))", "float32"),
        ("ask(torch.tensor([True]))", "bool"),
        ("ask(torch.randint(0, 9, (3,)).float())", "float32"),
        ("ask(torch.softmax(x, 1))", "float32"),
    ],
)
def test_a_dtype_is_what_torch_makes(line: str, known: str) -> None:
    given = "x, device = torch.rand(2, 3), 'cpu'\n"
    assert dtype(asked(module_of(f"{PRELUDE}{given}{line}"))) == known
    seen: list = []
    runnable = line.replace("'cuda'", "'cpu'")
    exec(f"import torch\n{given}{runnable}", {"ask": seen.append, "torch": torch})
    assert str(seen[0].dtype) == f"torch.{known}"


@pytest.mark.parametrize(
    "line",
    [
        "ask(given)",
        "ask(given.to(other))",
        "ask(torch.tensor(given))",
        "ask(given.long() if given else given.int())",
        "torch.set_default_dtype(torch.float64)\nask(torch.zeros(3))",
        "ask(torch.zeros(3, dtype=kind))",
    ],
)
def test_of_other_tensors_no_dtype_is_said(line: str) -> None:
    assert dtype(asked(module_of(PRELUDE + line))) is None


@pytest.mark.parametrize(
    "dataset, known",
    [
        ("TensorDataset(x)", "indexed"),
        ("Subset(x, [1, 2])", "indexed"),
        ("Rows()", "indexed"),
        ("Lines()", "iterated"),
        ("given", None),
        ("Rows() if given else Lines()", None),
    ],
)
def test_how_a_dataset_is_read(dataset: str, known: str | None) -> None:
    classes = (
        "class Rows(Dataset):\n    def __getitem__(self, i):\n        return i\n"
        "class Lines(IterableDataset):\n    def __iter__(self):\n        yield 1\n"
    )
    assert reading(asked(module_of(f"{PRELUDE}{classes}ask({dataset})"))) == known


@pytest.mark.parametrize(
    "text, values",
    [
        ("ask(f(a=1))", ["1"]),
        ("o = {'a': 1}\nask(f(**o))", ["1"]),
        ("o = dict(a=1)\nask(f(**o))", ["1"]),
        ("o = {}\no['a'] = 2\nask(f(**o))", ["2"]),
        ("o = {'a': 1}\no.update(a=2)\nask(f(**o))", ["2"]),
        ("o = {'a': 1}\no.update({'a': 3})\nask(f(**o))", ["3"]),
        ("o = {'a': 1}\nask(f(**(o | {'a': 4})))", ["4"]),
        ("o = {}\no.setdefault('a', 5)\nask(f(**o))", ["5"]),
        ("o = {'a': 1}\no.setdefault('a', 5)\nask(f(**o))", ["1"]),
        ("def g(**o):\n    o.setdefault('a', 5)\n    ask(f(**o))", ["o"]),
        ("o = {'a': 1}\nask(f(**o))\no['a'] = 2", ["1"]),
        ("o = {'b': 1}\nask(f(**o))", []),
    ],
)
def test_keywords_are_found_through_options(text: str, values: list[str]) -> None:
    found: list[Value] = keyword_values(asked(module_of(text)), "a")
    assert [ast.unparse(value.node) for value in found] == values
