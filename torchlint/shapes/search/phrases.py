"""What torch says, as a person would say it: a list of its sentences, and of ours for each.

torch's own words stay in the help of a finding, so that they can be looked up.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_SHAPE = r"\(?\[?([\d, ]+)\]?,?\)?"  # the sizes of a shape in any of torch's notations

# Said by one function or layer only, as far as its name goes.
_OF_A_LOSS = re.compile(r"loss|entropy|kl_div|criterion", re.I)
_LOSSES = (
    (r"cast to the desired output type Long|Found dtype Long but expected Float",
     "the targets are whole numbers, and must be floats like the predictions: `.float()`"),
    (r"Found dtype (\w+) but expected (\w+)", "predictions and targets must have one dtype, but they are {1} and {2}"),
    (r"Expected floating point type for target with class probabilities",
     "targets of the shape of the predictions are probabilities, and must be floats; numbers of classes have no such"
     " axis"),
    (r"expected target dtype to be Long or Byte, but got (\w+)",
     "numbers of classes must be int64, not {1}: `.long()`"),
    (r"0D or 1D target tensor expected", "the targets must have no axis but the batch"),
    (rf"Expected target size {_SHAPE}, got {_SHAPE}",
     "dimension 1 of the predictions are the classes, so that the targets must be ({1})"),
    (r"Target size .* must be the same as input size|that is different to the input size",
     "the shapes of predictions and targets differ"),
    (r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)", "{1} predictions for {2} targets"),
)  # fmt: skip
_SENTENCES = (
    # Devices
    (r"Expected a '(\w+)' device type for generator but found '(\w+)'",
     'the generator is on {2}, but what it fills is on {1}: make it with `torch.Generator("{1}")`'),
    # Sizes
    (r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)",
     "sizes {1} and {2} meet in dimension {3}"),
    (r"expanded size of the tensor .*Target sizes: \[([\d, ]+)\]\.  Tensor sizes: \[([\d, ]+)\]",
     "({2}) cannot be spread to ({1})"),
    (r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)", "{1} features meet a weight for {2}"),
    (r"Given groups=1, .* to have (\d+) channels, but got (\d+) channels",
     "its weight is for {1} channels, and it gets {2}"),
    (r"Given groups=(\d+), .* to have (\d+) channels, but got (\d+) channels",
     "its weight, in {1} groups, is for {2} channels, and it gets {3}"),
    (r"Found parameter numbers = (\d+) and channel size = (\d+)", "it has {1} parameters, and gets {2} channels"),
    (r"Given input size: \(\d+x([\dx]+)\)\. .*too small", "{1} is too small for its window"),
    (r"padded input size per channel: \(([\d x]+)\)\. Kernel size: \(([\d x]+)\)",
     "its kernel of {2} is larger than its input of {1}, padding included"),
    (r"Expected more than 1 value per channel when training",
     "while it trains, one value per channel is too few: a batch of one"),
    (r"Expected hidden(?:\[\d\])? size " + _SHAPE + r", got " + _SHAPE, "its state must be ({1}) but is ({2})"),
    (r"Input batch size (\d+) doesn't match hidden\d? batch size (\d+)",
     "its input is a batch of {1}, its state is one of {2}"),
    (r"Expected key_padded_mask\.shape\[(\d)\] to be (\d+), but got (\d+)",
     "dimension {1} of its key_padding_mask must be {2} but is {3}"),
    (r"split_with_sizes expects split_sizes to sum exactly to (\d+)", "its parts must sum up to {1}"),
    # Dimensions
    (r"Dimension out of range \(expected to be in range of \[-?\d+, (-?\d+)\], but got (-?\d+)\)",
     "there is no dimension {2}, the last one is {1}"),
    (r"input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)", "it has {1} dimensions, and {2} are named"),
    (r"batch[12] must be a 3D tensor", "`bmm` takes three dimensions on both sides"),
    (r"(?:self|mat2|input) must be a matrix", "`mm` takes matrices; `@` takes batches of them, too"),
    (r"Index tensor must have the same number of dimensions as",
     "the index must have as many dimensions as what it picks from"),
    (r"Tensors must have same number of dimensions: got (\d+) and (\d+)", "one has {1} dimensions, another {2}"),
    # What is taken at all
    (r"tensors used as indices must be", "an index must be whole numbers or bool: `.long()`"),
    (r"argument 'tensors' \(position 1\) must be tuple of Tensors, not Tensor", "it takes one list of tensors"),
    (r"could not infer output dtype\..*Got: (\w+)", "it takes floats, not {1}: `.float()` first"),
    (r"expected m1 and m2 to have the same dtype, but got: (\w+) != (\w+)",
     "both must have one dtype, but they are {1} and {2}"),
    (r"only supports boolean masks, but got mask with dtype (\w+(?: \w+)?)", "the mask must be bool, not {1}"),
    (r"empty\(\): argument 'size' .* found element of type float",
     "a size must be a whole number: `//` divides to one"),
    (r"Boolean value of Tensor with more than one value", "a condition takes one number: `.any()` or `.all()`"),
    (r"Tensor with (\d+) elements cannot be converted to Scalar",
     "only a single number becomes a number of Python, and here are {1}"),
    (r"only one element tensors can be converted to Python scalars", "only a single number becomes a number of Python"),
    (r"Module \[(\w+)\] is missing the required \"forward\"", "`{1}` has no forward"),
    (r"(?<![\w.])([\w.]+) is not a Module subclass", "only layers may stand here, and `{1}` is none"),
    (r"one of the params is Module\.parameters",
     "an optimizer takes parameters, and gets a list of `parameters()`: join them"),
    (r"optimizer got an empty parameter list", "the optimizer gets no parameters at all"),
    (r"requires the return_complex parameter", "`return_complex=True` must be given"),
    # The graph
    (r"element 0 of tensors does not require grad",
     "nothing that it was made of needs gradients, or the way there is cut"),
    (r"backward through the graph a second time",
     "the graph was freed by a backward before: keep it with `retain_graph=True`, or run the forward again"),
    (r"modified by an inplace operation: \[[\w.]+ \[?([\d, ]*)\]?\]",
     "a tensor of shape ({1}) that backward needs was changed in place since the forward"),
    (r"modified by an inplace operation", "a tensor that backward needs was changed in place since the forward"),
    (r"Function (\w+)Backward returned an invalid gradient at index (\d+) - got \[([\d, ]*)\] but expected shape"
     r" compatible with \[([\d, ]*)\]",
     "`{1}.backward` gives a gradient of shape ({3}) for argument {2} of its forward (from 0), whose shape is ({4})"),
    (r"Inference tensors cannot be saved for backward",
     "a tensor made in `inference_mode` cannot take part in training: make it under `no_grad`, or `.clone()` it"),
    (r"function (\w+)Backward returned an incorrect number of gradients \(expected (\d+), got (\d+)\)",
     "`{1}.backward` gives {3} of the {2} gradients: one for each argument of its forward, None for what has none"),
    (r"differentiated Tensor at index \d+ appears to not have been used",
     "what is differentiated does not depend on what it is differentiated by"),
    (r"Attempted step but _scale is None",
     "the scaler has scaled no loss before this step: `scaler.scale(loss).backward()`"),
    # What is loaded
    (r"size mismatch for ([\w.]+): copying a param with shape torch\.Size\(\[([\d, ]*)\]\) from checkpoint, the shape"
     r" in current model is torch\.Size\(\[([\d, ]*)\]\)", "`{1}` is ({2}) in what is loaded, and ({3}) in the model"),
    (r"Missing key\(s\) in state_dict: ([^.]*(?:\.[^.\s][^.]*)*)\.", "what is loaded lacks {1}"),
    (r"Unexpected key\(s\) in state_dict: ([^.]*(?:\.[^.\s][^.]*)*)\.", "the model has no {1}"),
)  # fmt: skip
_KEYS = 80  # characters of a list of names


def _compiled(table: tuple[tuple[str, str], ...]) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern, re.S), sentence) for pattern, sentence in table]


_BY_LOSSES, _BY_ALL = _compiled(_LOSSES), _compiled(_SENTENCES)


def said(text: str, name: str = "") -> str | None:
    """Our sentence for one of torch's, said by a function or layer; None for those that are not in the list."""
    for pattern, sentence in (*(_BY_LOSSES if _OF_A_LOSS.search(name) else ()), *_BY_ALL):
        found = pattern.search(text)
        if found:
            return re.sub(r"\{(\d)\}", _filled(found), sentence)
    return None


def _filled(found: re.Match[str]) -> Callable[[re.Match[str]], str]:
    """Puts a part of torch's sentence into ours: sizes as tuples are written, long lists cut."""

    def part(hole: re.Match[str]) -> str:
        text = " ".join(found[int(hole[1])].split()).rstrip(",")
        alone = hole.string[hole.start() - 1 : hole.start()] == "(" and text.isdigit()
        text = text if len(text) <= _KEYS else text[: _KEYS - 1].rpartition(",")[0] + ", …"
        return (
            f"{text},"
            if alone
            else text.replace(" x ", "×").replace("x", "×")
            if re.fullmatch(r"[\dx ]+", text)
            else text
        )

    return part
