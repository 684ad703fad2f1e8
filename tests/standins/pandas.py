"""A stand-in for pandas, as little of it as the fixtures need to be run on real torch: tables of thirty rows, or of
what is written down.
"""

import numpy as np


class DataFrame:
    def __init__(self, columns, dtype=np.float64):
        self.columns = list(columns)
        self.written = columns if isinstance(columns, dict) else None
        if self.written is not None:
            self.values = np.column_stack([np.array(column) for column in self.written.values()])
            return
        self.values = np.linspace(0, 1, 30 * len(columns)).reshape(30, len(columns)).astype(dtype)

    def __getitem__(self, key):
        if self.written is not None and not isinstance(key, str):
            return DataFrame({name: self.written[name] for name in key})
        return Series(self, key) if isinstance(key, str) else DataFrame(key)

    def __len__(self):
        return len(self.values)

    def dropna(self):
        return self

    def drop(self, columns):
        return DataFrame([c for c in self.columns if c not in columns])

    def to_numpy(self, dtype=None):
        return self.values.astype(dtype or self.values.dtype)


class Series(DataFrame):
    def __init__(self, table, key):
        self.values = np.arange(30) % 3 if table.written is None else np.array(table.written[key])

    def astype(self, dtype):
        self.values = self.values.astype(dtype)
        return self


def read_csv(path):
    return DataFrame(["a", "b", "c", "d", "kind"])
