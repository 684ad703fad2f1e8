"""Which of several definitions that go by one name a program means: projects keep copies of what they once took."""

from __future__ import annotations

import os

from torchlint.project import Project, View
from torchlint.source.text.sketch import sketch
from torchlint.source.text.surface import Import, Surface, surface


def means_another(view: View, user: str, name: str, path: str, of: str = "") -> bool:
    """Does a program, where it says a name, by itself or asked `of` something that goes by one word, mean what is
    defined elsewhere than at the top of the file at `path`? It is seen where it comes from, or is made there.
    """
    if user == path:
        return False
    says = surface(view.project, user)
    imports = says.bound.get(of or name, [])
    if of:
        return bool(imports) and all(_is_of_module(view, user, one, name, path) for one in imports)
    if imports:
        return all(_is_from_another(view, user, one, path) for one in imports)
    is_taken = any(name == taken for one in says.imports for taken, _ in one.names)
    is_own = any(piece.name == name for piece in sketch(view.project, user).pieces)
    return is_own and not is_taken and not _may_bring_more(view, user, says)


def _is_of_module(view: View, user: str, one: Import, name: str, path: str) -> bool:
    """Does an import bring a module that defines a name, and is it not the file at `path`?"""
    ((taken, called),) = one.names
    outer, dot, _ = one.module.partition(".")
    if not taken and dot and called == outer:
        return False  # `import a.b` brings `a`
    home = view.resolve(f"{one.module}.{taken}".strip("."), one.level, user)
    return home is not None and home != path and view.project.defines(home, name)


def _is_from_another(view: View, user: str, one: Import, path: str) -> bool:
    """Does an import take a name of another file that defines it, or of a library?"""
    ((taken, _),) = one.names
    home = view.resolve(one.module, one.level, user) if one.module else None
    if home is None:
        return not one.level and _is_of_library(view.project, one.module)
    return bool(taken) and home != path and view.project.defines(home, taken)


def _is_of_library(project: Project, module: str) -> bool:
    """Can no file of the project be meant by a module, whichever folder is at hand where it is imported?"""
    known = project.closures
    if ("ends", module) not in known:
        place = os.sep + module.replace(".", os.sep)
        ends = (place + ".py", os.path.join(place, "__init__.py"))
        known["ends", module] = any(path.endswith(ends) for path in project.files())
    return not known["ends", module]


def _may_bring_more(view: View, user: str, says: Surface) -> bool:
    """May a program have names that it neither defines nor imports by themselves?"""
    stars = says.bound.get("*", [])
    return says.is_filled_otherwise or any(view.resolve(one.module, one.level, user) for one in stars)
