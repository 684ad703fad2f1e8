"""Hugging Face's training arguments, and the parser that makes objects of dataclasses of a command line."""

from __future__ import annotations

from typing import Any

import torch

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Unknown, machines


class TrainingArguments(StandIn):
    """What a program says of its training, and the library's defaults for what matters here."""

    per_device_train_batch_size = per_device_eval_batch_size = 8
    label_smoothing_factor = weight_decay = 0.0
    learning_rate = 5e-5
    remove_unused_columns = do_train = do_eval = True
    dataloader_drop_last = fp16 = bf16 = gradient_checkpointing = predict_with_generate = False
    label_names = evaluation_strategy = None
    eval_strategy = "no"
    num_train_epochs = 3.0
    gradient_accumulation_steps = n_gpu = world_size = 1
    max_steps = local_rank = -1
    seed = 42

    def __init__(self, output_dir: Any = None, **values: Any):
        self.__dict__.update(values, output_dir=output_dir)

    @property
    def device(self) -> torch.device:
        return torch.device("cuda", 0) if machines[-1].has_cuda() else torch.device("cpu")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown(f"the training argument {name}")


class ArgumentParser(StandIn):
    """It makes objects of the program's dataclasses; what has no default is given by whoever starts it."""

    def __init__(self, kinds: Any, *_, **options):
        self._kinds = kinds if isinstance(kinds, (list, tuple)) else (kinds,)

    def parse_args_into_dataclasses(self, *_, **options) -> tuple:
        made = (machines[-1].call(kind, [], {"*": Unknown("an argument of the command line")}) for kind in self._kinds)
        return tuple(made)

    parse_json_file = parse_yaml_file = parse_dict = parse_args_into_dataclasses
