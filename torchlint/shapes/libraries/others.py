"""Other libraries that model code builds on: a few names with a meaning for shapes, the rest unknown."""

from __future__ import annotations

from typing import Any

from torchlint.shapes.core.values import Special, Unknown
from torchlint.shapes.libraries import einops
from torchlint.shapes.libraries.argparse import CLICK
from torchlint.shapes.libraries.lightning import LIGHTNING, OpenModule
from torchlint.shapes.libraries.stdlib import Context
from torchlint.shapes.libraries.torchvision import VISION
from torchlint.shapes.libraries.torchvision_models import MODELS

KNOWN = frozenset(
    "click einops einops.layers einops.layers.torch torchvision torchvision.transforms"
    " torchvision.transforms.functional torchvision.datasets torchvision.models torchvision.utils"
    " torchvision.transforms.v2 torchvision.ops torchvision.io pytorch_lightning lightning lightning.pytorch tqdm"
    " tqdm.auto tqdm.notebook pytest timm transformers PIL PIL.Image cv2 pandas sklearn sklearn.model_selection"
    " sklearn.metrics sklearn.preprocessing sklearn.datasets scipy scipy.stats matplotlib matplotlib.pyplot"
    " tensorboardX wandb jaxtyping".split()
)
MODULES = frozenset(name.split(".")[0] for name in KNOWN)


def _progress(machine, items=None, *args, **kwargs):
    return items if items is not None else Unknown("a progress bar")


def _raises(machine, *args, **kwargs):
    return Context(None, swallow=True)


def _transparent(machine, function=None, *args, **kwargs):
    return function


FOUND: dict[str, Any] = {
    **einops.NAMES,
    **CLICK,
    **LIGHTNING,
    **MODELS,
    **VISION,
    "tqdm.tqdm": Special("tqdm", _progress),
    "tqdm.trange": Special("trange", lambda machine, *bounds, **options: range(*bounds)),
    "tqdm.auto.tqdm": Special("tqdm", _progress),
    "tqdm.notebook.tqdm": Special("tqdm", _progress),
    "pytest.raises": Special("raises", _raises),
    "pytest.warns": Special("warns", lambda machine, *args, **kwargs: Context()),
    **{f"transformers.{name}": OpenModule for name in ("PreTrainedModel",)},
}


def has_module(name: str) -> bool:
    """Whether one of these libraries has the module."""
    return name in KNOWN


def find(name: str) -> tuple[Any] | None:
    """The value with a dotted name."""
    return (FOUND[name],) if name in FOUND else None


def names(module: str) -> list[str]:
    """The public names of a module, for `import *`."""
    start = module + "."
    return [n.removeprefix(start) for n in FOUND if n.startswith(start) and "." not in n.removeprefix(start)]
