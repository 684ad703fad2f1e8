"""torchlint finds PyTorch mistakes before the code meets a GPU.

`lint(text, path)` and `check(paths)` are the Python API; the other names are what a rule file imports. All are loaded
when first used.
"""

# No import stands here that runs: `python -m torchlint` comes here with the working folder still first on the path.
TYPE_CHECKING = False

__version__ = "0.1.0"

if TYPE_CHECKING:
    from typing import Any

    from torchlint.facts import named, named_of, words
    from torchlint.finding import Edit, Finding, Fix, Note, Span
    from torchlint.linter import lint
    from torchlint.notation import shape_text
    from torchlint.run import check
    from torchlint.source.asking.rounds import Loop, Round
    from torchlint.source.asking.structures import Change, ModuleClass
    from torchlint.source.asking.views import Call, Node, Origin
    from torchlint.source.flow.flow import SAME_NUMBERS, SCALED
    from torchlint.source.training.roles import Role
    from torchlint.source.training.updates import Update
    from torchlint.triggers import on_call, on_error, on_graph, on_inplace, on_loop, on_module, on_node, on_op, on_round

_HOMES = {
    "lint": "linter",
    "check": "run",
    "SAME_NUMBERS": "source.flow.flow",
    "SCALED": "source.flow.flow",
    "named": "facts",
    "named_of": "facts",
    "words": "facts",
    "shape_text": "notation",
    "Span": "finding",
    "Edit": "finding",
    "Fix": "finding",
    "Note": "finding",
    "Finding": "finding",
    "Call": "source.asking.views",
    "Change": "source.asking.structures",
    "Loop": "source.asking.rounds",
    "Round": "source.asking.rounds",
    "Role": "source.training.roles",
    "Update": "source.training.updates",
    "ModuleClass": "source.asking.structures",
    "Node": "source.asking.views",
    "Origin": "source.asking.views",
    **{
        f"on_{kind}": "triggers"
        for kind in ("call", "node", "module", "inplace", "loop", "round", "op", "graph", "error")
    },
}


def __getattr__(name: str) -> "Any":
    if name not in _HOMES:
        raise AttributeError(f"module 'torchlint' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"torchlint.{_HOMES[name]}"), name)
