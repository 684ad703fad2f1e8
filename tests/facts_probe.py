"""What torch itself says of a function of the table `torchlint.facts`: each is called with small real tensors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from facts_recipes import LAYERS, PATTERNS, RECIPES, VARIANTS, Arguments
from torch import nn

HOMES = {"torch": torch, "F": F, ".": torch.Tensor, "linalg": torch.linalg, "special": torch.special}


def homes_of(word: str) -> set[str]:
    """Where torch has a function of that name, `._` for a method in place."""
    found = {home for home, place in HOMES.items() if _is_function(getattr(place, word, None), word, home)}
    in_place = {"torch_": torch, "F_": F, "._": torch.Tensor}
    return found | {home for home, place in in_place.items() if callable(getattr(place, f"{word}_", None))}


def _is_function(value: Any, word: str, home: str) -> bool:
    """A class is none, but for those that make tensors."""
    return callable(value) and (not isinstance(value, type) or home == "torch" and word.endswith("Tensor"))


def function(word: str, home: str) -> Callable:
    if home[-1] == "_":
        return getattr(HOMES[home[:-1]], f"{word}_")
    return getattr(HOMES[home], word)


class Said:
    """What the calls of one function show: `always` in each of them, `ever` in one; `gives` are the kinds of results."""

    def __init__(self, calls: list[tuple[str, set[str]]]):
        self.gives = {kind for kind, _ in calls}
        self.always = set.intersection(*(facts for _, facts in calls))
        self.ever = set.union(*(facts for _, facts in calls))
        # What only a call with a second tensor can show is shown by those.
        if any("second" in facts for _, facts in calls):
            self.always |= {"keeps_operands"} & set.intersection(*(f for _, f in calls if "second" in f))


def kind_of(result: Any) -> str:
    if isinstance(result, torch.Tensor):
        return "tensor"
    if isinstance(result, torch.Size):
        return "size"
    if isinstance(result, (tuple, list)) and _flat(result):
        return "tensors"
    if isinstance(result, (bool, int, float)):
        return "number"
    return "none" if result is None else "other"


def arguments(word: str) -> tuple:
    """Those with which a function is tried first."""
    return (RECIPES.get(word) or PATTERNS[0])()


def sizes_for(creator: str) -> tuple:
    """What a function makes a tensor of."""
    return RECIPES[creator]() if creator in RECIPES else (3,)


def probe(word: str, home: str) -> Said | None:
    """What calls show; None where no arguments are known that the function takes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        called = function(word, home)
        own = RECIPES.get(f"{home}.{word}") or RECIPES.get(word)
        attempts = [own, *PATTERNS] if own is not None else PATTERNS
        show = _in_place if home.endswith("_") else _shown
        first = next((made for make in attempts if (made := show(called, make)) is not None), None)
        if first is None:
            return None
        more = [show(called, make) for make in VARIANTS.get(word, ())]
        return Said([first, *(shown for shown in more if shown is not None)])


def backward_after_a_change(word: str, home: str, kept: str) -> str | None:
    """What torch says to a backward after the first tensor (or the result) of a function was changed in place."""
    called = function(word, home)
    for make in [RECIPES.get(f"{home}.{word}") or RECIPES.get(word) or PATTERNS[0], *PATTERNS]:
        args = make()
        leaf = next(iter(_floats(args)), None)
        if leaf is None:
            continue
        x = leaf.requires_grad_() * 1
        try:
            with warnings.catch_warnings(), torch.enable_grad():
                warnings.simplefilter("ignore")
                results = [r for r in _flat(called(*_replaced(args, leaf, x))) if r.requires_grad]
                (x if kept == "input" else results[0]).mul_(1)
        except Exception:
            continue
        try:
            sum(_weighed(r) for r in results).backward()
        except RuntimeError as error:
            return str(error)
    return None


def _replaced(args: tuple, old: torch.Tensor, new: torch.Tensor) -> tuple:
    return tuple(new if a is old else [new if e is old else e for e in a] if isinstance(a, list) else a for a in args)


def layer(name: str) -> Said | None:
    """What a call of a layer shows; `weights` if it has any. None where nothing is known to make one with."""
    if name not in LAYERS:
        return None
    options, given = LAYERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.default_generator.manual_seed(0)
        made = getattr(nn, name)(*options)
        shown = _shown(made, given)
        if shown is None:
            return None
        if list(made.parameters()):
            shown[1].add("weights")
            if _is_affine(made, given()):
                shown[1].add("affine")
        return Said([shown])


@torch.no_grad()
def _is_affine(layer: nn.Module, args: tuple) -> bool:
    """Are differences of results as large as those of the inputs are, in both directions?"""
    if len(args) != 1 or not isinstance(args[0], torch.Tensor) or not args[0].is_floating_point():
        return False
    results = [layer(args[0] * factor) for factor in (0, 1, 2, -1)]
    if not isinstance(results[0], torch.Tensor):
        return False
    zero, one, two, minus = results
    steps = one - zero, two - one, zero - minus
    return bool(steps[0].abs().max() > 1e-3) and all(torch.allclose(steps[0], s, atol=1e-4) for s in steps)


def _in_place(called: Callable, make: Arguments) -> tuple[str, set[str]] | None:
    args = make()
    try:
        torch.default_generator.manual_seed(0)
        result = called(*args)
    except Exception:
        return None
    if result is not args[0]:
        return kind_of(result), set()
    other = make()
    torch.default_generator.manual_seed(1)
    random = _list(called(*other)) != _list(result)
    facts, args = {"in_place", *(["random"] if random else [])}, make()
    for tensor in _floats(args[:1]):
        leaf = tensor.requires_grad_()
        try:
            with torch.enable_grad():
                changed = called(leaf * 1, *args[1:])
        except Exception:
            continue
        if _holds(_kept([changed]), [changed]):
            facts.add("keeps_output")
    return kind_of(result), facts


def _flat(result: Any) -> list[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        return [result]
    return [t for r in result for t in _flat(r)] if isinstance(result, (tuple, list)) else []


def _floats(args: tuple) -> list[torch.Tensor]:
    return [t for t in _flat(args) if t.is_floating_point() or t.is_complex()]


def _values(tensors: list[torch.Tensor]) -> set[float]:
    """The numbers of tensors, rounded; the parts of complex ones."""
    found = [torch.view_as_real(t.detach().resolve_conj()) if t.is_complex() else t.detach() for t in tensors]
    return {round(v, 2) for t in found for v in t.double().reshape(-1).tolist()}


def _list(tensor: torch.Tensor) -> list:
    return tensor.detach().tolist()


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr() if tensor.layout is torch.strided else id(tensor)


def _holds(kept: list[torch.Tensor], tensors: list[torch.Tensor]) -> bool:
    places = {_storage(t) for t in kept}
    return any(_storage(t) in places for t in tensors)


def _kept(results: list[torch.Tensor]) -> list[torch.Tensor]:
    """The tensors that the graph behind the results has saved for backward."""
    kept, todo, seen = [], [r.grad_fn for r in results if r.grad_fn is not None], set()
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        for name in dir(node):
            if name.startswith("_saved_"):
                try:
                    kept += _flat(getattr(node, name))
                except RuntimeError:  # it was changed by the very function
                    continue
        todo += [inner for inner, _ in node.next_functions if inner is not None]
    return [t for t in kept if t.is_floating_point() or t.is_complex()]


def _shown(called: Callable, make: Arguments) -> tuple[str, set[str]] | None:
    args = make()
    try:
        torch.default_generator.manual_seed(0)
        result = called(*args)
    except Exception:
        return None
    facts, results = set(), _flat(result)
    if not results:
        return kind_of(result), set() if result is None else {"cuts"}
    first = next(iter(_flat(args)), None)
    dense = bool(results) and all(r.layout is torch.strided for r in results)
    for seed in (1, 2) if dense else ():
        torch.default_generator.manual_seed(seed)
        again = _flat(called(*make()))
        if any(a.shape == b.shape and a.dtype != torch.bool and _list(a) != _list(b) for a, b in zip(results, again)):
            facts.add("random")
    if len(results) > 1 and results[1].dtype == torch.int64:
        facts.add("indices")
    if first is None or not dense or first.layout is not torch.strided:
        return kind_of(result), facts
    one = results[0]
    if len(results) == 1:
        facts |= {"same_shape"} if one.shape == first.shape else set()
        facts |= {"same_rank"} if one.dim() == first.dim() else set()
        facts |= {"reduces"} if one.dim() == 0 and first.dim() > 1 else set()
    old, new = _values([first]), _values(results)
    facts |= {"same_numbers"} if new == old and len(old) > 1 else set()
    facts |= {"picks"} if new <= old else set()
    facts |= {"view"} if all(_storage(r) == _storage(first) for r in results) else set()
    facts |= {"casts"} if one.dtype != first.dtype else set()
    if len(results) == 1 and one.shape == first.shape and "random" not in facts and first.is_floating_point():
        other = make()
        changed = next(iter(_flat(other)))
        with torch.no_grad():
            changed.reshape(-1)[0] += 0.011
        try:
            differs = _flat(called(*other))[0].detach().to(torch.complex128) != one.detach().to(torch.complex128)
            facts |= {"pointwise"} if not differs.reshape(-1)[1:].any() else set()
        except Exception:
            pass
    return kind_of(result), facts | _gradients(called, make, len(_floats(args)))


def _weighed(result: torch.Tensor) -> torch.Tensor:
    return (result.reshape(-1) * (torch.arange(result.numel()) + 1)).sum()


def _gradients(called: Callable, make: Arguments, count: int) -> set[str]:
    """What is kept for backward: asked for the first tensor, for the others, for all."""
    facts = {"second"} if count > 1 else set()
    if not count:
        with torch.enable_grad():
            return set() if any(r.requires_grad for r in _flat(called(*make()))) else {"cuts"}
    for number in range(3 if count > 1 else 1):
        args = make()
        floats = _floats(args)
        wanting = (floats[:1], floats[1:], floats)[number]
        for tensor in wanting:
            tensor.requires_grad_()
        try:
            with torch.enable_grad():
                results = [r for r in _flat(called(*args)) if r.requires_grad]
        except Exception:
            continue
        if number == 0 and not results:
            facts.add("cuts")
        if number == 0 and results and all(r.is_floating_point() for r in results):
            try:
                (found,) = torch.autograd.grad(sum(_weighed(r) for r in results), wanting, retain_graph=True)
                facts |= {"flat"} if not found.any() else set()
            except RuntimeError:
                pass
        kept = _kept(results)
        shared = any(_storage(r) == _storage(f) for r in results for f in floats)
        facts |= {"keeps_input"} if number == 0 and _holds(kept, floats[:1]) else set()
        if number < 2 and count > 1:  # each is kept when another one wants a gradient
            others = floats[1:] if number == 0 else floats[:1]
            facts |= {f"operands {number}"} if all(_holds(kept, [other]) for other in others) else set()
        facts |= {"keeps_output"} if not shared and _holds(kept, results) else set()
    if {"operands 0", "operands 1"} <= facts:
        facts.add("keeps_operands")
    return facts - {"operands 0", "operands 1"}
