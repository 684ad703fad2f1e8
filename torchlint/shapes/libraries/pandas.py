"""Tables of pandas: how many columns are taken is in the program, how many rows there are is in the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, UnknownUsed, machines
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import Array, dtype_of

READ = (torch.float64, torch.int64, torch.bool)  # what numbers in a text file become
OPEN = (*READ, torch.float32)
Rows = tuple[int, int]  # a free size, in both sets of example sizes
Kinds = Mapping[str, torch.dtype]
_ELSE = ("squeeze", "chunksize", "iterator")  # with these a file may be read as something else
# Methods that give a table or a column of the same sizes, of other rows, of other columns, or one number.
_SAME = frozenset(
    "fillna ffill bfill copy sort_values sort_index replace interpolate shift diff cumsum abs round clip where mask"
    " rename infer_objects pct_change".split()
)
_KEEPS = frozenset("fillna ffill bfill copy sort_values sort_index rename".split())  # whole numbers, too
_FEWER = frozenset("dropna drop_duplicates sample query head tail nlargest nsmallest truncate".split())
_OTHERS = frozenset("reset_index set_index reindex filter rank add sub mul div".split())
_CHANGES = frozenset("loc at iat insert pop update eval join".split())  # the table itself, perhaps
_ONE_BY_ONE = frozenset(("map",))  # of a column
_NUMBERS = frozenset("nunique count".split())


class DataFrame(StandIn):
    """A DataFrame: `columns` are the names, or how many, or None if nobody knows. `kinds` are the dtypes of the columns
    that are written down.
    """

    def __init__(
        self, columns: Any = None, rows: Rows | int | None = None, dtypes: tuple = OPEN, kinds: Kinds | None = None
    ):
        self._columns = columns
        self._rows = rows or wild.free_size()
        self._dtypes = dtypes
        self._kinds = dict(kinds or {})

    def _width(self) -> int | None:
        return self._columns if type(self._columns) is int else len(self._columns) if self._columns else None

    def _array(self, dtype: Any = None) -> Any:
        kind = dtype_of(dtype) if dtype is not None and type(dtype) is not Unknown else None
        dtypes = (kind,) if kind else self._common(self._columns) if dtype is None else OPEN
        return wild.tensor("the values of a table", self._sizes(), dtypes=dtypes, make=Array)

    def _common(self, columns: Any) -> tuple:
        """The dtypes that the numbers of some columns may have together."""
        kinds = {self._kinds.get(name) for name in columns} if isinstance(columns, (list, tuple)) else {None}
        if kinds == {torch.float64, torch.int64}:
            return (torch.float64,)
        return tuple(kinds) if len(kinds) == 1 and None not in kinds else self._dtypes

    def _sizes(self) -> list:
        return [self._rows, self._width()]

    def _with(self, rows: Rows | None = None, dtypes: tuple | None = None) -> DataFrame:
        made = type(self)(self._columns, rows or self._rows, dtypes or self._dtypes)
        return made

    @property
    def values(self) -> Any:
        return self._array()

    def to_numpy(self, dtype=None, *args, **options) -> Any:
        return self._array(dtype)

    @property
    def shape(self) -> Any:
        return machines[-1].get(self._array(), "shape")

    @property
    def columns(self) -> Any:
        return list(self._columns) if isinstance(self._columns, (list, tuple)) else Unknown("the columns of a table")

    @property
    def iloc(self) -> Positions:
        return Positions(self)

    def astype(self, dtype=None, *args, **options) -> Any:
        kind = dtype_of(dtype)
        return self._with(dtypes=(kind,) if kind else OPEN)

    def drop(self, labels=None, *args, axis=0, columns=None, **options) -> DataFrame:
        if columns is None and axis in (0, "index"):
            if options.get("inplace", False) is not False:
                self._rows = wild.free_size()
            return self._with(rows=wild.free_size())
        gone = columns if columns is not None else labels
        gone = [gone] if isinstance(gone, str) else gone
        left = None
        if isinstance(self._columns, (list, tuple)) and isinstance(gone, (list, tuple)):
            if all(isinstance(name, str) for name in gone):
                left = [c for c in self._columns if c not in gone]
        if options.get("inplace", False) is not False:
            self._columns, self._kinds = left, {}
        return DataFrame(left, self._rows, self._dtypes)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return Column(1, self._rows, self._common([key]))
        if isinstance(key, (list, tuple)) and key and all(isinstance(k, str) for k in key):
            return DataFrame(list(key), self._rows, self._dtypes, {k: v for k, v in self._kinds.items() if k in key})
        if isinstance(key, (Column, slice)) or type(key) is Unknown and type(key.known) is wild.Known:
            return self._with(rows=wild.free_size())
        return Unknown("a part of a table")

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(self._columns, (list, tuple)) and isinstance(key, str) and key not in self._columns:
            self._columns = [*self._columns, key]
        elif not (isinstance(key, str) and isinstance(self._columns, (list, tuple))):
            self._columns = None
        self._dtypes, self._kinds = OPEN, {}

    def __delitem__(self, key: Any) -> None:
        self._columns = None

    def __setattr__(self, name: str, value: Any) -> None:
        if name[:1] == "_":
            super().__setattr__(name, value)
        else:
            self._columns, self._kinds = None, {}  # other names, or a column

    def __len__(self) -> int:
        if type(self._rows) is int:
            return self._rows
        raise UnknownUsed("the number of rows")

    def __iter__(self):
        raise UnknownUsed("the columns of a table")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in _SAME or name in _ONE_BY_ONE and isinstance(self, Column):
            whole = not all(dtype.is_floating_point for dtype in self._dtypes) and name not in _KEEPS
            made = self._with(dtypes=OPEN if whole or name in ("map", "replace") else None)
            if name == "rename":
                made._columns = self._width()  # by other names
            return self._method(name, made)
        if name in _FEWER:
            return self._method(name, self._with(rows=wild.free_size()))
        if name in _OTHERS and not isinstance(self, Column):
            return self._method(name, DataFrame(None, wild.free_size()), other=True)
        if name in _CHANGES and not isinstance(self, Column):
            self._columns, self._kinds, self._rows = None, {}, wild.free_size()
            return Unknown(f"{name} of a table")
        if name in _NUMBERS and isinstance(self, Column):
            return Special(name, lambda machine, *args, **options: wild.unknown("a number of values", wild.NUMBER))
        if isinstance(self._columns, (list, tuple)) and name in self._columns:
            return self[name]
        return Unknown(f"{name} of a table")

    def _method(self, name: str, made: DataFrame, other: bool = False) -> Special:
        """A method that gives a table or a column, or puts it in the place of this one; `other` columns, perhaps."""

        def call(machine, *args, **options):
            across = other or any(options.get(word, 0) not in (0, "index", "rows") for word in ("axis", "level"))
            if across:
                made._columns = None
            if options.get("inplace", False) is False:
                return made
            if type(options["inplace"]) is Unknown:
                self._columns = None
                return Unknown("a table or nothing")
            self._columns, self._dtypes, self._rows, self._kinds = made._columns, made._dtypes, made._rows, {}
            return None

        return Special(name, call)

    def _operate(self, other: Any = None) -> Any:
        made = self._with(dtypes=OPEN)
        if isinstance(other, DataFrame) and (not isinstance(self, Column) or not isinstance(other, Column)):
            return DataFrame()  # what belongs together goes by names
        return made

    def _compare(self, other: Any) -> Any:
        return self._with(dtypes=(torch.bool,))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _operate
    __mod__ = __pow__ = __neg__ = __and__ = __or__ = __invert__ = __floordiv__ = _operate
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _compare
    __hash__ = object.__hash__


class Column(DataFrame):
    """A Series."""

    def _sizes(self) -> list:
        return [self._rows]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (Column, slice)):
            return self._with(rows=wild.free_size())
        return Unknown("a value of a column")


class Positions(StandIn):
    """`table.iloc`"""

    def __init__(self, table: DataFrame):
        self.table = table

    def __setitem__(self, key: Any, value: Any) -> None:
        self.table._dtypes, self.table._kinds = OPEN, {}

    def __getitem__(self, key: Any) -> Any:
        table = self.table
        rows, columns = key if type(key) is tuple and len(key) == 2 else (key, slice(None))
        if type(rows) is int or type(rows) is Unknown:
            return Unknown("a row of a table")
        number = table._rows if rows == slice(None) else wild.free_size()
        if type(columns) is int and not isinstance(table, Column):
            return Column(1, number, table._dtypes)
        if isinstance(columns, slice) and columns == slice(None):
            return table._with(rows=number)
        width = table._width()
        plain = isinstance(columns, slice) and all(
            part is None or type(part) is int and part >= 0 for part in (columns.start, columns.stop, columns.step)
        )
        if not plain:
            listed = isinstance(columns, (list, tuple)) and all(type(one) is int for one in columns)
            return DataFrame(len(columns) if listed else None, number, table._dtypes)
        if width is None and (columns.start or 0) >= 0 and (columns.stop or -1) > 0:
            return DataFrame(len(range(columns.stop)[columns]), number, table._dtypes)
        return DataFrame(len(range(width)[columns]) if width is not None else None, number, table._dtypes)


def _read(machine, *args, usecols=None, names=None, dtype=None, index_col=None, **options):
    if not machine.wild or any(options.get(name) is not None for name in _ELSE) or _is_listed(options.get("header")):
        return Unknown("a table")
    if not isinstance(options.get("sheet_name", 0), (str, int)):
        return Unknown("tables")
    chosen = usecols if isinstance(usecols, (list, tuple)) else names if isinstance(names, (list, tuple)) else None
    plain = all(isinstance(c, (str, int)) for c in chosen or ()) and machine.is_whole(chosen)
    plain &= index_col is None and not isinstance(options.get("parse_dates"), (list, dict))
    kind = dtype_of(dtype) if dtype is not None else None
    return DataFrame(
        list(chosen) if chosen and plain else None, dtypes=(kind,) if kind else READ if dtype is None else OPEN
    )


def _is_listed(header: Any) -> bool:
    """Whether columns have several names, so that one of these stands for many."""
    return isinstance(header, (list, tuple)) or type(header) is Unknown


def _made(machine, data=None, *args, columns=None, **options):
    if not machine.wild:
        return Unknown("a table")
    if columns is None and type(data) is dict and machine.is_whole(data):
        if not args and options.keys() <= {"copy"} and data and all(type(name) is str for name in data):
            return _written(machine, data)
        columns = list(data)
    known = isinstance(columns, (list, tuple)) and columns and machine.is_whole(columns)
    return DataFrame(list(columns) if known and all(isinstance(n, str) for n in columns) else None)


def _written(machine, data: dict[str, Any]) -> DataFrame:
    """A table whose columns are given one by one."""
    found = {name: _column_of(machine, given) for name, given in data.items()}
    kinds = {name: column[0] for name, column in found.items() if column is not None}
    lengths, dtypes = {column[1] for column in found.values() if column is not None}, tuple(set(kinds.values()))
    all_known = len(kinds) == len(data)
    rows = lengths.pop() if all_known and len(lengths) == 1 else None
    return DataFrame(list(data), rows, dtypes if all_known and len(dtypes) == 1 else OPEN, kinds)


def _column_of(machine, given: Any) -> tuple[torch.dtype, int] | None:
    """The dtype and the length of a column that is an array, or a list of plain numbers."""
    if isinstance(given, Array):
        return (given.tensor.dtype, given.shape[0]) if given.ndim == 1 and type(given.shape[0]) is int else None
    if not isinstance(given, (list, tuple)) or not given or not machine.is_whole(given):
        return None
    kinds = set(map(type, given))
    if kinds <= {int, float}:
        return (torch.float64 if float in kinds else torch.int64), len(given)
    return (torch.bool, len(given)) if kinds == {bool} else None


def _of_unknown_width(machine, *args, **options):
    return DataFrame() if machine.wild else Unknown("a table")


PANDAS: dict[str, Any] = {
    **{f"pandas.{name}": Special(name, _read) for name in ("read_csv", "read_excel", "read_table")},
    "pandas.DataFrame": Special("DataFrame", _made),
    **{
        f"pandas.{name}": Special(name, _of_unknown_width)
        for name in ("get_dummies", "concat", "merge", "read_parquet")
    },
}
