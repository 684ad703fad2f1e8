"""Arguments for a class that nobody constructs: from annotations, from what its code does with them, and from names.

Numbers come in two sets. Every number of the second differs from the first by a factor of its own, so that what fails
in both, with the
same ratio of sizes, fails for every choice.
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from torch import nn

from torchlint.shapes.core.values import UnknownUse
from torchlint.shapes.search.attempts import Assumption, OpenParameter, Run, RunResult, Solution, Trials, key_of, listen
from torchlint.shapes.tensors.conflicts import pair_of

RUNS = 24
LONGEST = 64  # of the lists that are made longer because an item is missing
FEW = 2  # layers of a network whose configuration is nobody's
_MOST = 10
_MIXED = 4  # items of a list one of which may be a list itself
_INNER = 3  # items of each list in a list


class Advise(Protocol):
    """Who knows the program: what to try after a refusal, and the texts that an argument may be."""

    def __call__(self, assumption: Assumption, result: RunResult) -> Iterator[Assumption]: ...

    def words(self, name: str) -> list[str]: ...


_GIVEN = "it is known from a call or from the configuration"
_SEVERAL = 4  # of a number that is asked for its items
_RELATED = 6  # constructions that are tried to make arguments fit each other

# Name -> (first, second): the longest pattern that matches the whole name wins over those behind it.
_NAMES: list[tuple[str, Any, Any]] = [
    (r"(n_?|num_?|nb_?)(head|heads)|n?heads?|num_attention_heads|num_kv_heads|head_num|n_head", 4, 4),
    (r"(layer|block|stage|level|head|expert)_?(idx|index|id|i)|(\w+_)?(idx|index)", 0, 1),
    (r"(num_?|n_?)?spatial_?dims?|ndims?|dimensions?", 2, 2),
    (r"dim_?heads?|d_k|d_v|head_dim|head_size|dim_k|dim_v|d_head", 16, 16),
    (
        r"(n_?|num_?|nb_?)(class|classes|labels?|outputs?|tags|categories|actions?)|nclass(es)?|n?classes|num_cls",
        10,
        17,
    ),
    (
        r"in_?(ch|channels?|chans?|chs|planes?|c|features?|dim|size|filters)|input_(ch|channels?|nc|c)|in_nc|nc|c_?in|channels_in|n_channels|inp|inplanes|ch_in|in_feat",
        32,
        48,
    ),
    (
        r"out_?(ch|channels?|chans?|chs|planes?|c|features?|dim|size|filters)|output_(ch|channels?|nc|dim|size|c)|out_nc|c_?out|channels_out|oup|outplanes|ch_out|out_feat",
        64,
        112,
    ),
    (
        r"planes|filters|n_?filters|num_filters|base_?(c|ch|channels?|width)|ngf|ndf|nf|features|width|ch|channels?|num_channels|growth(_?rate)?|c",
        32,
        80,
    ),
    (r"(image|img|input|pretrain_img|crop)_?(size|resolution|shape|res)|img_?sz|resolution|size|im_size", 64, 96),
    (r"(input_|video_|feature_)?(height|width)|h|w|image_(height|width)", 64, 96),
    (r"patch(_?size)?|patch_?(h|w|height|width)|p", 8, 8),
    (
        r"(vocab|vocabulary|dict|n_?tokens?|num_tokens|token_num|ntoken)(_?size)?|vocab_?len|n_?vocab|(src|tgt|trg|input|output)_vocab(_size)?|num_embeddings|n_?words|num_(users|items|entities|nodes|words)",
        50,
        70,
    ),
    (
        r"max_?(len|length|seq_?len|position|positions|sequence_length|seq_length|position_embeddings)|(seq|block|context|sentence)_?(len|length|size)|num_(patches|positions|tokens|frames)|max_seq\w*|n_ctx|n_positions|frames|t_?len",
        64,
        96,
    ),
    (
        r"(n_?|num_?|nb_?)?(layers?|blocks?|depths?|encoder_layers|decoder_layers|enc_layers|dec_layers|stages?|res_?blocks?|repeats?|units|hidden_layers|iters?|stacks?|levels?)|depth|n|nlayers|l",
        2,
        2,
    ),
    (r"(kernels?|kernel_sizes?|ks|k|filter_size|window_size|win_size|kernel_?sz)", 3, 3),
    (r"strides?|dilations?|dilation_rate|groups|group|reps|paddings?|cardinality|num_groups|expand|n_?views", 1, 1),
    (
        r"(ratio|reduction|r|squeeze_factor|reduction_ratio|se_ratio|expansion|expand_ratio|expansion_factor|mult|scale_factor|upscale_factor|scale|upscale|factor|downsample_factor|mlp_ratio)",
        4,
        4,
    ),
    (
        r"(drop|dropout|p|rate|prob|drop_?(rate|prob|path|out|path_rate)|attn_drop(out)?|proj_drop|dropout_(rate|prob|p)|p_dropout|\w*dropout\w*|\w*drop_\w*|\w*_drop)",
        0.1,
        0.2,
    ),
    (
        r"eps|epsilon|momentum|alpha|beta|gamma|lambda_?\w*|temperature|tau|lr|margin|decay|sigma|theta|weight|negative_slope|scale_?init\w*|layer_scale\w*|init_values?",
        0.1,
        0.2,
    ),
    (
        r"(d_?|n_?|num_?)?(hidden|hid|hidden_?(size|dim|dims|units|channels|features|d)|ff|d_ff|ffn?_?dim|dim_?(ff|feedforward|mlp|hidden)|mlp_?(dim|hidden)|intermediate_size|inner_dim|d_inner|inner_size|d_hid|feedforward_dim|n_inner|nhid|hiddens)",
        128,
        144,
    ),
    (
        r"(emb|embed|embedding|embeddings)_?(size|dim|dims|d)?|(d|dim|n)_?(model|embed?|emb|embd|word_?vec|word)|model_(dim|size)|dim|dims|d|embed_dims?|ninp|n_?embd?|z_?(dim|size|channels)|latent_?(dim|size|channels)?|nz|noise_dim|feature_?(dim|size)|feat_dim|context_dim|cond_dim|token_dim|query_dim|cross_attention_dim|e|m",
        64,
        96,
    ),
    (
        r"(state|obs|observation|action|input|n_?input|num_?input|input_feature)s?(_?(dim|size|dims|shape|features))?|(n|num)_(in|features|inputs|mels)|fin|nfeat|insize|n_in|feat_?size|\w*_in",
        32,
        48,
    ),
    (r"(n|num)_?out(puts)?|fout|n_out|outsize|target_size|\w*_out", 16, 28),
]
_PATTERNS = [(re.compile(f"(?:{pattern})", re.I), first, second) for pattern, first, second in _NAMES]
_DEPTH = next(entry for entry in _PATTERNS if entry[0].fullmatch("num_layers"))
_FLAGS = re.compile(
    r"^(use|with|is|has|enable|add|do|no|share|return|apply|norm_first|batch_first|bias|bidirectional|pretrained|residual|causal|bilinear|qkv_bias|train\w*|verbose|affine|inplace|last|first|downsample|upsample)(_|$)|_(bias|first|last|norm)$",
    re.I,
)
_ACTIVATIONS = re.compile(
    r"act(ivation)?(_?(layer|fn|func|func_cls|cls|function))?|nonlinearity|non_linearity|relu|act", re.I
)
_ACTS = re.compile(r"(^|_)act(iv\w*|s|fn|func|layer|cls)?(_|$)|relu|nonlin")  # and no actor
_NORM_LAYERS = re.compile(r"\w*norm(_?(layer|fn|cls|type|func))?", re.I)
_PLAIN_HINT = re.compile(r"(typing\.)?(List|list|Sequence|Tuple|tuple|Iterable|Callable|int|float|bool|str|Union)\b")
_LISTS = re.compile(
    r"(\w*(layers|depths|dims|channels|features|sizes|planes|filters|heads|hiddens|kernels|strides|widths|ratios|list|blocks|num_blocks|repeats))$",
    re.I,
)


class ArgumentChoice(NamedTuple):
    """Where a parameter's value came from, and what else it may be, best first."""

    values: list[Any]
    why: str


def solve_constructor(
    run: Run,
    parameters: Sequence[OpenParameter],
    hints: Mapping[str, Sequence[Any]] = {},
    second: bool = False,
    advice: Advise | None = None,
) -> Solution:
    """Find constructor arguments for the parameters without a default. `second` gives another set, different in every
    free number. `advice` knows the program, and says what to try after a refusal before what the words of the error
    suggest.
    """
    needed = [p for p in parameters if not p.has_default or p.name in hints]
    if not needed:
        result = run({})
        if result.stopped not in ("own", "python") or advice is None:
            return Solution({}, result, result.stopped == "torch", {}, 1)
    first, uses = listen(run, {})
    choices = {p.name: _choice(p, uses, hints, second) for p in needed}
    if advice is not None:
        choices = {p.name: _with_words(choices[p.name], p, advice.words(p.name)) for p in needed}
    if second:
        _vary(choices, hints)
    known = {name: choice for name, choice in choices.items() if choice.values}
    start = {name: choice.values[0] for name, choice in known.items()}
    trials = Trials(run, RUNS, first)
    best = _search(trials, start, known, second, advice)
    why = {name: choice.why for name, choice in known.items()}
    return Solution(best[0], best[1], False, why, len(trials.results) + 1)


def _search(
    trials: Trials, start: Assumption, choices: Mapping[str, ArgumentChoice], second: bool, advice: Advise | None
) -> tuple[Assumption, RunResult]:
    queue: list[tuple[int, int, Assumption]] = [(0, 0, start)]
    best: tuple[Assumption, RunResult] | None = None
    count = 0
    while queue:
        _, _, assumption = heapq.heappop(queue)
        result = trials(assumption)
        if result is None:
            continue
        if result.stopped is None:
            return assumption, result
        if best is None or result.steps > best[1].steps:
            best = assumption, result
        advised = list(itertools.islice(advice(assumption, result), _MOST)) if advice is not None else []
        for position, proposal in enumerate(
            itertools.chain(advised, itertools.islice(_proposals(assumption, result, choices, second), _MOST))
        ):
            count += 1
            heapq.heappush(queue, (position - result.steps, count, proposal))
    assert best is not None
    return best


def _vary(choices: dict[str, ArgumentChoice], hints: Mapping[str, Sequence[Any]]) -> None:
    """Give every number of the second set a factor of its own."""
    taken: set[float] = {1.0}
    for name, choice in choices.items():
        value = choice.values[0] if choice.values else None
        first = by_name(name)
        if (
            name not in hints
            and isinstance(value, int)
            and not isinstance(value, bool)
            and isinstance(first, int)
            and value >= 16
        ):
            while value / first in taken:
                value += 16
            taken.add(value / first)
            choices[name] = ArgumentChoice([value, *choice.values[1:]], choice.why)


def related(assumed: Assumption, result: RunResult) -> Iterator[Assumption]:
    """Other arguments where guessed ones do not fit each other (`inplanes = planes * 4`): the two sizes that met say
    which."""
    if result.stopped == "python" and _NO_LIST.search(result.error):
        numbers = [name for name, value in assumed.items() if type(value) in (int, float)]
        yield from ({**assumed, name: [assumed[name]] * _SEVERAL} for name in numbers[:_RELATED])
    pair = pair_of(result) if result.stopped == "torch" else None
    if pair is None or not all(isinstance(size, int) and size > 0 for size in pair):
        return
    numbers = {name: value for name, value in assumed.items() if isinstance(value, int) and not isinstance(value, bool)}
    made = []
    for wanted, there in (pair, pair[::-1]):
        alike = [name for name, value in numbers.items() if value == there]
        made += [{**assumed, **dict.fromkeys(alike, wanted)}] if len(alike) > 1 else []
        made += [{**assumed, name: wanted} for name in alike]
    for wanted, there in (pair, pair[::-1]):
        for name, value in numbers.items():
            if value * wanted % there == 0 and value != there:
                made.append({**assumed, name: value * wanted // there})
    yield from made[:_RELATED]


# First choices


def _choice(
    parameter: OpenParameter, uses: list[UnknownUse], hints: Mapping[str, Sequence[Any]], second: bool
) -> ArgumentChoice:
    name, hint = parameter.name, parameter.hint
    if name in hints:
        return ArgumentChoice(list(hints[name]), _GIVEN)
    mine = [u for u in uses if u.hole == name]
    number = by_name(name, second)
    many = [number] * 3
    if any(u.kind == "attribute" and u.detail in ("items", "keys") for u in mine):
        return ArgumentChoice([{}, {"a": number}], "it is a table")
    if _is_config(hint, mine):
        return ArgumentChoice([], "")
    if re.match(r"^(typing\.)?(List|list|Sequence|Tuple|tuple|Iterable)\b.*(Callable|Module\b)", hint):
        return ArgumentChoice([[nn.Identity(), nn.Identity()]], "it is annotated as several layers")
    if re.search(r"Callable|Module\b|\bType\[|type\[", hint) or _is_called(mine):
        return ArgumentChoice(_callables(name, mine), "it is called like a layer")
    unpacked = next((u.detail for u in mine if u.kind == "unpack" and isinstance(u.detail, int)), None)
    if unpacked:
        return ArgumentChoice([tuple([number] * unpacked), number], f"it is unpacked into {unpacked}")
    if re.match(r"^(typing\.)?(List|list|Sequence|Tuple|tuple|Iterable)\b", hint) or any(
        u.kind in ("iterate", "index") for u in mine
    ):
        length = 1 + max(
            (u.detail for u in mine if u.kind == "index" and isinstance(u.detail, int) and u.detail > 0), default=3
        )
        return ArgumentChoice([[number] * length, tuple(many[:2]), [number] * 3, number], "its items are used")
    if hint == "str" or any(
        u.kind == "attribute" and u.detail in ("lower", "upper", "startswith", "split") for u in mine
    ):
        return ArgumentChoice([_word(name), "none"], "it is a text")
    if hint == "bool" or _FLAGS.search(name) and hint != "int" and not _matches(name):
        return ArgumentChoice([False, True], "it is a switch")
    if hint == "float":
        return ArgumentChoice([number if isinstance(number, float) else float(number), 0.5], "it is annotated as float")
    if _ACTIVATIONS.fullmatch(name):
        return ArgumentChoice([nn.ReLU, "relu", nn.ReLU()], "its name")
    if _NORM_LAYERS.fullmatch(name) and not hint:
        return ArgumentChoice([nn.BatchNorm2d, nn.LayerNorm, "batch", None], "its name")
    if re.search(r"Optional|None", hint) and not re.search("int|float", hint):
        return ArgumentChoice([None, number], "it may be None")
    if (
        hint != "int"
        and _LISTS.search(name)
        and not re.match(r"^(n|num|nb|in|out|hidden|d|input|output|max|total|base)_?", name)
    ):
        several = [[number] * 4, number, tuple(many[:2])]
        return ArgumentChoice([number, *several] if _matches(name) else several, "its name is a plural")
    return ArgumentChoice(
        [number, *([tuple(many[:2]), many] if hint != "int" else [])],
        "its name" if _matches(name) else "a small number",
    )


def _with_words(choice: ArgumentChoice, parameter: OpenParameter, words: list[str]) -> ArgumentChoice:
    """The same choices, and before them the texts that the program compares with the argument, unless it is a number
    by its name.
    """
    if not words or not choice.values or parameter.hint not in ("", "str") or choice.why == _GIVEN:
        return choice
    number = type(choice.values[0]) in (int, float) and _matches(parameter.name) is not None
    values = [v for v in choice.values if v not in words or type(v) is not str]
    return ArgumentChoice([*values, *words] if number else [*words, *values], "it is compared with texts")


def by_name(name: str, second: bool = False) -> Any:
    """The usual number for a parameter of this name."""
    match = _matches(name)
    if match is None:
        return 24 if second else 16
    return match[2] if second else match[1]


def is_heads(name: str) -> bool:
    """Whether a parameter says how many attention heads there are."""
    return _matches(name) is _PATTERNS[0]


def is_depth(name: str) -> bool:
    """Whether a parameter says how many layers there are."""
    return _matches(name) is _DEPTH


def is_deep(name: str, value: Any) -> bool:
    """Whether a setting asks for more layers than are made of a network whose configuration is nobody's."""
    return type(value) is int and value > FEW and is_depth(name)


def _matches(name: str) -> tuple[re.Pattern, Any, Any] | None:
    stripped = name.strip("_").lower()
    for entry in _PATTERNS:
        if entry[0].fullmatch(stripped):
            return entry
    for entry in _PATTERNS:
        if re.search(rf"(?:^|_)(?:{entry[0].pattern})$", stripped):
            return entry
    return None


def _word(name: str) -> str:
    if "act" in name or "nonlin" in name:
        return "relu"
    if "norm" in name:
        return "batch"
    if "pad" in name:
        return "zeros"
    return "mean"


def _is_config(hint: str, uses: list[UnknownUse]) -> bool:
    """Whether an argument is an object with settings, which the interpreter guesses attribute by attribute."""
    if re.search(r"(Config|Args|Namespace|Params|Settings)$", hint):
        return True
    if _PLAIN_HINT.match(hint):
        return False
    text = ("lower", "upper", "startswith", "split", "endswith")
    return any(
        u.kind == "attribute" and u.detail not in text and not hasattr(list, str(u.detail)) for u in uses
    ) or any(u.kind == "index" and isinstance(u.detail, str) for u in uses)


def _is_called(uses: list[UnknownUse]) -> bool:
    return any(u.kind == "call" and isinstance(u.detail, tuple) and len(u.detail) == 2 for u in uses)


def factories(name: str) -> list[Any]:
    """Classes of torch that an argument of this name may be, if it is called to make a layer."""
    lower = name.lower()
    if "norm" in lower:
        return [nn.BatchNorm2d, nn.LayerNorm, nn.BatchNorm1d]
    if _ACTS.search(lower):
        return [nn.ReLU]
    if "conv" in lower:
        return [nn.Conv2d]
    if "pool" in lower:
        return [nn.MaxPool2d]
    if "linear" in lower or lower == "fc":
        return [nn.Linear]
    return []


def _callables(name: str, uses: list[UnknownUse]) -> list[Any]:
    made = factories(name)
    if made:
        return made
    lower = name.lower()
    if re.search(r"^(fn|module|layer|net|model|backbone|encoder|decoder|generator|block|body|submodule)$", lower):
        called = next(
            (u.detail[0] for u in uses if u.kind == "call" and isinstance(u.detail, tuple) and len(u.detail) == 2), ()
        )
        return [nn.Identity()] if len(called) < 2 else []
    return []


# What an error says about them


_DIVISIBLE = re.compile(r"divi(?:sible|de)|multiple|evenly|remainder|% ", re.I)
_NO_LIST = re.compile(
    r"has no len|not iterable|not subscriptable|object of type 'int'|unpack non-?iterable|after \* must be", re.I
)
_NO_NUMBER = re.compile(
    r"'(list|tuple)'|must be int|integer|not a number|can't multiply sequence|cannot be interpreted|only concatenate",
    re.I,
)
_NO_TEXT = re.compile(r"'str'|str\(\)|could not convert string", re.I)
_CALLED = re.compile(r"not callable|is not a Module subclass|issubclass", re.I)


def _proposals(
    assumption: Assumption, result: RunResult, choices: Mapping[str, ArgumentChoice], second: bool
) -> Iterator[Assumption]:
    """Other values for one argument at a time, those first that the error speaks of."""
    text = result.error
    mentioned = [n for n in assumption if re.search(rf"\b{re.escape(n)}\b", text)]
    order = [*mentioned, *(n for n in assumption if n not in mentioned)]
    if _NO_LIST.search(text):
        for name in order:
            value = assumption[name]
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                for length in (2, 4, 3):
                    yield {**assumption, name: [value] * length if length > 2 else (value,) * length}
        for name in order:
            value = assumption[name]
            if isinstance(value, (list, tuple)) and value and all(isinstance(part, int) for part in value[:_MIXED]):
                yield {**assumption, name: [[part] * _INNER for part in value]}
                for number, part in enumerate(value[:_MIXED]):  # `[width, [hidden, hidden], classes]`
                    yield {**assumption, name: [*value[:number], [part, part], *value[number + 1 :]]}
    if _NO_NUMBER.search(text) or _NO_TEXT.search(text):
        for name in order:
            value = assumption[name]
            if isinstance(value, (list, tuple)) and value:
                yield {**assumption, name: value[0]}
            elif isinstance(value, (str, type)) or value is None:
                yield {**assumption, name: by_name(name, second)}
            elif isinstance(value, float):
                yield {**assumption, name: by_name("dim", second)}
    if "unpack" in text:
        expected = re.search(r"expected (\d)", text)
        for name in order:
            if isinstance(assumption[name], (list, tuple)) and expected and assumption[name]:
                yield {**assumption, name: tuple([assumption[name][0]] * int(expected.group(1)))}
    if "list index out of range" in text or "tuple index out of range" in text:
        for name in order:
            if isinstance(assumption[name], (list, tuple)) and len(assumption[name]) < LONGEST:
                yield {**assumption, name: [*assumption[name], *assumption[name]]}
    if _CALLED.search(text) or "not callable" in text:
        for name in order:
            yield {**assumption, name: nn.Identity()}
    if _DIVISIBLE.search(text) or result.stopped == "own":
        for name in order:
            value = assumption[name]
            if isinstance(value, int) and not isinstance(value, bool):
                for other in dict.fromkeys((64 if not second else 128, 8, value * 2, 1, 4, 2)):
                    yield {**assumption, name: other}
    for name in order:
        for other in choices[name].values if name in choices else ():
            if key_of(other) != key_of(assumption[name]):
                yield {**assumption, name: other}
    for name in order:
        value = assumption[name]
        if isinstance(value, int) and not isinstance(value, bool):
            for other in (1, 2, 3, value * 2):
                yield {**assumption, name: other}
