"""Operations on what is known in part only: they happen in each world, and sizes that nobody gave are made to fit."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from torchlint.shapes.core.budget import work
from torchlint.shapes.core.doubts import Doubt
from torchlint.shapes.core.held_parts import modules_of, weights_of
from torchlint.shapes.core.values import Special, Unknown, UnknownUsed
from torchlint.shapes.language.cut_short import REST
from torchlint.shapes.libraries import guards
from torchlint.shapes.libraries.free_layers import FreeLayer
from torchlint.shapes.libraries.processes import Parallel
from torchlint.shapes.machine import any_numbers
from torchlint.shapes.machine.fitting import LARGEST, FailsInWorld, Fitting, Run, examples_in
from torchlint.shapes.tensors import as_many, device_tags, wild
from torchlint.shapes.tensors.arrays import Array
from torchlint.shapes.tensors.chances import is_by_chance
from torchlint.shapes.tensors.open_lengths import TooLong
from torchlint.shapes.tensors.supposed import computed
from torchlint.shapes.tensors.wild import SIZES, Choice, Free, Known

EVALUATIONS = 5_000  # in all worlds of a run; what comes later is unknown as a whole
PRICE = 30  # steps of one operation, in however many worlds
LOSS = re.compile(r"loss|entropy|kl_div|Loss")
_DTYPE = re.compile(r"dtype|scalar type|Float|Double|Long|Half|Byte|Bool")
_RANK = re.compile(r"\b\d-?D\b|\b\d-d\b|dimensional|number of dimensions")
_FEW = 64  # tensors that are compared
_JOINS = (torch.stack, torch.cat, torch.concat, torch.vstack)
_RARE = re.compile(r"(?<!\bor )complex|half|bfloat16|float16|expected scalar type (Int|Short|Char)\b", re.IGNORECASE)
ARITHMETIC = frozenset("add sub mul truediv pow iadd isub imul itruediv".split())


def _asks_how_many(condition: Any) -> bool:
    """Does a condition that was answered say that something equals another thing than 0?"""
    test = getattr(condition, "test", condition)
    if not isinstance(test, ast.AST):
        return False
    return any(
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], (ast.Eq, ast.NotEq))
        and not any(isinstance(side, ast.Constant) and not side.value for side in (node.left, *node.comparators))
        for node in ast.walk(test)
    )


class Worlds(Fitting):
    """The part of the machine that carries values through several worlds."""

    example: int | None = None  # which operation it is that runs on examples of what is unknown, if one does
    many: dict[int, tuple[int, int]] = {}  # how many items the data make in both, where it depends on that
    why_many = Free.COUNTED  # why there are so many

    def in_worlds(self, run: Run, given: Any, reason: str) -> Any:
        """What an operation gives for arguments some of which are known in part; raises what torch says if it is
        refused whatever the open sizes, dtypes and numbers of dimensions are.
        """
        choices, blind = wild.choices_in(given)
        if blind is not None:
            return Unknown(blind.reason)
        of_dtypes_only = all(map(wild.is_of_dtypes, choices))  # then all sizes are known
        if SIZES not in choices:
            choices.append(SIZES)
        self.evaluations += (many := wild.how_many(choices))
        if self.evaluations > EVALUATIONS or work.used > work.open_to_worlds or not self.wild:
            return Unknown(reason)
        wide = many > wild.MOST
        with self._unheard():
            self.free, self.by_chance = wild.freedom(given), False
            if self.free is Free.DRAWN and any(map(_asks_how_many, self.doubts.values())) and not self._is_apart():
                self.free = Free.COUNTED  # what was drawn may have been asked whether it fits
            outcomes = self._everywhere(run, given, choices)
            free = wild.freedom(given, self.why_many if self.many else None)
            if free not in (Free.COUNTED, Free.DRAWN) and not of_dtypes_only:
                self.presume(why=Doubt.SIZES)
            if outcomes is None:
                return Unknown(reason)
            wide |= len(outcomes) < many
            refused = {options: o for options, o in outcomes.items() if type(o) is FailsInWorld}
            made = {options: o for options, o in outcomes.items() if type(o) is not FailsInWorld}
            if wide:  # not all worlds were looked at
                found = wild.join(choices, made, reason, free) if made else None
                return found if isinstance(found, torch.Tensor) and not found.dim() else Unknown(reason)
            if not made:
                if not all(map(self.is_refusal, refused.values())):
                    return Unknown(reason)
                of_dtypes = [choice for choice in choices if wild.is_of_dtypes(choice)]
                if of_dtypes and any(_RARE.search(str(one.error)) for one in refused.values()):
                    return Unknown(reason)  # it takes dtypes that no world has
                if wild.has_count(given):
                    return Unknown(reason)  # or as many as there are
                are_too_long = any(isinstance(one.error, TooLong) for one in refused.values())
                if free is not Free.DRAWN and not are_too_long and self._fits_somewhere(run, given, choices):
                    return Unknown(reason)
                wild.mark_free(given)
                of_any_dtype = any(len(choice.left) > 1 for choice in of_dtypes)
                raise self._usual(list(refused.values()), of_any_dtype, free, not of_dtypes)
            self._rule_out(choices, refused)
            if free is Free.DRAWN and not self.many and not wild.has_sizes_of(given, made):
                free = Free.COUNTED  # a sum of sizes may always be the same
            return wild.join(choices, made, reason, free)

    @contextmanager
    def _unheard(self) -> Iterator[None]:
        """While this lasts, no rule hears of sizes that are examples, and all worlds cost what one does."""
        heard, used = device_tags.listeners[:], self.budget.used
        device_tags.listeners.clear()
        self.example, self.many = self.evaluations, {}
        try:
            yield
        finally:
            device_tags.listeners[:], self.example = heard, None
            self.budget.used = min(self.budget.used, used + PRICE)

    def _everywhere(self, run: Run, given: Any, choices: list[Choice]) -> dict[tuple, Any] | None:
        """What comes out in each world, or that it is refused there, without those where that cannot be told; None if
        an operation needs data.
        """
        others = [choice for choice in choices if choice is not SIZES]
        outcomes: dict[tuple, Any] = {}
        for world in itertools.islice(wild.worlds(others), wild.MOST // 2):
            both = [wild.in_world(given, {**world, SIZES: s}) for s in SIZES.left]
            try:
                made = self._fitted(run, both, [self._try(run, one, s) for s, one in enumerate(both)])
            except UnknownUsed:
                return None
            for s, value in zip(SIZES.left, made or ()):
                outcomes[tuple([{**world, SIZES: s}[choice] for choice in choices])] = value
        return outcomes

    def _fits_somewhere(self, run: Run, given: Any, choices: list[Choice]) -> bool:
        """Whether there is a world in which several open sizes together are found to fit."""
        others = [choice for choice in choices if choice is not SIZES]
        worlds = itertools.islice(wild.worlds(others), wild.MOST // 2)
        return any(
            self.fits_in_steps(run, [wild.in_world(given, {**world, SIZES: s}) for s in SIZES.left]) for world in worlds
        )

    def _usual(self, refused: list[FailsInWorld], of_any_dtype: bool, free: Free, has_dtypes: bool) -> Exception:
        """What torch says in most worlds: nothing of a dtype that may be one of several; of one that is known, since
        it is refused where the sizes fit; nothing of a number of dimensions where with another one it says more.
        Where the tensors have one dtype each (`has_dtypes`), what it says of these is so for whatever sizes.
        """
        chosen = [one for one in refused if bool(_DTYPE.search(str(one.error))) is not of_any_dtype]
        refused = chosen or refused
        refused = [one for one in refused if not _RANK.search(str(one.error))] or refused
        texts = [re.sub(r"\d+", "", str(one.error)) for one in refused]
        most = Counter(texts).most_common(1)[0][0]
        found = refused[texts.index(most)]
        others = [str(one.error) for one, text in zip(refused, texts) if text == most]
        found.failure.guessed, found.failure.examples = True, examples_in(found, others)
        found.failure.by_data = free in (Free.COUNTED, Free.DRAWN) and not self.by_chance
        found.failure.by_dtype = has_dtypes and bool(chosen) and self.is_sure_but_for_sizes()
        self.failures[id(found.error)] = found.failure
        return found.error

    def _rule_out(self, choices: list[Choice], refused: dict[tuple, FailsInWorld]) -> None:
        """Options that lead to a refusal in every world they are in."""
        for position, choice in enumerate(choices):
            if choice is SIZES or not refused:
                continue
            rest = [len(c.left) for c in choices if c is not choice]
            worlds = 1
            for number in rest:
                worlds *= number
            counts = Counter(options[position] for options in refused)
            choice.left = [o for o in choice.left if counts[o] < worlds] or choice.left

    def as_many_as_data_say(self, function: Callable, args: tuple, kwargs: dict[str, Any], reason: str) -> Any:
        """What a call makes of values that nobody knows, if only its length depends on them; None for other calls."""
        make = as_many.maker(function, args, kwargs) if self.wild else None
        if make is None:
            return None
        if self.example is None:
            by_chance = any(map(is_by_chance, as_many.masks_in(function, args)))
            self.why_many = Free.DRAWN if by_chance else Free.COUNTED
            return self.in_worlds(lambda given: self.foreign(function, *given), [args, kwargs], reason)
        try:
            return make(self.size_by_data(), args, kwargs)
        except Exception as error:
            self.remember(error, function, args, kwargs)
            raise

    def size_by_data(self, number: int = 0) -> int:
        """How many items the data make in the world that runs; the same each time in one operation, and another one for
        another `number`.
        """
        if number not in self.many:
            self.many[number] = wild.free_size()
        return self.many[number][self.world]

    def freed(self, value: Any, dimension: int, reason: str, free: Free = Free.GIVEN) -> Any:
        """A tensor or an array one dimension of which is free: what it was made of holds more than is known."""
        choices, blind = wild.choices_in(value)
        if blind is not None or not isinstance(wild.in_world(value, next(wild.worlds(choices))), (torch.Tensor, Array)):
            return Unknown(reason)
        choices += [SIZES] if SIZES not in choices else []
        pair, made = wild.free_size(), {}
        for world in wild.worlds(choices):
            one = wild.in_world(value, world)
            tensor = one.tensor if isinstance(one, Array) else one
            if not -tensor.dim() <= dimension < tensor.dim():
                return Unknown(reason)
            tensor = wild.resized(tensor, {dimension % tensor.dim(): pair[world[SIZES]]})
            made[tuple(world[c] for c in choices)] = Array(tensor) if isinstance(one, Array) else tensor
        return wild.join(choices, made, reason, free)

    def lengthened(self, made: Any, rows: int, count: int) -> Any:
        """A tensor or an array of so many rows as one of which some rows were made; None if it is another thing."""
        tensor = made.tensor if type(made) is Array else made
        if not isinstance(tensor, torch.Tensor) or tensor.requires_grad or tensor.dim() == 0 or len(tensor) != rows:
            return None
        longer = self.foreign(torch.Tensor.new_empty, (tensor, (count, *tensor.shape[1:])), {})
        return Array(longer) if type(made) is Array and isinstance(longer, torch.Tensor) else longer

    # Attributes and calls

    def get_known(self, owner: Unknown, name: str) -> Any:
        """`owner.name`"""
        example = owner.known.example
        found = self.get(example, name)
        if callable(found) and not isinstance(found, nn.Module):

            def call(machine, *args, **kwargs):
                if name == "squeeze" and wild.squeezes_free_size(owner, args, kwargs):
                    return Unknown("a tensor without a dimension whose size nobody knows")

                def run(given):
                    return machine.call(machine.get(given[0], name), list(given[1]), dict(given[2]))

                given = [owner, args, kwargs]
                if (numbered := any_numbers.marked(given)) is not None:
                    return machine.with_numbers(run, numbered, name, owner.reason)
                if name in ("view", "reshape"):
                    return machine.viewed(run, given, wild.left_to_torch(args), owner.reason)
                return machine.in_worlds(run, given, owner.reason)

            return Special(name, call)
        return self.in_worlds(lambda given: self.get(given[0], name), [owner], owner.reason)

    def call_known(self, function: Any, args: tuple, kwargs: dict[str, Any], reason: str) -> Any:
        """A function of torch with arguments some of which are known in part."""
        if function is torch.squeeze and args and wild.squeezes_free_size(args[0], args[1:], kwargs):
            return Unknown("a tensor without a dimension whose size nobody knows")

        def run(given):
            return self.foreign(function, tuple(given[0]), dict(given[1]))

        if function is torch.reshape:
            return self.viewed(run, [args, kwargs], wild.left_to_torch(args[1:]), reason)
        return self.stacked(getattr(function, "__name__", ""), run, args, kwargs, reason)

    def stacked(self, name: str, run: Run, args: Any, kwargs: Any, reason: str) -> Any:
        """What a function makes of arguments some of which are known in part. Tensors that it stacks are all like the
        first one, or it refuses them.
        """
        parts, rest = args[0] if args else None, args[1:]
        several = type(parts) in (list, tuple) and wild.are_of_one_shape(parts)
        self.apart = several and name == "stack" and wild.are_drawn_apart(parts)
        try:
            made = self.in_worlds(run, [args, kwargs], reason)
        finally:
            self.apart = False
        if type(made) is not Unknown or made.known or not several or not re.fullmatch(r"stack|(as)?array", name):
            return made
        return self.in_worlds(lambda given: run([(given * len(parts), *rest), kwargs]), [parts[0]], reason)

    def with_numbers(self, run: Run, numbered: Any, name: str, reason: str) -> Any:
        """What a function of torch makes of numbers that nobody knows, beside what may be known in part."""
        if wild.choices_in(numbered)[0]:
            return self.in_worlds(lambda given: any_numbers.agreed(run, given, name, reason), numbered, reason)
        try:
            with self._unheard():
                return any_numbers.agreed(run, numbered, name, reason)
        except UnknownUsed:
            return Unknown(reason)

    def viewed(self, run: Run, given: Any, dimension: int | None, reason: str) -> Any:
        """A view of something whose sizes are open. Where these were made to fit it, they were made to fit just so: it
        says nothing of the `dimension` that is left to torch.
        """
        has_refused = False

        def tried(one: Any) -> Any:
            nonlocal has_refused
            try:
                return run(one)
            except Exception:
                has_refused = True
                raise

        made = self.in_worlds(tried, given, reason)
        if not has_refused or dimension is None:
            return made
        return self.freed(made, dimension, reason, wild.freedom(given))

    def in_part(self, function: Callable, args: tuple, kwargs: dict[str, Any], unknown: Unknown) -> Any:
        """A call of torch of whose arguments only a part is known."""
        _, blind = wild.choices_in([args, kwargs])
        if blind is not None and (numbered := any_numbers.marked([args, kwargs])) is not None:
            name = getattr(function, "__name__", "")
            made = self.with_numbers(lambda given: self.foreign(function, *given), numbered, name, blind.reason)
            if type(made) is not Unknown or wild.known_of(made) is not None:
                return made
        if blind is not None:
            if args and type(args[0]) in (list, tuple) and any(item is REST for item in args[0]):
                made = self._joined(function, args, kwargs, blind.reason)
                if made is not None:
                    return made
            if LOSS.search(getattr(function, "__name__", "")):
                self.progress.reached("a loss", blind)
            owner = getattr(function, "__self__", None)
            given = self.supposed(function, [owner, *args] if isinstance(owner, torch.Tensor) else list(args), kwargs)
            if given is None or isinstance(owner, torch.Tensor):
                return self._left_out(function, blind.reason, args)
            args, kwargs = tuple(given[0]), given[1]
        return self.call_known(function, args, kwargs, unknown.reason)

    def _joined(self, function: Callable, args: tuple, kwargs: dict[str, Any], reason: str) -> Any:
        """What becomes of tensors of which more would come, all like these: sizes are free; None of other calls."""
        if function is pad_sequence:
            dimensions: tuple = (0, 1)
        elif function in _JOINS:
            dimensions = (kwargs.get("dim", args[1] if len(args) > 1 else 0),)
        else:
            return None
        known = [item for item in args[0] if item is not REST]
        if not known or any(type(dimension) is not int for dimension in dimensions):
            return None
        made = self.foreign(function, (known, *args[1:]), kwargs)
        for dimension in dimensions:
            made = self.freed(made, dimension, reason, wild.freedom(known, Free.COUNTED))
        return made

    def layer_in_part(self, module: nn.Module, args: list, kwargs: dict[str, Any], unknown: Unknown) -> Any:
        """One of torch's own layers, called with what is known in part; None if it holds modules of the program."""
        forward = type(module).forward
        code = getattr(forward, "__code__", None)  # that of torch: a class may have been given another one
        if code is not None and len(args) >= code.co_argcount and not code.co_flags & inspect.CO_VARARGS:
            most = code.co_argcount
            text = f"{forward.__qualname__}() takes {most} positional arguments but {len(args) + 1} were given"
            self.refuse(TypeError(text), module, tuple(args))
        if forward is nn.Sequential.forward and len(args) == 1:
            value = args[0]
            for part in module:
                value = self.call_module(part, [value], {})
            return value
        if isinstance(module, Parallel) and not self.is_own(module):
            return self.call_module(module.module, *module.moved(args, kwargs))
        if any(self.is_own(part) or isinstance(part, (guards.Placeholder, FreeLayer)) for part in modules_of(module)):
            return None
        if wild.choices_in([args, kwargs])[1] is not None:
            given = self.supposed(module, args, kwargs)
            if given is None and isinstance(module, nn.RNNBase):
                self._try_state(module, args, kwargs)
            if given is None:
                return None if not LOSS.search(type(module).__name__) else self._loss_of_unknowns(module)
            args, kwargs = given
        with _taken_from(module) as hooks:
            made = self.in_worlds(
                lambda given: self.call_module(module, list(given[0]), dict(given[1])), [args, kwargs], unknown.reason
            )
            self.lend_hooks(module)
        for number, hook in hooks.items():  # which see what stands for all worlds, once
            named = [kwargs] if number in module._forward_hooks_with_kwargs else []
            changed = self.call(hook, [module, tuple(args), *named, made], {})
            made = made if changed is None else changed
        return made

    def _try_state(self, module: nn.RNNBase, args: list, kwargs: dict[str, Any]) -> None:
        """Let torch say that a state does not fit a recurrent layer, whatever its input is (a packed sequence)."""
        state = args[1] if len(args) > 1 else kwargs.get("hx")
        first = state[0] if type(state) is tuple and state else state
        if not isinstance(first, torch.Tensor) or first.dim() != 3 or wild.choices_in(state)[1] is not None:
            return
        batch, wide = first.shape[1], module.input_size
        sizes = (batch, 1, wide) if module.batch_first else (1, batch, wide)
        setattr(some := first.new_empty(sizes), wild.FREE, range(3))
        self.call_module(module, [some, state], {})

    def _loss_of_unknowns(self, module: nn.Module) -> Any:
        """What a loss makes of tensors nobody knows: one number, unless it is told to make more."""
        one = getattr(module, "reduction", "none") in ("mean", "sum")
        return computed(torch.zeros(())) if one else None

    def operate_in_part(self, apply: Callable, a: Any, b: Any, unknown: Unknown) -> Any:
        """An operator on something that is known in part, or on a tensor and something unknown."""
        given: Any = [a, b]
        if wild.choices_in(given)[1] is not None:
            found = self.supposed(apply, given, {})
            if found is None:
                return Unknown(unknown.reason)
            given = found[0]
        return self.in_worlds(lambda given: self.operate(apply, *given), given, unknown.reason)

    def supposed(
        self, function: Any, args: Any, kwargs: dict[str, Any], nowhere: bool = False
    ) -> tuple[list, dict] | None:
        """The arguments of a layer or a loss with a tensor in place of each of which nothing is known; None if it does
        not say that it takes tensors. They are on its device, unless nobody knows that either (`nowhere`).
        """
        name = type(function).__name__ if isinstance(function, nn.Module) else getattr(function, "__name__", "")
        if LOSS.search(name):
            return self._loss_of(list(args), kwargs)
        if isinstance(function, (nn.Embedding, nn.EmbeddingBag)):
            dtypes, ranks = (torch.int64,), wild.RANKS
        elif isinstance(function, nn.RNNBase) and type(args[0]) is Unknown and type(args[0].known) is not Known:
            return None  # a packed sequence, perhaps
        elif isinstance(function, nn.Module):
            weight = next(weights_of(function), None)
            if weight is None:
                return None
            dtypes, ranks = (weight.dtype,), [rank for rank in wild.RANKS if rank]
        elif name in ARITHMETIC and any(is_float(value) for value in args):
            dtypes, ranks = (torch.float32,), wild.RANKS
        else:
            return None
        beside = next(self._beside(function, args), None)
        device = self.device_of(beside) if beside is not None else None
        anywhere = nowhere or beside is not None and device_tags.tag_of(beside) == device_tags.ANY

        def suppose(value: Any) -> Any:
            if type(value) is Unknown and type(value.known) is not Known:
                number = wild.is_number(value)
                return wild.tensor(
                    value.reason,
                    ranks=(0,) if number else ranks,
                    dtypes=dtypes,
                    device=device,
                    make=lambda made: device_tags.anywhere(computed(made)) if anywhere else computed(made),
                )
            return value

        rest = args[1:]
        if isinstance(function, (nn.RNNBase, nn.RNNCellBase)):
            rest = [value for value in rest if type(value) is not Unknown]  # a state that may be left out
        kwargs = {k: suppose(v) for k, v in kwargs.items() if not ("mask" in k and type(v) is Unknown)}
        return [suppose(value) for value in (*args[:1], *rest)], kwargs

    def _loss_of(self, args: list, kwargs: dict[str, Any]) -> tuple[list, dict] | None:
        """The arguments of a loss with what belongs to its input in place of an unknown target, or the other way."""
        names = [0, 1] if len(args) > 1 else [0, "target"] if args else ["input", "target"]
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        blind = [name for name in names if name in given and wild.choices_in(given[name])[1] is not None]
        for name in [n for n in given if n not in names and wild.choices_in(given[n])[1] is not None]:
            if name not in ("weight", "pos_weight", "ignore_index"):
                return None
            del given[name]
        if len(blind) != 1 or len(names) < 2 or not all(name in given for name in names):
            return None
        other = given[names[0] if blind[0] == names[1] else names[1]]
        made = self._counterpart(other, blind[0] == names[1], given[blind[0]].reason)
        if made is None:
            return None
        given[blind[0]] = made
        return [given[i] for i in range(len(args))], {k: v for k, v in given.items() if isinstance(k, str)}

    def _counterpart(self, value: Any, is_target: bool, reason: str) -> Any:
        """What a loss takes beside a tensor: one of the same shape, or with the number of each class in its place."""
        if not isinstance(value, torch.Tensor) and not are_tensors(value):
            return None
        alike, free = Choice(("same", "classes")), wild.free_size()
        choices = [*wild.choices_in(value)[0], alike]
        choices += [SIZES] if SIZES not in choices else []
        made = {}
        for world in wild.worlds(choices):
            one = wild.in_world(value, world)
            shape, dtype = list(one.shape), torch.float32
            if world[alike] == "classes" and is_target:
                shape, dtype = shape[:1] + shape[2:] if len(shape) > 1 else [], torch.int64
            elif world[alike] == "classes":
                shape.insert(1, free[world[SIZES]])
            if prod(shape) > LARGEST:
                return None
            device = self.device_of(one)
            empty = torch.empty(shape, dtype=dtype, device=device)
            device_tags.follow(empty, one)
            made[tuple(world[c] for c in choices)] = empty if is_target else computed(empty)
        return wild.join(choices, made, reason)

    def _beside(self, function: Any, args: Any) -> Iterator[torch.Tensor]:
        """The tensors with which those that nobody knows must be together."""
        if isinstance(function, nn.Module):
            yield from weights_of(function)
        for value in args:
            known = wild.known_of(value)
            value = known.example if known is not None else value
            if isinstance(value, torch.Tensor):
                yield value


@contextmanager
def _taken_from(module: nn.Module) -> Iterator[dict[int, Callable]]:
    """The functions of the program that a layer's results go through; while this lasts, the layer is without them."""
    hooks, module._forward_hooks = module._forward_hooks, OrderedDict()
    try:
        yield dict(hooks)
    finally:
        module._forward_hooks = hooks


def are_tensors(value: Any) -> bool:
    """Whether a value is a tensor or an array in every world."""
    known = wild.known_of(value)
    return known is not None and all(isinstance(v, (torch.Tensor, Array)) for v in known.values.values())


def is_float(value: Any) -> bool:
    """Whether a value is a tensor of floats, wherever it is known."""
    known = wild.known_of(value)
    values = known.values.values() if known is not None else (value,)
    return all(isinstance(v, torch.Tensor) and v.is_floating_point() for v in values)
