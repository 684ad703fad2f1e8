"""Outputs of Hugging Face's models: dicts of what is not None, with attributes, and in their order like tuples."""

from __future__ import annotations

from typing import Any

NAMES = (
    "BaseModelOutput BaseModelOutputWithPast BaseModelOutputWithPooling CausalLMOutput CausalLMOutputWithPast"
    " ImageClassifierOutput MaskedLMOutput MultipleChoiceModelOutput QuestionAnsweringModelOutput Seq2SeqLMOutput"
    " SemanticSegmenterOutput SequenceClassifierOutput TokenClassifierOutput"
).split()
_HOMES = (
    "transformers.modeling_outputs",
    "transformers.utils",
    "transformers.file_utils",
    "transformers.utils.generic",
)


class ModelOutput(dict):
    """Base of outputs; a program's own are dataclasses, whose fields are set one after the other."""

    def __init__(self, **fields: Any):
        super().__init__()
        for name in sorted(fields, key=lambda name: name != "loss"):  # which each of the library's has first
            setattr(self, name, fields[name])

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if value is not None:
            super().__setitem__(name, value)

    def __setitem__(self, name: Any, value: Any) -> None:
        super().__setitem__(name, value)
        super().__setattr__(name, value)

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) if isinstance(key, str) else self.to_tuple()[key]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None  # a field that was not given

    def to_tuple(self) -> tuple:
        return tuple(self.values())


OUTPUTS: dict[str, Any] = {
    **{f"{_HOMES[0]}.{name}": ModelOutput for name in NAMES},
    **{f"{home}.ModelOutput": ModelOutput for home in _HOMES},
}
