"""What torch's frequent errors mean, whatever program they come from: a cause, a remedy, the rules that look for it."""

from __future__ import annotations

import re

from msgspec import Struct


class KnownError(Struct, frozen=True):
    """One row: what torch says, why, what to do, and where to read on."""

    pattern: str
    cause: str
    remedy: str
    rules: tuple[str, ...] = ()


KNOWN = (
    KnownError(
        r"mat1 and mat2 shapes cannot be multiplied|size mismatch, m1",
        "The last size of what a linear layer gets is not its `in_features`.",
        "See the shape before the layer (`torchlint shapes` shows all), and give the layer that last size; after a"
        " `flatten(1)` it is channels × height × width.",
        ("TL901",),
    ),
    KnownError(
        r"expected input.*to have \d+ channels, but got|Given groups=",
        "The second size of what a convolution gets is not its `in_channels`.",
        "Images are (batch, channels, height, width): bring them into that order with `permute`, or change the layer.",
        ("TL901", "TL611"),
    ),
    KnownError(
        r"must match the size of tensor b|Sizes of tensors must match|stack expects each tensor to be equal size"
        r"|shape '.*' is invalid for input of size",
        "Two sizes that must be equal are not.",
        "Follow both back to where they are made; `torchlint shapes` shows each. Samples of one batch need equal sizes:"
        " crop, pad, or write a `collate_fn`.",
        ("TL901",),
    ),
    KnownError(
        r"Expected all tensors to be on the same device|Input type \(.*cuda.*\) and weight type"
        r"|should be the same device",
        "One tensor is on the CPU and another on the GPU.",
        "Move the model and every input with `.to(device)`, and assign the result: `x = x.to(device)`. What is no"
        " parameter is moved with its module only as a buffer.",
        ("TL903", "TL301", "TL304", "TL605"),
    ),
    KnownError(
        r"expected scalar type|must have the same dtype|Input type .* and bias type|Found dtype \w+ but expected",
        "Tensors of different dtypes meet: NumPy's floats are float64, torch's layers float32.",
        "Use `.float()` or `.to(dtype)` where the data becomes a tensor; targets of cross entropy are `.long()`.",
        ("TL902", "TL401"),
    ),
    KnownError(
        r"backward through the graph a second time",
        "The graph of an earlier backward is used again: something was kept from a former round.",
        "Detach what lives longer than a round (`hidden.detach()`), and add losses before one backward.",
        ("TL203", "TL904"),
    ),
    KnownError(
        r"modified by an inplace operation",
        "A tensor that backward needs was changed after it was used.",
        "Write `x = x + y` for `x += y` there, or change a `.clone()`.",
        ("TL201",),
    ),
    KnownError(
        r"does not require grad and does not have a grad_fn",
        "The loss depends on no parameter: the graph ends at a `detach`, `.item()`, `.data`, `no_grad` or an `argmax`.",
        "Compute the loss from the model's output itself, outside of `no_grad`.",
        ("TL904", "TL202"),
    ),
    KnownError(
        r"a leaf Variable that requires grad is being used in an in-place operation",
        "A parameter is changed in place while autograd listens.",
        "Do it inside `with torch.no_grad():`.",
        ("TL202",),
    ),
    KnownError(
        r"device-side assert triggered|index out of range in self|Target \d+ is out of bounds|indexing.*assertion",
        "An index is too large: a class beyond the number of outputs, or a token that is not in the embedding.",
        "Run on the CPU, where the error names the value; compare `targets.max()` with the last layer's size, and"
        " `ids.max()` with `num_embeddings`.",
    ),
    KnownError(
        r"out of memory|Tried to allocate",
        "What is kept for backward does not fit, or something keeps the graphs of former rounds.",
        "Take a smaller batch, checkpoint or autocast; add up `loss.item()` and not `loss`; evaluate under `no_grad`.",
        ("TL203", "TL505"),
    ),
    KnownError(
        r"Error\(s\) in loading state_dict|Missing key\(s\) in state_dict",
        "The checkpoint was made by a model with other layers or other names.",
        "Names that begin with `module.` come from DataParallel: save `model.module.state_dict()`.",
    ),
    KnownError(
        r"Weights only load failed|weights_only",
        "Since torch 2.6 `torch.load` reads tensors only.",
        "Save `state_dict()`s. Only for a file that you trust: `weights_only=False`.",
        ("TL801", "TL804"),
    ),
    KnownError(
        r"Expected more than 1 value per channel when training",
        "Batch norm got a batch of one: the last batch of a loader, or a sample that is tried in training mode.",
        "`drop_last=True` for training, `model.eval()` for trying.",
    ),
    KnownError(
        r"DataLoader worker .* exited unexpectedly|Cannot re-initialize CUDA in forked subprocess",
        "A worker process of a loader died, or used CUDA after a fork.",
        "Try `num_workers=0`, which shows the real error; use the GPU in the training loop and not in the dataset.",
        ("TL308",),
    ),
    KnownError(
        r"Can't call numpy\(\) on Tensor that requires grad|can't convert cuda.* tensor to numpy",
        "NumPy takes tensors of the CPU without a graph.",
        "`x.detach().cpu().numpy()`.",
        ("TL208",),
    ),
    KnownError(
        r"The size of tensor .* at non-singleton dimension|Using a target size",
        "Predictions and targets have different shapes.",
        "Make them the same: `targets.unsqueeze(1)`, or `predictions.squeeze(1)`.",
        ("TL905",),
    ),
    KnownError(
        r"module 'torch[\w.]*' has no attribute|has been removed|is now removed|is deprecated",
        "The program was written for another version of torch.",
        "`torchlint check --select TL802,TL803 --fix` writes what this version has.",
        ("TL802", "TL803"),
    ),
)
_LONGEST = 4000  # characters of a message that are looked at


def known(message: str) -> KnownError | None:
    """The row for what torch says."""
    words = " ".join(message[:_LONGEST].split())
    return next((row for row in KNOWN if re.search(row.pattern, words)), None)
