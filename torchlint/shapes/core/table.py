"""A forward as a table: plain data that prints, becomes JSON and crosses processes. Does not need torch."""

from __future__ import annotations

from msgspec import Struct

from torchlint.finding import Span


class ShownValue(Struct, frozen=True):
    """What is known of a tensor."""

    shape: tuple[int, ...]
    dtype: str
    device: str = "cpu"


class Step(Struct, frozen=True):
    """One operation or layer. `sources` says which steps (their numbers) and inputs (their names) it takes tensors
    from."""

    number: int
    path: str  # the file; "" if it is not known
    span: Span | None
    module: str  # the name of the layer, or of the module whose forward this is
    label: str
    layer: bool
    inputs: tuple[ShownValue, ...]
    outputs: tuple[ShownValue, ...]
    parameters: int
    sources: tuple[int | str, ...]
    error: str = ""


class LayerCall(Struct, frozen=True):
    """Where a module of the program was called within the forward, and what it gave."""

    path: str
    span: Span
    module: str
    outputs: tuple[ShownValue, ...]
    failed: bool = False


class Cost(Struct, frozen=True):
    """What a step costs: multiply-adds, and bytes that autograd keeps for backward."""

    multiply_adds: int
    kept: int


class ForwardCost(Struct, frozen=True):
    """What a forward costs. Parameters are numbers, the rest bytes: of parameters and buffers together, and of what is
    trained; a cost for each step; how many samples were in its batch.
    """

    trainable: int
    frozen: int
    held: int
    trained: int
    costs: tuple[Cost, ...]
    batch: int

    @property
    def kept(self) -> int:
        return sum(cost.kept for cost in self.costs)

    @property
    def multiply_adds(self) -> int:
        return sum(cost.multiply_adds for cost in self.costs)


class Table(Struct, frozen=True):
    """One forward. `assumed` says where the sizes of an input come from that nobody gave, `arguments` what the
    constructor got by
    guess; `error` why it did not run to its end.
    """

    name: str
    path: str
    span: Span | None
    inputs: dict[str, str]
    steps: tuple[Step, ...] = ()
    calls: tuple[LayerCall, ...] = ()
    parameters: int = 0
    assumed: dict[str, str] = {}
    arguments: dict[str, str] = {}
    error: str = ""
    result: str = ""
    guessed: bool = False
    report: ForwardCost | None = None
