"""scikit-learn around a network: what is loaded, split and scaled has the sizes and dtypes that it really has."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import faults_of

USE = """
import numpy as np
import torch
from sklearn import datasets
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.preprocessing import LabelEncoder, MinMaxScaler, StandardScaler
from torch import nn
x, y = datasets.load_iris(return_X_y=True)
"""
ROWS = {  # the shape of `rows`
    "what is loaded": ("rows = torch.tensor(datasets.load_wine()['data']).float()", "(178, 13)"),
    "what is drawn": ("rows = torch.tensor(datasets.make_classification(50, n_features=7)[0]).float()", "(50, 7)"),
    "a quarter is held out": ("rows = torch.tensor(train_test_split(x, y)[0]).float()", "(112, 4)"),
    "so many are held out": ("rows = torch.tensor(train_test_split(x, y, test_size=30)[1]).float()", "(30, 4)"),
    "parts of a tensor": ("rows = train_test_split(torch.zeros(10, 6), test_size=0.25)[1]", "(3, 6)"),
    "parts of the places": (
        "train, test = train_test_split(np.arange(len(x)), train_size=0.6)\nrows = torch.tensor(x[train]).float()",
        "(90, 4)",
    ),
    "a scaled table": ("rows = torch.tensor(StandardScaler().fit_transform(x)).float()", "(150, 4)"),
    "fewer columns": ("rows = torch.tensor(PCA(n_components=2).fit(x).transform(x)).float()", "(150, 2)"),
    "a fold": ("for train, test in KFold(4).split(x):\n    break\nrows = torch.tensor(x[train]).float()", "(112, 4)"),
    "a fold by classes": (
        "for train, test in StratifiedKFold(4).split(x, y):\n    break\nrows = torch.tensor(x[test]).float()",
        "(?, 4)",
    ),
}


@pytest.mark.parametrize("before, shape", ROWS.values(), ids=ROWS)
def test_sizes(tmp_path, before, shape):
    columns = int(shape.strip("()").split(", ")[1])
    for takes in (columns, columns + 1):
        found = faults_of(tmp_path, f"{before}\nnn.Linear({takes}, 2)(rows)\n", USE)
        assert [(f.message, f.presumed) for f in found] == [
            (f"Linear takes {takes} features but gets {columns} in `rows` {shape}", False)
        ] * (takes != columns)


@pytest.mark.parametrize(
    "wrong, right",
    [
        ("nn.Linear(4, 2)(torch.from_numpy(x))", "nn.Linear(4, 2)(torch.from_numpy(x).float())"),
        (
            "nn.Linear(4, 2)(torch.from_numpy(MinMaxScaler().fit_transform(x)))",
            "nn.Linear(4, 2)(torch.from_numpy(MinMaxScaler().fit_transform(x.astype(np.float32))))",
        ),
        ("StandardScaler().fit_transform(y)", "StandardScaler().fit_transform(y.reshape(-1, 1))"),
        (
            "nn.functional.cross_entropy(torch.zeros(150, 3), torch.tensor(y).float().unsqueeze(1))",
            "nn.functional.cross_entropy(torch.zeros(150, 3), torch.tensor(LabelEncoder().fit_transform(y)))",
        ),
    ],
)
def test_dtypes_and_axes(tmp_path, wrong, right):
    assert len(faults_of(tmp_path, wrong, USE)) == 1
    assert not faults_of(tmp_path, right, USE)
