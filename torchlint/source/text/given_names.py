"""Which programs of a project take attributes by names that do not stand there: put together, or given by others."""

from __future__ import annotations

import re

from torchlint.project import View

_PUT_TOGETHER = re.compile(  # `getattr(hook, f"on_{event}")`, `getattr(self, kind + "_loss")`
    rb"getattr\(\s*[\w.]+\s*,\s*(?:f?[\"'](\w+)(?:[{%]|[\"']\s*\+)|(?:f[\"']\{[^{}\n]*\}|[\w.]+\s*\+\s*[\"'])(\w+)[\"'])"
)
_GIVEN = {  # by what stands there, which is found faster
    "getattr": re.compile(rb"\bgetattr\((?:(?!getattr\()[^,\n])*,[ \t\n]*[^\"' \t\n]"),
    "methodcaller": re.compile(rb"\bmethodcaller\b"),
    "attrgetter": re.compile(rb"\battrgetter\b"),
    "__getattribute__": re.compile(rb"__getattribute__"),
    "fire": re.compile(rb"\bimport[ \t]+fire\b|\bfrom[ \t]+fire\b"),
    "eval": re.compile(rb"(?<![\w.])eval\("),
    "exec": re.compile(rb"(?<![\w.])exec\("),
}


def is_put_together(view: View, name: str) -> bool:
    """Does a program put names together that begin, or end, as a method's?"""
    known, paths = view.project.closures, view.naming("getattr", (".py", ".ipynb"))
    if "put together" not in known:
        texts = (view.project.bytes(path) or b"" for path in paths)
        known["put together"] = {parts for text in texts for parts in _PUT_TOGETHER.findall(text)}
    return any(
        begin and name.startswith(begin.decode()) or end and name.endswith(end.decode())
        for begin, end in known["put together"]
    )


def takes_by_given_names(view: View) -> bool:
    """Does any program take attributes by a name that it is given?"""
    return any(_stands(view, word, given) for word, given in _GIVEN.items())


def _stands(view: View, word: str, given: re.Pattern[bytes]) -> bool:
    known, paths = view.project.closures, view.naming(word, (".py", ".ipynb"))
    if ("given names", word) not in known:
        known["given names", word] = any(given.search(view.project.bytes(path) or b"") for path in paths)
    return known["given names", word]
