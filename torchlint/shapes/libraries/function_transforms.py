"""`torch.func`: gradients, Jacobians and mapped functions. The function of the program runs once, on tensors that have
a gradient or stand for one sample; what comes of it is made to the sizes torch gives.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch._functorch import vmap as validation
from torch.utils import _pytree

from torchlint.shapes.core.budget import TORCH_STEPS
from torchlint.shapes.core.values import Special, Unknown, UnknownUsed, unknown_in
from torchlint.shapes.language import functions
from torchlint.shapes.tensors import device_tags, mapped, wild

_PLAIN = (int, float, bool, str, type(None), tuple, list, dict)
_NODES = 5_000  # of a graph that are looked at
_WHOLE = (int, type(None))


class _NotKnown(Exception):
    """Of the arguments, or of what the function gives, not all is known."""


def _transform(name: str, run: Callable) -> Special:
    """A function that makes another of one: `vmap(f, in_dims=0)`; `run` gets that, the options and its arguments."""

    def make(machine, func=None, *options, **named):
        if func is None or type(func) is Unknown or unknown_in([*options, *named.values()]) is not None:
            machine.lend((func,))
            return Unknown(f"what {name} makes of an unknown")

        def call(machine, *args, **kwargs):
            if "*" in kwargs:
                return Unknown("its arguments are unknown")
            machine.budget.touch_all((args, kwargs))
            try:
                return run(machine, func, args, kwargs, *options, **named)
            except _NotKnown:
                return Unknown(f"what {name} makes of an unknown")

        return Special(name, call)

    return Special(name, make)


def _refuse(machine, name: str, error: Exception, args: tuple) -> None:
    """torch refuses before it looks at any data."""
    machine.refuse(error, getattr(torch.func, name), args)


def _leaves(machine, value: Any) -> tuple[list[Any], Any]:
    """The leaves of nested containers; a class of the program's own may be made one of those."""
    machine.budget.touch(value)
    leaves, spec = _pytree.tree_flatten(value)
    machine.budget.spend(len(leaves))
    if any(machine.is_own(leaf) and not isinstance(leaf, (torch.Tensor, nn.Module)) for leaf in leaves):
        raise _NotKnown
    return leaves, spec


def _name_of(function: Any) -> Any:
    """What torch calls a function in its words."""
    closure = functions.closure_of(function)
    name = closure.code.name if closure is not None else getattr(function, "__name__", type(function).__name__)
    return types.SimpleNamespace(__name__=name)


# Mapped functions


def _map(machine, func, args, kwargs, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    leaves, _ = _leaves(machine, args)
    known = all(type(leaf) is not Unknown for leaf in leaves)
    names = _name_of(func)
    if isinstance(in_dims, list):
        raise _NotKnown
    if known:
        try:
            size, dims, leaves, spec = validation._process_batched_inputs(in_dims, args, names)
        except ValueError as error:
            _refuse(machine, "vmap", error, tuple(leaves))
            raise _NotKnown from None
    else:
        _, spec = _pytree.tree_flatten(args)
        dims = validation._broadcast_to_and_flatten(in_dims, spec) if isinstance(in_dims, (int, tuple)) else None
        if dims is None:
            raise _NotKnown
        size = None
    level = mapped.begin(randomness in ("same", "different"))
    heard = device_tags.listeners[:]
    device_tags.listeners.clear()  # no rule hears of a sample
    try:
        given = [leaf if dim is None else _sample(machine, leaf, dim, level) for leaf, dim in zip(leaves, dims)]
        made = machine.call(func, list(_pytree.tree_unflatten(given, spec)), kwargs)
    finally:
        mapped.end(level)
        device_tags.listeners[:] = heard
    return _together(machine, made, out_dims, size, names)


def _sample(machine, value: Any, dim: int, level: mapped.Level) -> Any:
    """What stands for each of the samples in a tensor."""
    if type(value) is Unknown:
        if wild.known_of(value) is None:
            return Unknown(value.reason)
        return machine.in_worlds(lambda given: _sample(machine, given[0], dim, level), [value], value.reason)
    if not isinstance(value, torch.Tensor):
        raise _NotKnown
    one = machine.foreign(torch.select, (value, dim, 0), {})
    if type(one) is Unknown:
        return one
    made = machine.foreign(torch.clone if one.requires_grad else torch.empty_like, (one,), {})
    if type(made) is not Unknown:
        mapped.follow([value], made)
        mapped.mark(made, level)
    return made


def _together(machine, made: Any, out_dims: Any, size: int | None, names: Any) -> Any:
    """All samples of what was made of one."""
    if type(made) is Unknown and wild.known_of(made) is None:
        return Unknown(made.reason)
    leaves, spec = _leaves(machine, made)
    is_one = isinstance(made, (torch.Tensor, Unknown))
    if is_one and isinstance(out_dims, tuple) and len(out_dims) == 1:
        out_dims = out_dims[0]
    dims = validation._broadcast_to_and_flatten(out_dims, spec) if isinstance(out_dims, (*_WHOLE, tuple)) else None
    if dims is None:
        raise _NotKnown
    found = []
    for leaf, dim in zip(leaves, dims):
        if type(leaf) is Unknown and wild.known_of(leaf) is None or dim is None and not isinstance(leaf, torch.Tensor):
            found.append(leaf)
            continue
        if type(leaf) is not Unknown and not isinstance(leaf, torch.Tensor):
            if isinstance(leaf, _PLAIN):
                text = (
                    f"vmap({names.__name__}, ...): `{names.__name__}` must only return Tensors, got type {type(leaf)}."
                    " Did you mean to set out_dims= to None for output?"
                )
                _refuse(machine, "vmap", ValueError(text), ())
            raise _NotKnown
        found.append(_all_of(machine, leaf, dim, size))
    return _pytree.tree_unflatten(found, spec)


def _all_of(machine, one: Any, dim: int | None, size: int | None) -> Any:
    if type(one) is Unknown or size is None:
        if dim is None:
            return Unknown("what is the same for all")
        made = machine.call(machine.get(one, "unsqueeze"), [dim], {})
        return made if type(made) is Unknown and not made.known else machine.freed(made, dim, "mapped tensors")
    if dim is None:
        return machine.foreign(torch.clone, (one,), {})
    made = machine.foreign(torch.unsqueeze, (one, dim), {})
    if type(made) is Unknown:
        return made
    wide = list(made.shape)
    wide[dim] = size
    return machine.foreign(torch.clone, (machine.foreign(made.expand, (wide,), {}),), {})


# Gradients


def _chosen(machine, name: str, args: tuple, argnums: Any) -> list[int]:
    """Which arguments something is differentiated by."""
    numbers = [argnums] if type(argnums) is int else list(argnums) if isinstance(argnums, (tuple, list)) else []
    if not numbers or not all(type(number) is int for number in numbers):
        raise _NotKnown
    for number in numbers:
        if not -len(args) <= number < len(args):
            text = f"Got argnum={number}, but only {len(args)} positional inputs"
            _refuse(machine, name, RuntimeError(text), ())
    return [number % len(args) for number in numbers]


class _Graph:
    """Some arguments with gradients of their own, and what a function makes of them."""

    def __init__(self, machine, name: str, func: Any, args: tuple, kwargs: dict, argnums: Any):
        numbers = _chosen(machine, name, args, argnums)
        by = args[argnums] if type(argnums) is int else tuple([args[number] for number in numbers])
        self.machine, self.name = machine, name
        leaves, self.spec = _leaves(machine, by)
        self.is_known = not any(type(leaf) is Unknown for leaf in leaves)
        self.own: list[torch.Tensor] = []
        if not self.is_known:
            machine.call(func, list(args), kwargs)
            raise _NotKnown
        for leaf in leaves:
            self._check(leaf)
        self.outside = torch.is_grad_enabled()
        with torch.enable_grad():
            self.leaves = [self._begin(leaf) for leaf in leaves]
            given = _pytree.tree_unflatten([leaf.clone() for leaf in self.leaves], self.spec)
            parts = [given] if type(argnums) is int else list(given)
            changed = list(args)
            for number, part in zip(numbers, parts):
                changed[number] = part
            self.result = machine.call(func, changed, kwargs)

    def _check(self, leaf: Any) -> None:
        if not isinstance(leaf, torch.Tensor):
            if isinstance(leaf, _PLAIN):
                text = f"Thing passed to transform API must be Tensor, got {type(leaf)}"
                _refuse(self.machine, self.name, ValueError(text), ())
            raise _NotKnown
        if leaf.layout is not torch.strided:
            raise _NotKnown
        if not leaf.is_floating_point() and not leaf.is_complex():
            text = "only Tensors of floating point dtype can require gradients"
            _refuse(self.machine, self.name, RuntimeError(text), (leaf,))

    def _begin(self, leaf: torch.Tensor) -> torch.Tensor:
        self.machine.budget.spend(TORCH_STEPS)
        if leaf.requires_grad:
            return leaf.clone()
        own = leaf.detach().clone().requires_grad_()
        self.own.append(own)
        return own

    def split(self, has_aux: Any) -> tuple[Any, Any]:
        """What the function gives, and what it gives besides."""
        if has_aux is not True:
            return self.result, None
        if type(self.result) is Unknown or has_aux not in (True, False):
            raise _NotKnown
        if not isinstance(self.result, tuple) or len(self.result) != 2:
            says = "grad_and_value(f)(*args)" if self.name.startswith("grad") else "vjp(f, *primals)"
            text = f"{says}: output of function f should be a tuple: (output, aux) if has_aux is True"
            _refuse(self.machine, self.name, RuntimeError(text), ())
        return self.result

    def gradients(self, output: torch.Tensor) -> list[torch.Tensor]:
        """Of one number by each of the leaves, as parts of the graph."""
        self.machine.budget.spend(TORCH_STEPS * (1 + len(self.leaves)))
        found: Any = (None,) * len(self.leaves)
        if output.requires_grad:
            try:
                found = torch.autograd.grad(output, self.leaves, create_graph=True, allow_unused=True)
            except (UnknownUsed, Exception):
                raise _NotKnown from None
        return [torch.zeros_like(leaf) if one is None else one for one, leaf in zip(found, self.leaves)]

    def settled(self, value: Any) -> Any:
        """What leaves the transform: a part of a graph only if there is one outside as well."""
        leaves, spec = _leaves(self.machine, value)
        return _pytree.tree_unflatten([self._settled(leaf) for leaf in leaves], spec)

    def _settled(self, value: Any) -> Any:
        if type(value) is Unknown and value.known is not None:
            return Unknown(value.reason)
        if not isinstance(value, torch.Tensor) or not value.requires_grad:
            return value
        return value if self.outside and self._is_of_others(value) else value.detach()

    def _is_of_others(self, value: torch.Tensor) -> bool:
        if value.grad_fn is None:
            return all(value is not own for own in self.own)
        seen, stack = set(), [value.grad_fn]
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            self.machine.budget.spend()
            if len(seen) > _NODES:
                raise _NotKnown
            variable = getattr(node, "variable", None)
            if isinstance(variable, torch.Tensor) and all(variable is not own for own in self.own):
                return True
            stack += [following for following, _ in node.next_functions if following is not None]
        return False


def _differentiate(machine, name, func, args, kwargs, argnums, has_aux) -> tuple[Any, Any, Any]:
    graph = _Graph(machine, name, func, args, kwargs, argnums)
    output, aux = graph.split(has_aux)
    if not isinstance(output, torch.Tensor):
        if isinstance(output, _PLAIN):
            text = f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
            _refuse(machine, name, RuntimeError(text), ())
        raise _NotKnown
    if output.dim():
        text = (
            f"grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with {output.dim()}"
            " dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )
        _refuse(machine, name, RuntimeError(text), (output,))
    made = _pytree.tree_unflatten(graph.gradients(output), graph.spec)
    return graph.settled(made), graph.settled(output), graph.settled(aux)


def _grad(machine, func, args, kwargs, argnums=0, has_aux=False):
    made, _, aux = _differentiate(machine, "grad", func, args, kwargs, argnums, has_aux)
    return (made, aux) if has_aux else made


def _grad_and_value(machine, func, args, kwargs, argnums=0, has_aux=False):
    made, value, aux = _differentiate(machine, "grad_and_value", func, args, kwargs, argnums, has_aux)
    return made, (value, aux) if has_aux else value


def _jacobian(name: str) -> Callable:
    """`jacrev` and `jacfwd`, which give the same."""

    def run(machine, func, args, kwargs, argnums=0, has_aux=False, *, chunk_size=None, randomness="error", **options):
        graph = _Graph(machine, name, func, args, kwargs, argnums)
        output, aux = graph.split(has_aux)
        leaves, spec = _leaves(machine, output)
        if not leaves or not all(isinstance(leaf, torch.Tensor) for leaf in leaves):
            raise _NotKnown
        made = [
            _pytree.tree_unflatten([_spread(machine, one, leaf) for one in _sums(graph, leaf)], graph.spec)
            for leaf in leaves
        ]
        found = graph.settled(_pytree.tree_unflatten(made, spec))
        return (found, graph.settled(aux)) if has_aux else found

    return run


def _sums(graph: _Graph, output: torch.Tensor) -> list[torch.Tensor]:
    with torch.enable_grad():
        return graph.gradients(output.sum())


def _spread(machine, gradient: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
    """A gradient for each number of an output."""
    machine.budget.spend(TORCH_STEPS)
    with torch.enable_grad():
        return gradient.to(output.dtype).expand(*output.shape, *gradient.shape).clone()


def _hessian(machine, func, args, kwargs, argnums=0):
    inner = machine.run_special(TRANSFORMS["torch.func.jacrev"], [func, argnums], {})
    outer = machine.run_special(TRANSFORMS["torch.func.jacfwd"], [inner, argnums], {})
    return machine.run_special(outer, list(args), kwargs)


def _vjp(machine, func, *primals, has_aux=False):
    """The value, and a function that takes what is like it and gives what is like the arguments."""
    try:
        if not primals or type(func) is Unknown:
            raise _NotKnown
        graph = _Graph(machine, "vjp", func, primals, {}, tuple(range(len(primals))))
        output, aux = graph.split(has_aux)
        leaves, _ = _leaves(machine, output)
        if not leaves or not all(isinstance(leaf, torch.Tensor) for leaf in leaves):
            raise _NotKnown
        with torch.enable_grad():
            made = [graph.gradients(leaf.sum()) for leaf in leaves]
            sums = [torch.stack(row).sum(0) if len(row) > 1 else row[0] for row in zip(*made)]
        found = graph.settled(_pytree.tree_unflatten(sums, graph.spec))
        value = graph.settled(output)
    except _NotKnown:
        return Unknown("the value of an unknown function")
    pull = Special("vjp", lambda machine, *args, **kwargs: found)
    return (value, pull, graph.settled(aux)) if has_aux else (value, pull)


def _jvp(machine, func, primals, tangents, *, strict=False, has_aux=False):
    """The value, and its change, which is like it."""
    try:
        if not isinstance(primals, tuple) or type(func) is Unknown:
            raise _NotKnown
        made = machine.call(func, list(primals), {})
        output, aux = made if has_aux is True and isinstance(made, tuple) and len(made) == 2 else (made, None)
        leaves, spec = _leaves(machine, output)
        if not leaves or not all(isinstance(leaf, torch.Tensor) for leaf in leaves) or aux is None and has_aux:
            raise _NotKnown
        changes = [machine.foreign(torch.clone, (leaf,), {}) for leaf in leaves]
    except _NotKnown:
        return Unknown("the value of an unknown function")
    change = _pytree.tree_unflatten(changes, spec)
    return (output, change, aux) if has_aux else (output, change)


# `torch.autograd.functional`


def _jacobian_of(machine, func, inputs, create_graph=False, *args, **options):
    """A tensor for each pair of an output and an input, in tuples where there are several."""
    several = isinstance(inputs, tuple)
    given = inputs if several else (inputs,)
    try:
        if type(func) is Unknown or not all(isinstance(one, torch.Tensor) and one.is_floating_point() for one in given):
            raise _NotKnown
        graph = _Graph(machine, "jacrev", func, given, {}, tuple(range(len(given))))
        outputs = graph.result if isinstance(graph.result, tuple) else (graph.result,)
        if not outputs or not all(isinstance(one, torch.Tensor) for one in outputs):
            raise _NotKnown
        made = [tuple([_spread(machine, one, output) for one in _sums(graph, output)]) for output in outputs]
        found = made if create_graph is True else [tuple([one.detach() for one in row]) for row in made]
    except _NotKnown:
        return Unknown("the gradients of an unknown function")
    rows = tuple([row if several else row[0] for row in found])
    return rows if isinstance(graph.result, tuple) else rows[0]


def _hessian_of(machine, func, inputs, create_graph=False, *args, **options):
    """For each pair of inputs a tensor, of a function that gives one number."""
    if isinstance(inputs, tuple):
        return Unknown("the second gradients by several")

    def one(machine, given):
        output = machine.call(func, [given], {})
        known = isinstance(output, torch.Tensor) and output.numel() == 1
        return output.reshape(()) if known else Unknown("a gradient of several numbers")

    def slope(machine, given):
        return _jacobian_of(machine, Special("function", one), given, True)

    return _jacobian_of(machine, Special("gradient", slope), inputs, create_graph)


# Several models as one


def _stack(machine, models):
    if not isinstance(models, (list, tuple, nn.ModuleList)) or machine.may_miss(models):
        return Unknown("the states of several models")
    models = list(models)
    if not all(isinstance(model, nn.Module) for model in models):
        return Unknown("the states of several models")
    for model in models:
        machine.walk(model)
    if not models or machine.incomplete:
        return Unknown("the states of several models")
    if len({type(model) for model in models}) > 1:
        text = "stack_module_state: Expected all models to be of the same class."
        _refuse(machine, "stack_module_state", RuntimeError(text), ())
    if len({model.training for model in models}) > 1:
        text = "stack_module_state: Expected all models to have the same training/eval mode."
        _refuse(machine, "stack_module_state", RuntimeError(text), ())
    states = []
    for part in ("named_parameters", "named_buffers"):
        tensors = [dict(getattr(nn.Module, part)(model)) for model in models]
        stacked = {}
        for name in tensors[0]:
            row = [one.get(name) for one in tensors]
            if any(type(one) not in (torch.Tensor, nn.Parameter) for one in row):
                return Unknown("the states of several models")
            made = machine.foreign(torch.stack, (row,), {})
            if type(made) is Unknown:
                return made
            stacked[name] = made.detach().requires_grad_() if all(one.requires_grad for one in row) else made
        states.append(stacked)
    return tuple(states)


TRANSFORMS: dict[str, Any] = {
    **{
        f"torch.func.{name}": _transform(name, run)
        for name, run in {
            "vmap": _map,
            "grad": _grad,
            "grad_and_value": _grad_and_value,
            "jacrev": _jacobian("jacrev"),
            "jacfwd": _jacobian("jacfwd"),
            "hessian": _hessian,
        }.items()
    },
    "torch.autograd.functional.jacobian": Special("jacobian", _jacobian_of),
    "torch.autograd.functional.hessian": Special("hessian", _hessian_of),
    "torch.func.vjp": Special("vjp", _vjp),
    "torch.func.jvp": Special("jvp", _jvp),
    "torch.func.stack_module_state": Special("stack_module_state", _stack),
}
TRANSFORMS["torch.vmap"] = TRANSFORMS["torch.func.vmap"]
FUNCTORCH: dict[str, Any] = {
    name.replace("torch.func", "functorch"): value
    for name, value in TRANSFORMS.items()
    if name.startswith("torch.func.")
}
