"""What nothing in a program names: a function that nobody calls, an old copy of a class. What is wrong there does no
harm until somebody takes it up.
"""

from __future__ import annotations

import ast
import os
import re

from torchlint.project import View

_MOST = 1000  # programs
# Whose parts anybody may call:
_PACKAGED = re.compile(rb"\bsetup\(|^\[(?:project|tool\.poetry|metadata)\]", re.MULTILINE)
# What takes something by a name that is put together or given, of everything, or of one thing.
_TAKERS = ("globals", "locals", "eval", "__import__", "import_module", "__dict__", "getattr")
_BY_ANY_NAME = re.compile(rb"(?<![.\w])(?:globals\(\)|locals\(\)|eval\(|__import__\()|\bimport_module\(|__dict__\[")
_BY_A_NAME = re.compile(rb"\bgetattr\([ \t\n]*([\w.\[\]]+)[ \t\n]*,[ \t\n]*[^\"' \t\n]")
_FOUND_BY_NAME = re.compile(r"_.*|main|test.*|.*[tT]est|forward|extra_repr")  # by Python, torch or pytest


def is_unnamed(view: View, tree: ast.Module, line: int) -> bool:
    """Does a line stand in a function, class or method that no other line of the project's texts names? What is
    imported is meant to be used: a script may be called by hand, and what stands alone is to be read.
    """
    around = [part for part in _definitions(tree, line) if not _FOUND_BY_NAME.fullmatch(part.name)]
    if not around or not view.is_imported():
        return False
    asked = _asked_for_by_name(view)
    folder, file = os.path.split(view.path)
    homes = {"self", "__name__]", os.path.basename(folder), file.removesuffix(".py")}
    return asked is not None and homes.isdisjoint(asked) and any(_says_nobody(view, part) for part in around)


def _definitions(tree: ast.Module, line: int) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """The one at the top of a file around a line, and in a plain class its method; none that a decorator takes."""
    found = _around(tree.body, line)
    if found and isinstance(found[0], ast.ClassDef) and _is_plain(found[0]):
        found += _around(found[0].body, line)
    return [] if any(part.decorator_list for part in found) else found


def _around(body: list[ast.stmt], line: int) -> list:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [part for part in body if isinstance(part, kinds) and part.lineno <= line <= (part.end_lineno or 0)]


def _is_plain(node: ast.ClassDef) -> bool:
    """Has it no base that may call its methods, but `nn.Module`?"""
    return all(ast.unparse(base) in ("object", "nn.Module", "torch.nn.Module", "Module") for base in node.bases)


def _asked_for_by_name(view: View) -> set[str] | None:
    """Of what a program takes parts by names that are not written down: `getattr(losses, args.loss)`. None if that may
    be everything, if the project is a library, and where there is too much of it.
    """
    packaging = [os.path.join(view.project.root, name) for name in ("setup.py", "setup.cfg", "pyproject.toml")]
    if any(_PACKAGED.search((view.document(path) or "").encode()) for path in packaging):
        return None
    if len(view.project.files()) > _MOST or view.project.documents() is None:
        return None
    programs = {path: None for word in _TAKERS for path in view.naming(word) if path.endswith(".py")}
    texts = [view.project.bytes(path) or b"" for path in programs]
    if any(map(_BY_ANY_NAME.search, texts)):
        return None
    return {name.rpartition(b".")[2].decode() for text in texts for name in _BY_A_NAME.findall(text)}


def _says_nobody(view: View, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Does its name stand nowhere but where things are so called, in itself and in comments?"""
    name = node.name.encode()
    own = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    pattern = re.compile(rb"\b" + name + rb"\b")
    defined = re.compile(rb"[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+" + name + rb"\b")
    for path in view.naming(node.name):
        data = view.project.bytes(path) or b""
        if not path.endswith(".py"):
            return False
        for number, text in enumerate(data.split(b"\n"), 1):
            if pattern.search(text.partition(b"#")[0]) and not defined.match(text):
                if path != view.path or number not in own:
                    return False
    return True
