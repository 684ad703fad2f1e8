"""Outputs of models: dicts of what is not None, with attributes."""


class ModelOutput(dict):
    def __init__(self, **fields):
        super().__init__({name: value for name, value in fields.items() if value is not None})
        self.__dict__.update(fields)

    def __getitem__(self, key):
        return super().__getitem__(key) if isinstance(key, str) else tuple(self.values())[key]


SequenceClassifierOutput = ImageClassifierOutput = ModelOutput
