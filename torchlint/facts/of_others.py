"""What other libraries have in a module that torch has, too, or people write for it, and how torch calls it."""

from __future__ import annotations

OF_OTHERS = {
    "torch.nn.Dense": "torch.nn.Linear",
    "torch.nn.BatchNormalization": "torch.nn.BatchNorm2d",
    "torch.expand_dims": "torch.unsqueeze",
    "torch.reduce_mean": "torch.mean",
    "torch.reduce_sum": "torch.sum",
    "torch.power": "torch.pow",
    "torch.array": "torch.tensor",
    "torch.mn": "torch.nn",
    "torch.amp.cuda": "torch.cuda.amp",
}
