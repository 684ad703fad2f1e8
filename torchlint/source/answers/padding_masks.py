"""What a mask of padding says by True: that there is padding, or that there is a token."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from torchlint.facts import named, named_of
from torchlint.facts.attending import PADDING
from torchlint.source.answers.causal_masks import COMPARISONS
from torchlint.source.flow.called import is_call_of
from torchlint.source.flow.changed import changes_of, names_of
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.numbers import number
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.values import EACH, Answer, Value
from torchlint.source.text.index import ancestors, enclosing_function
from torchlint.source.text.spelling import argument, receiver, unparsed
from torchlint.source.training.samples import collated, samples
from torchlint.source.training.written_over import is_changed_by_name

# What leaves each number, or each row of them, what it says.
_KEPT = (
    named("casts")
    | named("moves")
    | named_of("unsqueeze", "squeeze", "expand", "repeat", "contiguous", "clone", "view", "reshape", "detach", "t")
    | named_of("transpose", "permute", "flatten")
)
_NOT = named_of("logical_not", "bitwise_not")
_GATHERS = named_of("any", "all", "pad")
_FILLED = named_of("zeros", "zeros_like", "ones", "ones_like")
_JOINS = named("joins")
_COUNTS = named_of("arange") | {"builtins.range"}
_COMPARES = named_of(*COMPARISONS)
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.Lt, ast.Lt: ast.Gt, ast.GtE: ast.LtE, ast.LtE: ast.GtE}
_PADDING = re.compile(r"pad(?!d)|padding", re.IGNORECASE)  # `PAD`, `self.pad_idx`, `vocab["<pad>"]`
_TOKENS = re.compile(
    r"(?:^|_)(?:x|src|tgt|trg|source|target|tokens?|ids|seqs?|sequences?|texts?|inputs?|words?|sents?|sentences?"
    r"|captions?|chars?|items?|history|feats?|features?)(?:_|$)",
    re.IGNORECASE,
)
_OF_MASKS = re.compile(r"mask|pad|valid|miss|flag|type|segment|attn|attention|len", re.IGNORECASE)
_OF_OTHERS = re.compile(r"mask|padded|len", re.IGNORECASE)  # which say `pad`, and are no number of a token
_LENGTHS = re.compile(r"len", re.IGNORECASE)
_STEPS = 8  # of expressions that make a mask


def taken_masks(name: str) -> Iterable[tuple[str, int]]:
    """The names and positions of the arguments by which what attends is told of padding."""
    return PADDING.get(name, {}).items()


def marks_tokens(mask: Value, steps: int = _STEPS) -> Answer:
    """Does True stand where tokens are? False: where padding is."""
    made = origins(mask, _KEPT) if steps else []
    if len(made) == 1 and is_call_of(made[0], _FILLED):
        return _as_filled(made[0])
    found = {_sense(origin, steps) for origin in made}
    if len(found) != 1 or is_changed_by_name(mask, [one for one in made if one.node is not None]):
        return None
    return found.pop()


def _as_filled(made: Value) -> Answer:
    """`mask = torch.zeros(n, longest)`, of which all that is set later is `mask[i, : lengths[i]] = 1`"""
    stores = [change for name in names_of(made) for change in changes_of(made.module.index, name)]
    around = enclosing_function(made.node)
    found = {_as_stored(made, store) for store in stores if enclosing_function(store) is around}
    return found.pop() if len(found) == 1 else None


def _as_stored(made: Value, store: ast.AST) -> Answer:
    """What such a store says of True: `[i, :n]` are the tokens, `[i, n:]` the padding."""
    given = store.up.value if isinstance(store, ast.Subscript) and isinstance(store.up, ast.Assign) else None
    cut = store.slice.elts[-1] if given is not None and isinstance(store.slice, ast.Tuple) else None
    filling = _number(made.at(given, ())) if given is not None else None
    if not isinstance(cut, ast.Slice) or cut.step is not None or filling is None:
        return None
    bound = cut.lower or cut.upper
    is_one = bound is not None and not (cut.lower and cut.upper) and _is_length(bound)
    if not is_one or filling != (0 if is_call_of(made, named_of("ones", "ones_like")) else 1):
        return None
    return (cut.upper is not None) is (filling == 1)


def _is_length(bound: ast.expr) -> bool:
    """`len(tokens)`, `lengths[i]`, `n` of `for i, n in enumerate(lengths)`"""
    if isinstance(bound, ast.BinOp) or _PADDING.search(unparsed(bound)):
        return False
    scope = bound.at.lookup(bound.id) if isinstance(bound, ast.Name) else None
    rounds = (next(ancestors(one), None) for one in (reaching(bound, scope) if scope is not None else ()))
    iterated = (one.up.iter for one in rounds if isinstance(one, ast.Tuple) and isinstance(one.up, ast.For))
    return any(_LENGTHS.search(unparsed(text)) for text in (bound, *iterated))


def made_of(mask: Value) -> Value | None:
    """The comparison, or what else makes it."""
    made = [origin for origin in origins(mask, _KEPT) if origin.node is not None]
    return made[0] if made else None


def _sense(one: Value, steps: int) -> Answer:
    node = one.node
    if one.path:
        parts = (samples(one, _KEPT) or collated(one)) if one.path[:1] == (EACH,) else []
        return _agreed([marks_tokens(part, steps - 1) for part in parts])
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compared(one.at(node.left, ()), type(node.ops[0]), one.at(node.comparators[0], ()), steps)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return _turned(marks_tokens(one.at(node.operand, ()), steps - 1))
    if isinstance(node, ast.BinOp):
        return _of_two(one, node, steps)
    if isinstance(node, ast.Subscript):
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        is_cut = all(isinstance(place, ast.Slice) or getattr(place, "value", 0) in (None, ...) for place in places)
        return marks_tokens(one.at(node.value, ()), steps - 1) if is_cut else None
    return _of_call(one, node, steps) if isinstance(node, ast.Call) else None


def _of_two(one: Value, node: ast.BinOp, steps: int) -> Answer:
    """`1 - mask`, `first & second`"""
    left, right = one.at(node.left, ()), one.at(node.right, ())
    if isinstance(node.op, ast.Sub):
        return _turned(marks_tokens(right, steps - 1)) if number(left) == 1 else None
    if isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        return _agreed([marks_tokens(left, steps - 1), marks_tokens(right, steps - 1)])
    return None


def _of_call(one: Value, call: ast.Call, steps: int) -> Answer:
    is_method = all(callee.name.startswith(".") for callee in callees(one))
    of = receiver(call) if is_method else argument(call, "input", 0)
    if of is None:
        return None
    inner = one.at(of, ())
    if is_call_of(one, _NOT):
        return _turned(marks_tokens(inner, steps - 1))
    if is_call_of(one, _GATHERS):
        return marks_tokens(inner, steps - 1)
    if is_call_of(one, _COMPARES):
        other = argument(call, "other", 0 if is_method else 1)
        [word] = {callee.name.rpartition(".")[2].rstrip("_") for callee in callees(one)}
        return _compared(inner, COMPARISONS[word], one.at(other, ()), steps) if other is not None else None
    if is_call_of(one, _JOINS) and isinstance(of, (ast.List, ast.Tuple)):
        parts = [one.at(part, ()) for part in of.elts]
        plain = [part for part in parts if all(is_call_of(made, _FILLED) for made in origins(part, _KEPT))]
        return _agreed([marks_tokens(part, steps - 1) for part in parts if part not in plain])  # no place for a class
    return None


def _agreed(senses: list[Answer]) -> Answer:
    return senses[0] if senses and len(set(senses)) == 1 else None


def _turned(sense: Answer) -> Answer:
    return None if sense is None else not sense


def _compared(left: Value, kind: type[ast.cmpop], right: Value, steps: int) -> Answer:
    """`tokens != PAD`, `torch.arange(n) < lengths[:, None]`, and `mask == 0`, which turns a mask."""
    if _is_padding(left) and not _is_padding(right) and _number(right) is None or _counts(right):
        left, kind, right = right, _TURNED.get(kind, kind), left
    if _counts(left):
        return kind in (ast.Lt, ast.LtE) if kind in _TURNED and _are_lengths(right, steps) else None
    is_padding, with_what = _is_padding(right), _number(right)
    if not is_padding and with_what in (0, 1):
        before = marks_tokens(left, steps - 1)
        if before is not None:
            says_yes = (kind, with_what) in ((ast.Eq, 1), (ast.NotEq, 0), (ast.Gt, 0), (ast.GtE, 1))
            says_no = (kind, with_what) in ((ast.Eq, 0), (ast.NotEq, 1), (ast.Lt, 1), (ast.LtE, 0))
            return before if says_yes else _turned(before) if says_no else None
    name = _name(left)
    if _OF_MASKS.search(name) or not (is_padding or with_what == 0 and _TOKENS.search(name)):
        return None
    if kind in (ast.Eq, ast.NotEq):
        return kind is ast.NotEq
    return True if kind is ast.Gt and with_what == 0 else None


def _are_lengths(value: Value, steps: int) -> bool:
    """Are they called so, or computed of what is: `used` of `used = lengths // 4`?"""
    if isinstance(value.node, ast.BinOp):
        is_less = isinstance(value.node.op, ast.Sub) and not isinstance(value.node.right, ast.Constant)
        return bool(steps) and not is_less and _are_lengths(value.at(value.node.left, ()), steps - 1)
    name = _name(value)
    if _LENGTHS.search(name) or _PADDING.search(name):
        return not _PADDING.search(name)
    made = [_uncut(one) for one in origins(value, _KEPT)] if steps else []
    made = [one for one in made if one.node is not value.node]
    return bool(made) and all(not one.path and _are_lengths(one, steps - 1) for one in made)


def _is_padding(value: Value) -> bool:
    """Does it go by the name of padding, and is it a number: `PAD`, `self.pad_idx`, `vocab["<pad>"]`?"""
    node = value.node
    is_named = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))
    return is_named and bool(_PADDING.search(unparsed(node))) and not _OF_OTHERS.search(unparsed(node))


def _number(value: Value) -> int | float | None:
    node = value.node
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return int(node.value)
    return number(value)


def _counts(value: Value) -> bool:
    """Is it 0, 1, 2, … along the steps?"""
    made = [_uncut(origin) for origin in origins(value, _KEPT)]
    return bool(made) and all(is_call_of(one, _COUNTS) for one in made)


def _uncut(one: Value) -> Value:
    """`steps` of `steps[None, :]`"""
    node = one.node
    if not isinstance(node, ast.Subscript) or one.path:
        return one
    made = origins(one.at(node.value, ()), _KEPT)
    return made[0] if len(made) == 1 else one


def _name(value: Value) -> str:
    """`tokens` of `tokens[:, 1:]`, `x` of `x.abs().sum(-1)`, `ids` of `batch["ids"]`"""
    node = value.node
    while True:
        if isinstance(node, ast.Call):
            node = node.func.value if isinstance(node.func, ast.Attribute) else None
        elif isinstance(node, ast.Subscript) and not isinstance(getattr(node.slice, "value", None), str):
            node = node.value
        else:
            break
    if isinstance(node, ast.Subscript):
        return node.slice.value
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
