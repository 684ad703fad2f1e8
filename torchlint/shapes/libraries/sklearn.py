"""scikit-learn as scripts use it around a network: data sets, splits, scalers and scores have sizes and dtypes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch

from torchlint.shapes.core.standins import StandIn, maker
from torchlint.shapes.core.values import Special, Unknown, machines
from torchlint.shapes.libraries.builtins import NAMES
from torchlint.shapes.libraries.numpy import array
from torchlint.shapes.libraries.pandas import DataFrame
from torchlint.shapes.libraries.randomness import any_of
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import Array, fresh
from torchlint.shapes.tensors.wild import Free

_FLOAT, _WHOLE = torch.float64, torch.int64
_KEPT = (torch.float32, torch.float64)  # dtypes that a scaler leaves as they are
_LONGEST = 100_000  # items of a list that is split
_LOADED = {  # what comes with the library: rows, columns, dtype of the target
    "iris": (150, 4, _WHOLE),
    "wine": (178, 13, _WHOLE),
    "breast_cancer": (569, 30, _WHOLE),
    "digits": (1797, 64, _WHOLE),
    "diabetes": (442, 10, _FLOAT),
    "california_housing": (20_640, 8, _FLOAT),
}


def _of_array(value: Any, make: Callable[[Array], Any]) -> Any:
    """What is made of an array, or of what becomes one."""
    machine = machines[-1]
    if isinstance(value, DataFrame):
        value = value.to_numpy()
    if isinstance(value, (torch.Tensor, list, tuple)):
        value = array(machine, value)
    if wild.known_of(value) is not None:
        return machine.in_worlds(lambda given: _of_array(given[0], make), [value], value.reason)
    return make(value) if isinstance(value, Array) else Unknown("what scikit-learn makes of it")


class Estimator(StandIn):
    """What is fitted to data: all that is not known of it may be there."""

    takes_unknown = frozenset({"fit", "transform", "fit_transform", "inverse_transform"})

    def __init__(self, *args, **options):
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown(f"{name} of what was fitted")

    def fit(self, *args, **options) -> Estimator:
        return self

    def fit_transform(self, data, *args, **options) -> Any:
        return self.transform(data)

    def transform(self, data, *args, **options) -> Any:
        return Unknown("transformed data")


class ColumnScaler(Estimator):
    """`StandardScaler` and its kin: the same table, as floats."""

    def transform(self, data, *args, **options) -> Any:
        return _of_array(data, _scaled)

    inverse_transform = transform


class LabelEncoder(Estimator):
    """Texts become numbers."""

    def transform(self, data, *args, **options) -> Any:
        count = _count(data)
        return fresh((count,), _WHOLE) if type(count) is int else _indices()


class Reduction(Estimator):
    """`PCA(n_components)`: so many columns."""

    def __init__(self, n_components=None, *args, **options):
        self.n_components = n_components

    def transform(self, data, *args, **options) -> Any:
        wide = self.n_components
        if type(wide) is not int or wide < 1:
            return Unknown("data of fewer columns")
        return _of_array(data, lambda given: fresh((given.shape[0], wide), _FLOAT))


def _scaled(given: Array) -> Any:
    machine = machines[-1]
    if given.ndim == 1 and machine.example is None:
        words = f"a scaler takes a table, and gets {given.shape[0]} numbers in a row: `reshape(-1, 1)` makes a column"
        machine.protest(ValueError("Expected 2D array, got 1D array instead"), words)
    kind = given.tensor.dtype
    return given.astype(kind if kind in _KEPT else _FLOAT) if given.ndim == 2 else Unknown("scaled data")


# Parts of data


def _count(data: Any) -> Any:
    """How many items there are, as far as one knows."""
    machine = machines[-1]
    if isinstance(data, DataFrame) or type(data) is Unknown and wild.known_of(data) is None:
        return Unknown("how many there are")
    return machine.call(NAMES["len"], [data], {}) if not machine.may_miss(data) else Unknown("how many there are")


def _indices() -> Any:
    return wild.tensor("positions", [None], dtypes=(_WHOLE,), make=Array, free=Free.COUNTED)


def _sizes(count: int, test: Any, train: Any) -> tuple[int, int] | None:
    """Of how many rows both parts are; None where nobody knows."""
    if test is None and train is None:
        test = 0.25
    if any(type(size) not in (int, float, type(None)) for size in (test, train)):
        return None
    held_out = math.ceil(test * count) if type(test) is float else test
    rest = math.floor(train * count) if type(train) is float else train
    rest = count - held_out if rest is None else rest
    held_out = count - rest if held_out is None else held_out
    return (rest, held_out) if 0 < rest and 0 < held_out and rest + held_out <= count else None


def _split(machine, *data, test_size=None, train_size=None, **options):
    """`train_test_split`: of each thing a part to train with and one to test."""
    parts: list[Any] = []
    for one in data:
        parts += _parts_of(machine, one, test_size, train_size)
    return parts


def _parts_of(machine, data: Any, test: Any, train: Any) -> Any:
    if isinstance(data, DataFrame):
        return [data._with(rows=wild.free_size()) for _ in range(2)]
    if wild.known_of(data) is not None:
        found = machine.in_worlds(lambda given: tuple(_parts_of(machine, given[0], test, train)), [data], data.reason)
        return found if isinstance(found, tuple) else [Unknown("a part of the data")] * 2
    count = _count(data)
    sizes = _sizes(count, test, train) if type(count) is int else None
    if isinstance(data, (list, tuple, range)) and type(count) is int and 0 < count < _LONGEST and sizes is not None:
        return [[any_of(list(data))] * size for size in sizes]
    if not isinstance(data, (Array, torch.Tensor)) or not data.shape:
        return [Unknown("a part of the data")] * 2
    if sizes is None:
        return [machine.freed(data, 0, "a part of the data", Free.COUNTED) for _ in range(2)]
    tensor = data.tensor if isinstance(data, Array) else data
    made = [machine.foreign(torch.Tensor.new_empty, (tensor, (size, *tensor.shape[1:])), {}) for size in sizes]
    return [Array(part) for part in made] if isinstance(data, Array) else made


class Folds(StandIn):
    """`KFold`: each part is for testing once."""

    takes_unknown = frozenset({"split", "get_n_splits"})
    exact = True

    def __init__(self, n_splits=5, *args, **options):
        self.n_splits = n_splits

    def get_n_splits(self, *args, **options) -> Any:
        return self.n_splits

    def split(self, data, *args, **options) -> Iterator:
        count, parts = _count(data), self.n_splits
        if type(parts) is not int or not 1 < parts < _LONGEST:
            return machines[-1].changes.short([(_indices(), _indices())])
        if type(count) is not int or not self.exact:
            return iter([(_indices(), _indices()) for _ in range(parts)])
        held_out = [count // parts + (number < count % parts) for number in range(parts)]
        return iter([(fresh((count - size,), _WHOLE), fresh((size,), _WHOLE)) for size in held_out])


class OtherFolds(Folds):
    """Folds whose sizes depend on the data."""

    exact = False


# Data


class Bunch(StandIn):
    """Data with its names, as attributes and under keys."""

    def __init__(self, data: Array, target: Array, rows: int):
        self.data, self.target = data, target
        self.feature_names = Unknown("names of columns")
        self.target_names = Unknown("names of classes")
        self.DESCR = Unknown("a description")
        self.frame = None
        if data.shape == (1797, 64):
            self.images = fresh((rows, 8, 8), _FLOAT)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key) if type(key) is str and not key.startswith("_") else Unknown("a part of the data")


def _loader(rows: int, columns: int, kind: torch.dtype) -> Callable:
    def load(machine, *args, return_X_y=False, as_frame=False, **options):
        if as_frame is not False or args or "n_class" in options:
            return Unknown("data as tables")
        data, target = fresh((rows, columns), _FLOAT), fresh((rows,), kind)
        return (data, target) if return_X_y is True else Bunch(data, target, rows)

    return load


def _drawn(columns: int | None, kind: torch.dtype, target: torch.dtype, named: str = "n_features") -> Callable:
    """What makes data of so many rows and columns."""

    def make(machine, n_samples=100, *args, n_targets=1, return_centers=False, **options):
        wide = options.get(named, args[0] if args and named == "n_features" else columns)
        if type(n_samples) is not int or type(wide) is not int or return_centers is not False:
            return Unknown("drawn data")
        shape = (n_samples,) if n_targets == 1 else (n_samples, n_targets)
        return (fresh((n_samples, wide), kind), fresh(shape, target))

    return make


def _score(machine, *args, average="binary", multioutput="uniform_average", output_dict=False, **options):
    if average is None or multioutput == "raw_values" or output_dict is not False:
        return Unknown("several scores")
    return wild.unknown("a score", wild.REAL)


_FOLDS = "StratifiedKFold GroupKFold ShuffleSplit StratifiedShuffleSplit TimeSeriesSplit StratifiedGroupKFold"
_SCORES = (
    "accuracy_score f1_score precision_score recall_score roc_auc_score mean_squared_error mean_absolute_error r2_score"
    " average_precision_score balanced_accuracy_score matthews_corrcoef cohen_kappa_score"
)
SKLEARN: dict[str, Any] = {
    "sklearn.model_selection.train_test_split": Special("train_test_split", _split),
    "sklearn.model_selection.KFold": maker(Folds),
    **{f"sklearn.model_selection.{name}": maker(OtherFolds) for name in _FOLDS.split()},
    **{
        f"sklearn.preprocessing.{name}": maker(ColumnScaler)
        for name in "StandardScaler MinMaxScaler RobustScaler MaxAbsScaler Normalizer".split()
    },
    "sklearn.preprocessing.LabelEncoder": maker(LabelEncoder),
    **{f"sklearn.decomposition.{name}": maker(Reduction) for name in ("PCA", "TruncatedSVD", "FastICA")},
    **{f"sklearn.metrics.{name}": Special(name, _score) for name in _SCORES.split()},
    **{f"sklearn.datasets.load_{name}": Special(name, _loader(*sizes)) for name, sizes in _LOADED.items()},
    "sklearn.datasets.fetch_california_housing": Special("fetch", _loader(*_LOADED["california_housing"])),
    "sklearn.datasets.make_classification": Special("make_classification", _drawn(20, _FLOAT, _WHOLE)),
    "sklearn.datasets.make_regression": Special("make_regression", _drawn(100, _FLOAT, _FLOAT)),
    "sklearn.datasets.make_blobs": Special("make_blobs", _drawn(2, _FLOAT, _WHOLE)),
    "sklearn.datasets.make_moons": Special("make_moons", _drawn(2, _FLOAT, _WHOLE, named="")),
    "sklearn.datasets.make_circles": Special("make_circles", _drawn(2, _FLOAT, _WHOLE, named="")),
    "sklearn.datasets.make_swiss_roll": Special("make_swiss_roll", _drawn(3, _FLOAT, _FLOAT, named="")),
}
