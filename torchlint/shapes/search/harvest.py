"""The first guess for an unknown input: from the layer that takes it, how it is unpacked, its annotation, its name.

With it goes where it was taken from, in words; nothing where that is what takes the input first, which the steps of the
run name best.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.named_axes import Axes, of_comment, of_jaxtyping
from torchlint.shapes.core.values import MADE, Unknown, UnknownUse
from torchlint.shapes.language.written import KINDS
from torchlint.shapes.libraries import einops
from torchlint.shapes.search.advice import Through
from torchlint.shapes.search.attempts import Assumption, Fields, OpenParameter, TensorGuess, written_dtype

BATCH, TIME, SIDE, DEPTH, WIDTH = 2, 12, 64, 16, 32
_CONVOLUTIONS = ((nn.Conv1d, nn.ConvTranspose1d), (nn.Conv2d, nn.ConvTranspose2d), (nn.Conv3d, nn.ConvTranspose3d))
_IDS = re.compile(
    r"(^|_)(ids?|idx|index|indices|tokens?|words?|src|tgt|trg|captions?|text|labels?|targets?|sentence|sequences?|positions?|users?|items?|class(es)?)(_|$|s$)"
)
_MASKS = re.compile(r"(^|_)masks?($|_)|padding|_mask")
_TIMES = re.compile(r"^(t|ts|time|times|timesteps?|sigmas?|noise_level|(\w+_)?(lengths?|lens)|seq_len\w*)$")
_FEATURES = re.compile(r"_(emb|embeds?|embeddings?|hidden_states?|features?)(\[.*\])?$")
_EDGES = re.compile(r"(^|[._])edge_(label_)?ind(ex|ices)$")  # the two ends of each edge of a graph
_COUNTS = re.compile(r"\.num_\w+$")
_NODES = re.compile(r"\.\w+_ind(ex|ices)$")  # `data.boundary_index`: some of them
_OF_EDGES = re.compile(r"(^|[._])edge_(weights?|attrs?|features?|feats?)$")
_SEVERAL = re.compile(r"(typing\.)?(List|list|Sequence|Tuple|tuple)\[.*Tensor")
_HOLES = re.compile(r"\[\s*((typing\.)?Optional\[|None\b)|\|\s*None\s*\]")
_OPTIONAL = re.compile(r"^(h|c|h0|c0|hx|cx|hidden\w*|state|prev\w*|cache|past\w*|memory_mask|\w*_?mask)$")
_HIGHEST = 6  # dimensions that a tensor is given
_DEEPEST = 2  # attributes of attributes
_USUAL, _LONGEST = 2, 4096  # sizes along an axis that are taken from the parts that are cut out
_STARTS = 8  # how many first guesses are tried


def starts(
    parameters: Sequence[OpenParameter], uses: list[UnknownUse], hints: Mapping[str, Sequence[Any]]
) -> tuple[list[Assumption], dict[str, str]]:
    """Assumptions to begin with, best first, and in words where the first one comes from."""
    found: dict[str, list[Any]] = {}
    why: dict[str, str] = {}
    for parameter in parameters:
        if parameter.name in hints:
            found[parameter.name], why[parameter.name] = (
                list(hints[parameter.name]),
                "it is configured, or known from a call",
            )
            continue
        guesses, reason = _guesses(parameter, uses)
        found[parameter.name], why[parameter.name] = guesses, reason
    if not found:
        return [], why
    best = {name: guesses[0] for name, guesses in found.items()}
    made = [best]
    for name, guesses in found.items():
        made.extend({**best, name: other} for other in guesses[1:])
    for rank in range(1, max(map(len, found.values()))):
        made.append({name: guesses[min(rank, len(guesses) - 1)] for name, guesses in found.items()})
    return made[:_STARTS], why


def _guesses(parameter: OpenParameter, uses: list[UnknownUse]) -> tuple[list[Any], str]:
    """What an input may be, best first, and why."""
    guesses, reason = _harvested(parameter, uses)
    least = _least_sizes(parameter.name, uses)
    if least:
        guesses = _as_long(guesses, least)
    return (guesses, reason) if parameter.beside is None else _beside(parameter.beside, guesses, reason)


def _beside(written: Axes, guesses: list[Any], reason: str) -> tuple[list[Any], str]:
    """What is guessed of an input, with the shape that a comment says it has: that decides how many sizes there are,
    and which numbers stand among them.
    """
    if not all(isinstance(guess, TensorGuess) for guess in guesses):
        return guesses, reason
    alike = [guess for guess in guesses if len(guess.shape) == len(written.sizes)]
    usual = _shape(written)
    if usual is None or alike and not any(isinstance(size, int) for size in written.sizes):
        return [*alike, *(guess for guess in guesses if guess not in alike)], reason
    first = alike[0] if alike else TensorGuess(usual)
    shape = tuple(size if isinstance(size, int) else old for size, old in zip(written.sizes, first.shape))
    return [TensorGuess(shape, first.dtype), *guesses], "the shape that stands beside it"


def _harvested(parameter: OpenParameter, uses: list[UnknownUse]) -> tuple[list[Any], str]:
    """The same from its annotation, from what takes it, and from its name."""
    name = parameter.name
    if _EDGES.search(name):
        return [TensorGuess((2, TIME), "long")], "its name"
    if any(u.hole == name and u.kind == "call" and isinstance(u.detail, tuple) and len(u.detail) == 2 for u in uses):
        return [Through()], "it is called"
    unpacked = _of_items(name, uses) if _SEVERAL.match(parameter.hint) else None
    plain = unpacked or _from_annotation(parameter)
    if plain is not None:
        return plain
    inner = _of_items(name, uses)
    if inner is not None:
        return inner
    fields = _of_attributes(name, uses)
    if fields is not None:
        return fields
    for use in uses:
        if use.hole == name:
            found = _from_use(use)
            if found:
                guesses, reason = found
                rank = _rank(name, uses)
                if rank is not None:
                    guesses = [g for g in guesses if len(g.shape) == rank] + [
                        g for g in guesses if len(g.shape) != rank
                    ]
                return guesses, reason
    computed = _of_computed(name, uses)
    if computed is not None:
        return computed
    rank = _rank(name, uses)
    if rank is not None:
        return of_rank(rank, name), f"its shape is unpacked into {rank}"
    first, *others = _from_name(name)
    return [first, *_several(name, uses), *others], "its name"


def _several(name: str, uses: list[UnknownUse]) -> list[list[Any]]:
    """A list of tensors, where nothing is done with an input but that its items are taken: `targets[0], targets[1]`."""
    mine = [use for use in uses if use.hole == name]
    if any(use.kind != "index" or type(use.detail) is not int for use in mine):
        return []
    numbers = {use.detail for use in mine}
    return (
        [[_guesses(OpenParameter(f"{name}[{n}]"), uses)[0][0] for n in range(max(numbers) + 1)]]
        if len(numbers) > 1 and min(numbers) >= 0
        else []
    )


def _of_computed(name: str, uses: list[UnknownUse]) -> tuple[list[Any], str] | None:
    """From what consumes a value that was computed of an input number by number."""
    for use in uses:
        whole = use.hole.removeprefix(MADE)
        found = _from_use(use) if use.hole != whole and name in re.split("[&+]", whole) else None
        if found is not None:
            parts = whole.count("+") + 1
            return [_share(guess, parts) for guess in found[0]], f"{found[1]}, computed"
    return None


def _share(guess: TensorGuess, parts: int) -> TensorGuess:
    """What one of several inputs has of the channels, or the features, that they have together."""
    shape = list(guess.shape)
    position = 1 if len(shape) > 3 else -1
    if shape:
        shape[position] = max(shape[position] // parts, 1)
    return TensorGuess(tuple(shape), guess.dtype)


def _rank(name: str, uses: list[UnknownUse]) -> int | None:
    for use in uses:
        if use.hole == f"{name}.shape" and use.kind == "unpack" and isinstance(use.detail, int):
            return use.detail
    highest = [
        use.detail
        for use in uses
        if use.hole == f"{name}.shape" and use.kind == "index" and isinstance(use.detail, int)
    ]
    return max(highest) + 1 if highest and max(highest) > 1 else None


def _least_sizes(name: str, uses: list[UnknownUse]) -> dict[int, int]:
    """How long an input is at least along its axes, by the parts that are cut out of it: `x[:, 40:52]`, `x[80:]`."""
    least: dict[int, int] = {}
    for use in uses:
        if use.hole == name and use.kind == "index":
            parts = use.detail if isinstance(use.detail, tuple) else (use.detail,)
            for axis, part in enumerate(itertools.takewhile(lambda part: isinstance(part, (slice, int)), parts)):
                least[axis] = max(least.get(axis, 1), _reaches(part))
    return {axis: size for axis, size in least.items() if _USUAL < size <= _LONGEST}


def _reaches(part: slice | int) -> int:
    if isinstance(part, int):
        return part + 1
    if part.step is not None:  # every second one of however many
        return 0
    start, stop = (bound if isinstance(bound, int) else None for bound in (part.start, part.stop))
    return max(stop or 0, (start or 0) + (TIME if part.stop is None else 1))


def _as_long(guesses: list[Any], least: Mapping[int, int]) -> list[Any]:
    """Tensors that have these sizes at least, first those that have all these axes."""
    rank = max(least) + 1
    tensors = [guess for guess in guesses if isinstance(guess, TensorGuess) and len(guess.shape) >= rank]
    longer = [
        TensorGuess(tuple(max(size, least.get(axis, 0)) for axis, size in enumerate(guess.shape)), guess.dtype)
        for guess in (tensors or of_rank(rank))
    ]
    return [*longer, *(guess for guess in guesses if guess not in tensors)]


def of_rank(rank: int, name: str = "") -> list[TensorGuess]:
    """The usual tensors with so many dimensions."""
    shapes = {
        0: (),
        1: (BATCH,),
        2: (BATCH, WIDTH),
        3: (BATCH, TIME, WIDTH),
        4: (BATCH, 3, SIDE, SIDE),
        5: (BATCH, 3, DEPTH, SIDE, SIDE),
    }
    shape = shapes.get(rank, (BATCH, *[4] * (rank - 1)))
    if rank <= 2 and _IDS.search(name):
        return [TensorGuess((BATCH, TIME)[:rank], "long"), TensorGuess(shape)]
    return [TensorGuess(shape)]


# What an input is used for


def _from_use(use: UnknownUse) -> tuple[list[TensorGuess], str] | None:
    if use.kind == "layer" and isinstance(use.detail, nn.Module):
        try:
            guesses = of_layer(use.detail)
        except AttributeError:  # its own `__init__` was not run to the end
            return None
        guesses = [g for g in guesses if all(type(size) is int for size in g.shape)]  # a layer's may be tensors
        return (guesses, "") if guesses else None
    if use.kind == "call" and isinstance(use.detail, tuple) and len(use.detail) == 3:
        guesses = _of_call(use.hole, *use.detail)
        return (guesses, "") if guesses else None
    if use.kind == "operator" and isinstance(use.detail, tuple):
        other = use.detail[1]
        if isinstance(other, torch.Tensor) and other.dim():
            shape = tuple(other.shape) if use.detail[0].__name__ != "matmul" else (BATCH, other.shape[0])
            return [TensorGuess(shape)], f"it meets a tensor of shape {tuple(other.shape)}"
    return None


def of_layer(layer: nn.Module) -> list[TensorGuess]:
    """What one of torch's layers takes; of a container, its first layer that cares."""
    if isinstance(layer, nn.Sequential):
        return next((g for g in map(of_layer, layer.__dict__.get("_modules", {}).values()) if g), [])
    for rank, kinds in enumerate(_CONVOLUTIONS, 1):
        if isinstance(layer, kinds):
            sides = {1: (SIDE,), 2: (SIDE, SIDE), 3: (DEPTH, SIDE, SIDE)}[rank]
            return [TensorGuess((BATCH, layer.in_channels, *sides))]
    match layer:
        case einops.Rearrange() | einops.Reduce() | einops.EinMix():
            shape = einops.shape_for(layer.pattern, layer.axes_lengths)
            return [TensorGuess(shape)] if shape else []
        case nn.Linear():
            return [TensorGuess((BATCH, layer.in_features)), TensorGuess((BATCH, TIME, layer.in_features))]
        case nn.Embedding() | nn.EmbeddingBag():
            return [TensorGuess((BATCH, TIME), "long"), TensorGuess((BATCH,), "long")]
        case nn.LayerNorm():
            return [TensorGuess((BATCH, TIME, *layer.normalized_shape)), TensorGuess((BATCH, *layer.normalized_shape))]
        case nn.BatchNorm1d():
            return [TensorGuess((BATCH, layer.num_features)), TensorGuess((BATCH, layer.num_features, TIME))]
        case nn.BatchNorm3d():
            return [TensorGuess((BATCH, layer.num_features, DEPTH, SIDE, SIDE))]
        case nn.BatchNorm2d() | nn.InstanceNorm2d():
            return [TensorGuess((BATCH, layer.num_features, SIDE, SIDE))]
        case nn.GroupNorm():
            return [
                TensorGuess((BATCH, layer.num_channels, SIDE, SIDE)),
                TensorGuess((BATCH, layer.num_channels, TIME)),
            ]
        case nn.RNNBase():
            return [TensorGuess((BATCH, TIME, layer.input_size))]
        case nn.RNNCellBase():
            return [TensorGuess((BATCH, layer.input_size))]
        case nn.MultiheadAttention():
            return [TensorGuess((BATCH, TIME, layer.embed_dim))]
        case nn.TransformerEncoderLayer() | nn.TransformerDecoderLayer():
            return [TensorGuess((BATCH, TIME, layer.self_attn.embed_dim))]
        case nn.TransformerEncoder() | nn.TransformerDecoder():
            return of_layer(layer.layers[0]) if len(layer.layers) else []
        case nn.Transformer():
            return [TensorGuess((BATCH, TIME, layer.d_model))]
        case (
            nn.MaxPool2d()
            | nn.AvgPool2d()
            | nn.AdaptiveAvgPool2d()
            | nn.Upsample()
            | nn.ReflectionPad2d()
            | nn.PixelShuffle()
            | nn.ZeroPad2d()
        ):
            return [TensorGuess((BATCH, 16, SIDE, SIDE))]
        case nn.PReLU() if layer.num_parameters > 1:
            return [TensorGuess((BATCH, layer.num_parameters, SIDE, SIDE))]
    return []


def _of_call(hole: str, function: Any, args: tuple, kwargs: Mapping[str, Any]) -> list[TensorGuess]:
    name = getattr(function, "__name__", "")
    position = next((i for i, a in enumerate(args) if type(a) is Unknown and a.hole == hole), 0)
    if function in einops.NAMES.values():
        pattern = next((a for a in args if isinstance(a, str)), kwargs.get("pattern"))
        shape = einops.shape_for(pattern, dict(kwargs))
        return [TensorGuess(shape)] if shape else []
    others = [a for a in args if isinstance(a, torch.Tensor)]
    weight = others[0] if others else kwargs.get("weight")
    weight = weight if isinstance(weight, torch.Tensor) else None
    if name.startswith("conv") and weight is not None and weight.dim() > 2:
        groups = kwargs.get("groups", args[6] if len(args) > 6 and isinstance(args[6], int) else 1)
        return [TensorGuess((BATCH, weight.shape[1] * groups, *[SIDE] * (weight.dim() - 2)))]
    if name == "linear" and weight is not None:
        return [TensorGuess((BATCH, weight.shape[-1])), TensorGuess((BATCH, TIME, weight.shape[-1]))]
    if name == "embedding" and position == 0:
        return [TensorGuess((BATCH, TIME), "long")]
    if name == "one_hot":
        return [TensorGuess((BATCH, TIME), "long"), TensorGuess((BATCH,), "long")]
    if name in (
        "interpolate",
        "pad",
        "max_pool2d",
        "avg_pool2d",
        "adaptive_avg_pool2d",
        "unfold",
        "pixel_shuffle",
        "grid_sample",
    ):
        return [TensorGuess((BATCH, 3, SIDE, SIDE))]
    if name in ("matmul", "mm", "bmm") and weight is not None and weight.dim() > 1:
        return [
            TensorGuess((*weight.shape[:-2], BATCH, weight.shape[-2]) if position == 0 else (weight.shape[-1], WIDTH))
        ]
    return []


def _of_items(name: str, uses: list[UnknownUse]) -> tuple[list[Any], str] | None:
    """An input that is indexed: a dict of tensors, or a list of them if its items go into layers or it is iterated."""
    keys: dict[Any, None] = {}
    for use in uses:
        if (
            use.hole == name
            and use.kind == "index"
            and isinstance(use.detail, (str, int))
            and not isinstance(use.detail, bool)
        ):
            keys[use.detail] = None
    unpacked = next(
        (u.detail for u in uses if u.hole == name and u.kind == "unpack" and isinstance(u.detail, int)), None
    )
    if unpacked:
        keys = dict.fromkeys(range(unpacked))
    if not keys:
        return None
    texts = [k for k in keys if isinstance(k, str)]
    if texts:
        return [
            {k: _guesses(OpenParameter(f"{name}[{k!r}]"), uses)[0][0] for k in texts}
        ], "its items are asked for by name"
    inside = {k: [u for u in uses if u.hole == f"{name}[{k!r}]"] for k in keys}
    if not unpacked and not any(u.kind in ("layer", "call", "unpack") for found in inside.values() for u in found):
        return None
    size = max((k if k >= 0 else -k - 1) for k in keys) + 1
    items = [_guesses(OpenParameter(f"{name}[{k!r}]"), uses)[0][0] for k in range(size)]
    several = (
        [tuple(items), list(items)] if unpacked else [list(items)]
    )  # a tuple has as many as it is unpacked into, of a list there may be more
    return [*several, *_from_name(name)], "its items are used one by one"


def _of_attributes(name: str, uses: list[UnknownUse]) -> tuple[list[Any], str] | None:
    """An input that is asked for what no tensor has: an object, as graphs are given."""
    names = dict.fromkeys(
        use.detail
        for use in uses
        if use.hole == name and use.kind == "attribute" and isinstance(use.detail, str) and use.detail[0] != "_"
    )
    if all(hasattr(torch.Tensor, one) for one in names) or name.count(".") >= _DEEPEST:
        return None
    found = Fields()
    for one in names:
        if not hasattr(torch.Tensor, one):
            found[one] = _guesses(OpenParameter(f"{name}.{one}"), uses)[0][0]
    return [found], "its attributes are asked for"


# Annotations and names


_GRID = (4, 3)  # as many cells as a sequence has items
_PLAIN: dict[str, list[Any]] = {"int": [2], "float": [0.5], "bool": [False, True], "str": ["mean"]}
_AXES = {
    "b": BATCH,
    "n": BATCH,
    "bs": BATCH,
    "batch": BATCH,
    "t": TIME,
    "s": TIME,
    "l": TIME,
    "seq": TIME,
    "time": TIME,
    "h": SIDE,
    "w": SIDE,
    "height": SIDE,
    "width": SIDE,
    "c": 3,
    "d": WIDTH,
}


def _from_annotation(parameter: OpenParameter) -> tuple[list[Any], str] | None:
    hint = parameter.hint.strip()
    if hint in _PLAIN:
        return _PLAIN[hint], f"it is annotated as {hint}"
    numbers = re.fullmatch(r"(?:typing\.)?[tT]uple\[(int(?:, int)*)\]", hint)
    if numbers:
        count = numbers.group(1).count("int")
        return [_GRID if count == 2 else (SIDE,) * count, (SIDE,) * count], "it is annotated as whole numbers"
    written = re.search(r"""(\w+)\[[^,]*,\s*['"]([^'"]*)['"]""", hint)
    if written and KINDS.fullmatch(written.group(1)):
        shape = _shape(of_jaxtyping(written.group(2)))
        return ([TensorGuess(shape, written_dtype(written.group(1)))], "its annotation") if shape is not None else None
    comment = _shape(of_comment(hint))
    if comment is not None:
        return [TensorGuess(comment)], "the shape that stands beside it"
    if _SEVERAL.match(hint):
        image = TensorGuess((BATCH, 16, SIDE, SIDE))
        several: list[Any] = [[image] * 2, [image] * 4]
        return [*([[None] * 4] if _HOLES.search(hint) else []), *several], "its annotation"
    if re.search(r"\bNone\b|Optional", hint):
        return [None, *_from_name(parameter.name)], "it may be None"
    return None


def _shape(written: Axes | None) -> tuple[int, ...] | None:
    """Sizes for what is written; several that may stand there are one, which counts rows."""
    if written is None or len(written.sizes) > _HIGHEST:
        return None
    sizes = [size if isinstance(size, int) else _AXES.get((size or "").lower(), 8) for size in written.sizes]
    if written.rest is not None:
        sizes.insert(written.rest, BATCH)
    return tuple(sizes)


def _from_name(name: str) -> list[Any]:
    lower = name.lower()
    if _COUNTS.search(lower):
        return [BATCH, 1]
    if _OF_EDGES.search(lower):
        return [TensorGuess((TIME,)), TensorGuess((TIME, WIDTH)), None]
    if lower.endswith(".batch"):  # to which graph each node belongs
        return [TensorGuess((BATCH,), "long")]
    if _NODES.search(lower):
        return [TensorGuess((BATCH,), "long"), TensorGuess((BATCH, TIME), "long")]
    if _FEATURES.search(lower):
        return [TensorGuess((BATCH, TIME, WIDTH)), TensorGuess((BATCH, WIDTH)), TensorGuess((BATCH, 3, SIDE, SIDE))]
    if _TIMES.match(lower):
        return [TensorGuess((BATCH,)), TensorGuess((BATCH,), "long"), 2]
    if _OPTIONAL.match(lower):
        return [None, TensorGuess((BATCH, TIME), "bool"), TensorGuess((BATCH, WIDTH))]
    if _MASKS.search(lower):
        return [TensorGuess((BATCH, TIME), "bool"), None]
    if _IDS.search(lower):
        return [TensorGuess((BATCH, TIME), "long"), TensorGuess((BATCH, WIDTH)), TensorGuess((BATCH,), "long")]
    image, row, sequence = (
        TensorGuess((BATCH, 3, SIDE, SIDE)),
        TensorGuess((BATCH, WIDTH)),
        TensorGuess((BATCH, TIME, WIDTH)),
    )
    if re.search(r"^(z|noise|latent|state|obs|action|feat\w*|emb\w*)", lower):
        return [row, sequence, image]
    if re.search(r"^(q|k|v|query|key|value|memory|hidden_states?|tokens?|context|encoder_\w+|audio|wave\w*)", lower):
        return [sequence, row, image]
    return [image, sequence, row, TensorGuess((BATCH, 3, DEPTH, SIDE, SIDE)), TensorGuess((BATCH, TIME), "long")]


def other_ranks(guess: TensorGuess) -> Iterator[TensorGuess]:
    """The same tensor with a dimension more or less, its last size kept."""
    shape = guess.shape
    if len(shape) > 1:
        yield TensorGuess((shape[0], *shape[2:]), guess.dtype)
    if 0 < len(shape) < _HIGHEST:
        yield TensorGuess((shape[0], TIME, *shape[1:]), guess.dtype)
    for rank, other in itertools.chain.from_iterable([(r, g) for g in of_rank(r)] for r in (4, 3, 2)):
        if rank != len(shape):
            yield TensorGuess(other.shape, guess.dtype)
