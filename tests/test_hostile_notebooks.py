"""Notebooks that are made to hold up whoever reads them: what is done to their cells is done once for each."""

import json
import time

import pytest

from tests.effort import calls_of
from torchlint.source.text.magics import mask
from torchlint.source.text.notebook import MOST_FORGOTTEN, Notebook, NotebookError

SECONDS = 2  # CPU, of patterns, which call nothing that could be counted; those that failed took minutes
MANY = 20_000


def notebook(*cells: str, has_run: bool = False) -> str:
    whole = [
        {"cell_type": "code", "execution_count": at if has_run else None, "metadata": {}, "outputs": [], "source": cell}
        for at, cell in enumerate(cells, 1)
    ]
    return json.dumps({"cells": whole, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.mark.parametrize("line", ["!ls ()(\n", "%ls ()[\n", "x = !ls ()(\n"])
def test_what_follows_an_open_bracket_of_a_magic_is_not_read_for_each(line):
    few, many = (calls_of(lambda n=n: mask(line * n), 10**7) for n in (200, 800))
    assert many < 4.4 * few


def test_a_question_for_help_is_one_only_where_no_bracket_is_open():
    assert mask("f(\n  x?\n)\n").text == "f(\n  x?\n)\n"
    assert mask("x?\n").text == "#\n"
    assert mask("f(x?\n)\n").text == "f(x?\n)\n"


def test_names_that_are_forgotten_again_and_again_are_too_many():
    names = "".join(f"name{i} = 1\n" for i in range(1000))
    runs = MOST_FORGOTTEN // 1000
    assert Notebook.parse(notebook(names, "%run a.py\n" * runs)).text.count("del name0") == runs
    for cells in (("%run a.py\n" * (runs + 1),), ("%run a.py\n",) * (runs + 1)):
        with pytest.raises(NotebookError, match="again and again"):
            Notebook.parse(notebook(names, *cells))


@pytest.mark.parametrize(
    "line",
    ["def f(" * MANY + " 1 2", "x 1 2 # your" + "_" * MANY, "x 1 2 # " + "your " * MANY, "x 1 2 # fill" + " _" * MANY],
)
def test_a_gap_in_a_cell_is_looked_for_once(line):
    start = time.process_time()
    assert len(Notebook.parse(notebook("import torch\n", line)).broken) == 1
    assert time.process_time() - start < SECONDS


def test_cells_that_need_what_a_scratch_says_are_looked_for_once():
    def read(n: int) -> int:
        text = notebook("import torch\n", *(f"xx{i} = 1 2" for i in range(n)), has_run=True)
        return calls_of(lambda: Notebook.parse(text), 10**7)

    few, many = read(100), read(400)
    assert many < 4.4 * few


@pytest.mark.parametrize(
    ("later", "is_scratch"),
    [
        ("print(a)", False),
        ("a = 3\nprint(a)", True),
        ("for a in b:\n    print(a)", True),
        ("a == 3", False),
        ("print(aa, a)", False),
        ("print(aa)", True),
        ("for a", True),
    ],
)
def test_a_cell_needs_a_name_that_it_uses_before_it_sets_it(later, is_scratch):
    broken = Notebook.parse(notebook("a = 1 2", later, has_run=True)).broken[0]
    assert (broken.cell, broken.is_scratch) == (1, is_scratch)
