"""Transforms of torchvision that cannot follow each other, as far as what each is given is certain."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.facts.transforms import GRAY, OF_BYTES, OF_CROPS, OF_EITHER, OF_IMAGES, OF_PIL, OF_TENSORS, TOGETHER
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.numbers import number
from torchlint.source.flow.values import Value
from torchlint.source.text.index import has_stars, last_word
from torchlint.source.text.spelling import argument, unparsed
from torchlint.source.training.image_transforms import ImagePart, inner, listed_in, transforms_of

PIL, BYTES, UNIT, WIDE, FLOAT, TENSOR, CROPS, EITHER = (
    "PIL",
    "bytes",
    "unit",
    "wide",
    "float",
    "tensor",
    "crops",
    "either",
)
_TENSORS = frozenset((BYTES, UNIT, WIDE, FLOAT, TENSOR))
_MADE = {
    "PILToTensor": BYTES,
    "ToPILImage": PIL,
    "Normalize": FLOAT,
    "LinearTransformation": TENSOR,
    **dict.fromkeys(OF_CROPS, CROPS),
}
_SAID = {PIL: "a PIL image", CROPS: "a tuple of crops", BYTES: "a tensor of bytes, 0 to 255"}
_MOST_OF_UNIT, _LEAST_OF_BYTES = 1.5, 25  # means, or spreads, of numbers up to 1 and of numbers up to 255
_HALVES = (127.5, 128)  # of which nobody can mean anything but half of 255


class Disorder(NamedTuple):
    """A transform that is given what it cannot take, or what it does not expect; `before` gave that."""

    part: ImagePart
    before: ImagePart | None
    why: str
    help: str


class _State(NamedTuple):
    """What comes out of the parts so far; None is not known."""

    kind: str | None
    channels: int | None
    came: ImagePart | None  # the part that made that kind


def misplaced(made: Value, dataset: str = "") -> Iterator[Disorder]:
    """What is wrong in a composition; where a dataset of torchvision gives it images, of which it is."""
    state = _State(PIL if dataset in OF_PIL else None, 1 if dataset in GRAY else None, None)
    is_tensor_made = False
    for part in transforms_of(made):
        if (found := _refused(part, state, is_tensor_made) or _unscaled(part, state)) is not None:
            yield found
            return
        state, is_tensor_made = _after(part, state), is_tensor_made or part.name in OF_IMAGES


def normalized_late(made: Value) -> tuple[Value, Value] | None:
    """`ToTensorV2` and `Normalize` of albumentations, which takes arrays, in this order."""
    tensor = None
    for given in listed_in(made):
        found = objects(given) if given.node is not None else []
        names = {callee.name for one in found if isinstance(one.node, ast.Call) for callee in callees(one)}
        if len(found) != 1 or len(names) != 1:
            continue
        name = names.pop() or ""
        if name.startswith("albumentations.") and name.endswith(".ToTensorV2"):
            tensor = found[0]
        if tensor is not None and name.startswith("albumentations.") and name.endswith(".Normalize"):
            return tensor, found[0]
    return None


def is_part_of_another(made: Value) -> bool:
    """Is a composition one of the parts of another, which says the same and more?"""
    around = made.node.up
    return isinstance(around, ast.List) and isinstance(around.up, ast.Call) and "Compose" in unparsed(around.up.func)


def _refused(part: ImagePart, state: _State, is_tensor_made: bool) -> Disorder | None:
    """What raises an error."""
    kind, name = state.kind, part.name
    if kind is None:
        return None
    if name in OF_IMAGES and not part.is_new and kind in _TENSORS | {CROPS}:
        given = _SAID[CROPS] if kind == CROPS else "a tensor"
        wrong = f"`{name}` takes an image, and gets {given}"
        told = "leave it out" if is_tensor_made or state.came is None else f"put it before `{state.came.name}`"
        return Disorder(part, state.came, wrong, told)
    if name in OF_TENSORS and (kind == CROPS and not part.is_new or kind == PIL):
        told = (
            "put `ToTensor()` before it"
            if kind == PIL
            else "apply it to each: `Lambda(lambda crops: [f(crop) for crop in crops])`"
        )
        return Disorder(part, state.came, f"`{name}` takes a tensor, and gets {_SAID[kind]}", told)
    if name == "Normalize" and kind == BYTES:
        told = (
            "scale them to 0..1 before, by `ConvertImageDtype(torch.float32)`"
            if not part.is_new
            else "scale them to 0..1 before, by `ToDtype(torch.float32, scale=True)`"
        )
        return Disorder(part, state.came, f"`{name}` takes numbers with a fraction, and gets {_SAID[BYTES]}", told)
    if name in OF_BYTES and kind in (UNIT, FLOAT, WIDE) and not part.is_new:
        wrong = f"`{name}` takes images of bytes, and gets numbers from 0 to 1"
        return Disorder(part, state.came, wrong, "put it before `ToTensor()`")
    if name == "ToPILImage" and kind == PIL and not part.is_new:
        return Disorder(part, state.came, f"`{name}` takes a tensor or an array, and gets {_SAID[PIL]}", "leave it out")
    return None


def _unscaled(part: ImagePart, state: _State) -> Disorder | None:
    """What runs, or fails, by the numbers that `Normalize` is given."""
    if part.name != "Normalize":
        return None
    mean, std = _numbers(part, "mean", 0), _numbers(part, "std", 1)
    if not mean or not std:
        return None
    if state.channels == 1 and not part.is_new and len(mean) == 3 and state.kind in (UNIT, FLOAT):
        wrong = "`Normalize` has three means, and the image one channel"
        return Disorder(part, state.came, wrong, "give it one mean and one std, or make three channels: `Grayscale(3)`")
    if state.kind == UNIT and _are_of_bytes(mean, std):
        wrong = f"`Normalize` takes off numbers of 0..255, and gets numbers from 0 to 1 of `{_name(state.came)}`"
        return Disorder(part, state.came, wrong, "divide mean and std by 255")
    if state.kind == WIDE and all(abs(one) <= _MOST_OF_UNIT for one in (*mean, *std)):
        wrong = (
            f"`Normalize` takes off numbers of 0..1, and gets 0 to 255 of `{_name(state.came)}`, which does not scale"
        )
        return Disorder(part, state.came, wrong, "give it `scale=True`")
    return None


def _are_of_bytes(mean: list[float], std: list[float]) -> bool:
    """Are they of images from 0 to 255? Depth and X-rays have one channel and numbers of their own."""
    if any(one < 0 for one in (*mean, *std)):
        return False
    if len(mean) == 1:
        return mean[0] in _HALVES
    return all(one > _MOST_OF_UNIT for one in mean) or all(one > _LEAST_OF_BYTES for one in std)


def _name(part: ImagePart | None) -> str:
    return part.name if part is not None else ""


def _numbers(part: ImagePart, name: str, position: int) -> list[float]:
    """The numbers of a list; empty where one is not known."""
    given = argument(part.made.node, name, position)
    found = origins(part.made.at(given, ())) if given is not None else []
    if len(found) != 1 or not isinstance(found[0].node, (ast.List, ast.Tuple)) or found[0].path:
        return []
    values = [_reckoned(found[0].at(one, ())) for one in found[0].node.elts]
    return [] if None in values else values


def _reckoned(value: Value) -> float | None:
    """The number of `0.5`, and of `0.485 * 255`."""
    node = value.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        left, right = number(value.at(node.left, ())), number(value.at(node.right, ()))
        if left is None or right is None or isinstance(node.op, ast.Div) and not right:
            return None
        return left * right if isinstance(node.op, ast.Mult) else left / right
    return number(value)


def _after(part: ImagePart, state: _State) -> _State:
    """What comes out of a part that is given what it takes."""
    kind, channels, came = state
    name = part.name
    if name == "Grayscale":
        wanted = argument(part.made.node, "num_output_channels", 0)
        count = 1 if wanted is None else number(part.made.at(wanted, ()))
        return _State(kind, count if isinstance(count, int) else None, came)
    if name in OF_EITHER:
        # It took no array: what goes on to `ToTensor` is a PIL image.
        is_seen = kind is not None or part.is_new
        return state if is_seen else _State(EITHER, channels, came)
    if name in TOGETHER:
        kept = all(one.name in OF_EITHER and one.name != "Grayscale" for one in inner(part))
        return state if kept else _State(None, None, None)
    new = _made_by(part, kind)
    if new is None:
        return _State(None, None, None)
    if part.is_new and name in OF_TENSORS and kind is None:
        new = None  # what is no image it passes on as it is
    return _State(new, None if name in OF_CROPS else channels, came if new == kind else part)


def _made_by(part: ImagePart, kind: str | None) -> str | None:
    """What a part makes that gives another kind than it takes; None where that is not known."""
    if part.name == "ToTensor":
        return (UNIT if kind in (PIL, EITHER) else FLOAT) if not part.is_new else None
    if part.name == "ToImage":
        return BYTES if kind == PIL else kind if kind in _TENSORS else None
    if part.name in ("ToDtype", "ConvertImageDtype"):
        return _cast(part, kind)
    if part.name == "RandomErasing":
        return kind if kind in _TENSORS else TENSOR
    return _MADE.get(part.name)


def _cast(part: ImagePart, kind: str | None) -> str | None:
    """What a part that converts makes: of bytes numbers up to 1, or up to 255 where it does not scale."""
    given = argument(part.made.node, "dtype", 0)
    word = unparsed(given) if given is not None else "torch.float" if part.name == "ConvertImageDtype" else ""
    scale = argument(part.made.node, "scale", 1)
    scales = part.name == "ConvertImageDtype" or isinstance(scale, ast.Constant) and scale.value is True
    if word.startswith("torch.float") and kind in _TENSORS:
        if kind == BYTES and (scales or scale is None or isinstance(scale, ast.Constant) and scale.value is False):
            return UNIT if scales else WIDE
        return kind if kind in (UNIT, WIDE, FLOAT) else TENSOR
    if part.name == "ConvertImageDtype" and not part.is_new or kind in _TENSORS:
        return TENSOR
    return None


def dataset_of(call: Value) -> str:
    """`MNIST` of torchvision, of which a call makes an object; empty where its images are not known."""
    word = last_word(call.node.func)
    is_plain = (
        word in OF_PIL
        and argument(call.node, "loader", 3 if word == "ImageFolder" else None) is None
        and not has_stars(call.node)
    )
    names = {callee.name for callee in callees(call)} if is_plain else set()
    return word if names == {f"torchvision.datasets.{word}"} else ""
