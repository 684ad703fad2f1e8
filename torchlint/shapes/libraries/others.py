"""Other libraries that model code builds on: a few names with a meaning for shapes, the rest unknown."""

from __future__ import annotations

from typing import Any

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, UnknownUsed, machines
from torchlint.shapes.libraries import einops, onlookers, timm_layers
from torchlint.shapes.libraries.accelerate import ACCELERATE
from torchlint.shapes.libraries.argparse import CLICK
from torchlint.shapes.libraries.builtins import NAMES
from torchlint.shapes.libraries.compilers import transparent
from torchlint.shapes.libraries.cv2 import CV2
from torchlint.shapes.libraries.function_transforms import FUNCTORCH
from torchlint.shapes.libraries.huggingface import HUGGING_FACE
from torchlint.shapes.libraries.lightning import LIGHTNING, OpenModule
from torchlint.shapes.libraries.pandas import PANDAS
from torchlint.shapes.libraries.settings_files import SETTINGS
from torchlint.shapes.libraries.sklearn import SKLEARN
from torchlint.shapes.libraries.sound import SOUND
from torchlint.shapes.libraries.stdlib import Context
from torchlint.shapes.libraries.torchvision import VISION
from torchlint.shapes.libraries.torchvision_models import MODELS

_PROGRESS = ("tqdm", "tqdm.auto", "tqdm.autonotebook", "tqdm.notebook", "tqdm.std")
KNOWN = frozenset(
    "click einops einops.layers einops.layers.torch torchvision torchvision.transforms"
    " torchvision.transforms.functional torchvision.datasets torchvision.models torchvision.models.resnet"
    " torchvision.utils torchvision.transforms.v2.functional"
    " torchvision.transforms.v2 torchvision.ops torchvision.io pytorch_lightning lightning lightning.pytorch"
    " pytest timm transformers PIL PIL.Image cv2 pandas sklearn sklearn.model_selection"
    " sklearn.metrics sklearn.preprocessing sklearn.datasets sklearn.decomposition scipy scipy.stats matplotlib"
    " matplotlib.pyplot"
    " yaml omegaconf easydict accelerate accelerate.utils accelerate.logging"
    " transformers.modeling_outputs transformers.utils transformers.file_utils transformers.utils.generic"
    " librosa librosa.util librosa.filters scipy.signal"
    " tensorboardX wandb functorch"
    " seaborn jaxtyping huggingface_hub huggingface_hub.dataclasses builtins six six.moves".split()
) | {*_PROGRESS, *timm_layers.HOMES, *timm_layers.REGISTRIES, timm_layers.TRANSFORMERS}
MODULES = frozenset(name.split(".")[0] for name in KNOWN)


class ProgressBar(StandIn):
    """`tqdm(items)`: the items, and a bar that nobody sees."""

    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return machines[-1].iterate(self.items, looping=True)

    def __len__(self):
        count = machines[-1].call(NAMES["len"], [self.items], {})
        if type(count) is Unknown:
            raise UnknownUsed(count.reason)
        return count

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Special(name, lambda machine, *args, **kwargs: None)


def _progress(machine, items=None, *args, **kwargs):
    if items is None:
        return Unknown("a progress bar")
    return items if type(items) is Unknown else ProgressBar(items)


def _range(machine, *bounds, **options):
    made = machine.call(range, list(bounds), {})
    return ProgressBar(made) if type(made) is not Unknown else made


def _raises(machine, *args, **kwargs):
    return Context(None, swallow=True)


FOUND: dict[str, Any] = {
    **onlookers.of("matplotlib", "seaborn", "sklearn", "tensorboardX", "wandb", "yaml"),
    **einops.NAMES,
    **CLICK,
    **LIGHTNING,
    **ACCELERATE,
    **FUNCTORCH,
    **HUGGING_FACE,
    **CV2,
    **MODELS,
    **timm_layers.TIMM,
    **VISION,
    **PANDAS,
    **SOUND,
    **SETTINGS,
    **SKLEARN,
    **{f"{home}.tqdm": Special("tqdm", _progress) for home in _PROGRESS},
    **{f"{home}.trange": Special("trange", _range) for home in _PROGRESS},
    **dict.fromkeys(("tqdm.tqdm_notebook", "tqdm.notebook.tqdm_notebook"), Special("tqdm", _progress)),
    **dict.fromkeys(("tqdm.tnrange", "tqdm.notebook.tnrange"), Special("trange", _range)),
    "pytest.raises": Special("raises", _raises),
    "pytest.warns": Special("warns", lambda machine, *args, **kwargs: Context()),
    "huggingface_hub.dataclasses.strict": Special("strict", transparent),
    **{f"transformers.{name}": OpenModule for name in ("PreTrainedModel",)},
    **{f"builtins.{name}": value for name, value in NAMES.items()},
    **{f"six.moves.{name}": NAMES[name] for name in ("range", "zip", "map", "filter", "input")},
    "six.moves.xrange": NAMES["range"],
}
