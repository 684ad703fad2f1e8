"""One row of the table: where a function stands, under which names, and what it does.

    word      | homes                   | facts
    softplus  | F                       | pointwise keeps_input
    Softplus  | nn                      | as:softplus

The homes are `torch`, `F` (torch.nn.functional), `.` (a method of a tensor), `linalg`, `special`, `nn` (a layer,
spelled as the call of one) and `Module` (a method of a module); `torch_`, `F_` and `._` are the forms that work in
place. `as:` means: another name of the same function. A word whose homes differ has a row for each. Where what a call
does depends on its other arguments, only what always holds is said.
"""

from __future__ import annotations

from collections.abc import Iterator


class Fact:
    """What a function does, as one of its names. What its row does not say has the answer that stands here."""

    word: str  # the name: `relu`, `relu_`, `ReLU`
    home: str
    function: str  # the name under which the table describes it: `relu` for all three
    gives: str = "tensor"  # or `tensors`, `tensor|tensors`, `number`, `size`, `none`, `other`
    # The numbers
    same_numbers: bool = False  # the result is its input, moved, cast or arranged in another way
    picks: bool = False  # the result is some of the numbers of its input, chosen by their places
    clips: bool = False  # numbers outside some bounds are brought to these, all others stay
    pointwise: bool = False  # each number is computed from the one in its place; includes `same_shape`
    broadcasts: bool = False  # its tensors are spread to one shape first
    reduces: bool = False  # one number of all, if it is not told along which dimension
    joins: bool = False  # makes one tensor of a list of them
    indices: bool = False  # its second result, if it has one, is places
    random: bool = False
    # The shape
    same_shape: bool = False  # of its first tensor; includes `same_rank`
    same_rank: bool = False  # as many dimensions
    # The memory
    view: bool = False  # the result shares the memory of its input
    locked: bool = False  # a view that torch does not let be changed in place, if there is a graph
    may_view: bool = False  # it does where nothing has to be changed
    itself: bool = False  # the very tensor that was given, where nothing has to be changed; includes `may_view`
    of_sizes: bool = False  # its arguments are the sizes of the tensor that it makes
    row: bool = False  # the tensor that it makes has one dimension
    creates: bool = False  # a tensor from sizes or data, on the default device unless `device=` says another one
    like: bool = False  # a new tensor on the device of another one
    moves: bool = False  # to a device
    casts: bool = False  # to a dtype
    in_place: bool = False  # its first tensor is changed and returned
    inplace: bool = False  # is so if it is told `inplace=True`
    # The graph
    keeps_input: bool = False  # its first tensor is kept for backward, if that one has a gradient
    keeps_operands: bool = False  # each of its tensors is kept, if another one has a gradient
    keeps_output: bool = False
    cuts: bool = False  # no gradient comes through
    flat: bool = False  # there is a graph, and the gradient is zero everywhere
    weights: bool = False  # the layer has parameters of its own
    affine: bool = False  # each number is a sum of its input's, weighted by these, so that nothing bounds it
    # The name
    own: bool = False  # nothing but a tensor has a method of this name
    same_object: bool = False  # a method that returns the module itself

    def __init__(self, word: str, home: str, function: str, said: dict[str, str | bool]):
        self.__dict__.update(said)
        self.word, self.home, self.function = word, home, function

    def __repr__(self) -> str:
        return " ".join(f"{word}={answer}" for word, answer in self.__dict__.items())


_PREFIXES = {
    "torch": "torch.",
    "F": "torch.nn.functional.",
    ".": ".",
    "linalg": "torch.linalg.",
    "special": "torch.special.",
    "nn": "torch.nn.",
    "Module": "Module.",
    "torch_": "torch.",
    "F_": "torch.nn.functional.",
    "._": ".",
}
_INCLUDED = {"pointwise": ("same_shape", "same_rank"), "same_shape": ("same_rank",), "itself": ("may_view",)}
_PLAIN = ("number", "size", "other")  # through these no gradient comes
# What is true of some homes of a function only.
_ONLY_AT = {"own": (".", "._"), "inplace": ("F", "nn")}
_WORDS = frozenset(word for word, kind in Fact.__annotations__.items() if kind == "bool")
_KINDS = "gives:"
_SAME = "as:"


def described(rows: str) -> dict[str, tuple[str, ...]]:
    """What the first row of each word says, for its other names."""
    found: dict[str, tuple[str, ...]] = {}
    for word, _, said in _split(rows):
        found.setdefault(word, said)
    return found


def read(rows: str, other: dict[str, tuple[str, ...]] | None = None) -> dict[str, Fact]:
    """The facts by spelling; `other` is what the rows say that `as:` means, if they stand elsewhere too."""
    known = other or described(rows)
    answers: dict[tuple, dict[str, str | bool]] = {}  # few differ
    found: dict[str, Fact] = {}
    for word, homes, said in _split(rows):
        function = said[0].removeprefix(_SAME) if said and said[0].startswith(_SAME) else word
        said = known[function] if function != word else said
        for home in homes:
            if (said, home) not in answers:
                answers[said, home] = _answers(said, home)
            name = f"{word}_" if home[-1] == "_" else word
            spelling = f"{_PREFIXES[home]}{name}{'()' if home == 'nn' else ''}"
            if spelling in found:
                raise ValueError(f"two rows say what {spelling} does")
            found[spelling] = Fact(name, home, function, answers[said, home])
    return found


def _split(rows: str) -> Iterator[tuple[str, list[str], tuple[str, ...]]]:
    for line in rows.splitlines():
        if line and not line.startswith("#"):
            parts = line.split("|")
            if len(parts) < 3:
                raise ValueError(f"a row has a word, its homes and its facts: {line!r}")
            yield parts[0].strip(), parts[1].split(), tuple("|".join(parts[2:]).split())


def _answers(said: tuple[str, ...], home: str) -> dict[str, str | bool]:
    """What a row says of one home."""
    answers: dict[str, str | bool] = {}
    for fact in said:
        if fact.startswith(_KINDS):
            answers["gives"] = fact.removeprefix(_KINDS)
            if answers["gives"] in _PLAIN and home not in ("nn", "Module"):
                answers["cuts"] = True
        elif fact not in _WORDS:
            raise ValueError(f"no fact is called {fact}")
        elif home in _ONLY_AT.get(fact, (home,)):
            answers.update(dict.fromkeys((fact, *_INCLUDED.get(fact, ())), True))
    if home.endswith("_"):
        answers["in_place"] = True
        for kept in ("keeps_input", "keeps_operands"):  # what it changes is not what it was given
            answers.pop(kept, None)
    return answers
