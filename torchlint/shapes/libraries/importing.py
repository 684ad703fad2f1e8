"""`importlib` and `sys.modules`: which modules are there, and modules by names that the program computes."""

from __future__ import annotations

from typing import Any

from torchlint.shapes.core.standins import ImportedFile, StandIn
from torchlint.shapes.core.values import Special, Unknown, UnknownUsed, machines


class LoadedModules(StandIn):
    """`sys.modules`: the files of the project that were imported so far."""

    def __getitem__(self, name):
        machine = machines[-1]
        if name == "__main__":
            return ImportedFile(name, "", machine.names)
        return next((f for f in machine.files.values() if f.name == name), Unknown("a module that was loaded"))

    def __contains__(self, name):
        machine = machines[-1]
        if type(name) is not str or machine.place is None or machine.is_there(name, machine.place[0]):
            raise UnknownUsed("which modules were loaded")
        return False  # of another library, which is not there either where its import is tried

    def __setitem__(self, name, module):
        pass

    def __len__(self):
        raise UnknownUsed("which modules were loaded")

    __iter__ = __len__  # type: ignore[assignment]


class Spec(StandIn):
    """What `find_spec` gives for a module that is there."""


def _find_spec(machine, name, *package):
    """Whether a module is there: one that we do not know is not, as where its import is tried."""
    if type(name) is not str or machine.place is None:
        return Unknown("a module of unknown name")
    return Spec() if machine.is_there(name, machine.place[0]) else None


def _module_of(machine, spec, *args):
    """`module_from_spec`: code that a program writes itself is not run; where it is tried, it fails."""
    if machine.trying:
        raise ImportError("a module that is made while the program runs")
    return Unknown("a module that is made while the program runs")


def _import_module(machine, name, package=None):
    if type(name) is str and name.startswith(".") and type(package) is str and not name.startswith(".."):
        name = package + name
    if type(name) is not str or name.startswith(".") or machine.place is None:
        return Unknown("a module of unknown name")
    return machine.import_module(name, 0, machine.place[0], machine.trying > 0, True)


def _import(machine, name, globals=None, locals=None, fromlist=(), level=0):
    """`__import__(name)`"""
    if type(name) is not str or level != 0 or machine.place is None:
        return Unknown("a module of unknown name")
    return machine.import_module(name, 0, machine.place[0], machine.trying > 0, bool(fromlist))


IMPORT = Special("__import__", _import)
IMPORTING: dict[str, Any] = {
    "importlib.import_module": Special("import_module", _import_module),
    "importlib.util.module_from_spec": Special("module_from_spec", _module_of),
    "importlib.util.find_spec": Special("find_spec", _find_spec),
    "sys.modules": LoadedModules(),
}
