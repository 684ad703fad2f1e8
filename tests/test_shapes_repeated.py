"""A program is judged like the first time when it is run again: no answer that is kept says more or less than torch."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run
from torchlint.shapes.tensors import dispatch

MADE = {
    "coordinates": "torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), torch.ones(2), (4, 4)).coalesce()",
    "rows": "torch.sparse_csr_tensor(torch.tensor([0, 1, 2]), torch.tensor([0, 1]), torch.ones(2), (2, 4))",
    "of a dense one": "torch.eye(4).to_sparse()",
    "names": "torch.zeros(3, 4, names=('rows', 'columns')).rename(None)",
    "complex": "torch.view_as_real(torch.zeros(3, 4, dtype=torch.complex64))[..., 0]",
    "quantized": "torch.quantize_per_tensor(torch.zeros(3, 4), 0.1, 0, torch.quint8).dequantize()",
    "drawn": "torch.randint(0, 4, (3, 4)).float()",
    "masked": "torch.zeros(3, 4)[torch.tensor([True, False, True])]",
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_the_second_run_says_what_the_first_one_says(tmp_path, made):
    dispatch._answers.clear()
    text = f"import torch\nx = {made}\ntorch.nn.Linear(5, 2)(x.to_dense() if x.is_sparse else x)\ny = {made}\ny.t()\n"
    path = str(tmp_path / "train.py")
    first, *later = [dry_run(text, path, Project(tmp_path).view(path)) for _ in range(3)]
    assert all(run.faults == first.faults and run.notices == first.notices for run in later)
