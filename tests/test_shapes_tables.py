"""Tables that a program writes down itself: how many rows they have, and of which dtypes their columns are."""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("torch")

from dry import faults_of

USE = "import numpy as np\nimport pandas as pd\nimport torch\nfrom torch import nn\n"
TABLE = 'df = pd.DataFrame({"a": [1.0, 2.0, 3.0], "n": [1, 2, 3], "on": [True, False, True]})\n'
FLOATS = "nn.Linear(1, 1)(torch.from_numpy(X.to_numpy()).unsqueeze(1))"
ROWS = "torch.zeros(4) + torch.from_numpy(X.to_numpy())"
INTEGERS = "nn.Embedding(9, 2)(torch.from_numpy(X.to_numpy()))"


@pytest.mark.parametrize(
    "program",
    [
        FLOATS.replace("X", 'df["a"]'),
        FLOATS.replace("X", 'df["n"]'),
        FLOATS.replace("X", "df.n"),
        INTEGERS.replace("X", 'df["a"]'),
        INTEGERS.replace("X", 'df["on"]'),
        ROWS.replace("X", 'df["n"]'),
        'nn.Linear(2, 1)(torch.tensor(df[["a", "n"]].values))',
        "torch.zeros(len(df), 2) @ torch.zeros(3, 2)",
        'torch.from_numpy(pd.DataFrame({"b": np.ones(5)}).values) + torch.ones(4, 1)',
    ],
)
def test_what_is_written_down_is_known(tmp_path, program):
    assert len(faults_of(tmp_path, TABLE + f"print({program})\n", use=USE)) == 1


@pytest.mark.parametrize(
    "program",
    [
        'df["n"] = df["n"] / 2\n' + INTEGERS.replace("X", 'df["n"]'),
        INTEGERS.replace("X", 'df["n"]'),
        'df["a"] = df["a"].map(int)\n' + INTEGERS.replace("X", 'df["a"]'),
        'df = pd.DataFrame({"n": [1, 2]})\nx = df["n"].shift()\nprint(nn.Linear(1, 1).double()(torch.from_numpy(x.to_numpy()).unsqueeze(1)))',
        'df = pd.DataFrame({"n": [1, None]})\nprint(nn.Linear(1, 1).double()(torch.from_numpy(df["n"].to_numpy()).unsqueeze(1)))',
        "df.loc[3] = [1.0, 2, True]\n" + ROWS.replace("X", 'df["n"]'),
        "df.drop(0, inplace=True)\nprint(torch.zeros(2) + torch.from_numpy(df['n'].to_numpy()))",
        "df.dropna(inplace=True)\nprint(torch.zeros(2) + torch.from_numpy(df['n'].to_numpy()))",
        "df = df[df['a'] > 1]\nprint(torch.zeros(2) + torch.from_numpy(df['n'].to_numpy()))",
        "print(torch.zeros(5) + torch.from_numpy(pd.DataFrame({'n': [1, 2]}, index=range(5))['n'].to_numpy()))",
    ],
)
def test_what_becomes_of_it_is_not(tmp_path, program):
    assert faults_of(tmp_path, TABLE + textwrap.dedent(program) + "\n", use=USE) == ()
