"""Methods of texts that may grow, or of which only a part is known."""

from __future__ import annotations

import string

from torchlint.shapes.core.values import Special, Unknown
from torchlint.shapes.language.cut_short import REST
from torchlint.shapes.language.expressions import PLAIN
from torchlint.shapes.tensors import wild


def format(machine, method, /, *args, **kwargs):
    """`"{:.2f} {name}".format(…)`; fields that read attributes or items are not followed."""
    template = method.__self__
    machine.ask_fields(template, args, kwargs)
    for _, name, width, _ in string.Formatter().parse(template):
        if "." in (name or "") or "[" in (name or ""):
            return Unknown("a text with parts that are not looked at")
        if "{" in (width or "") or any(len(n) > 3 for n in _digits(width or "")):
            return Unknown("a text of great or unknown width")
    for value in (*args, *kwargs.values()):
        if type(value) not in PLAIN and type(value) is not str:
            return wild.text()
        machine.budget.length(len(value) if type(value) is str else 1)
    width = 1000 if _digits(template) else 0
    machine.budget.length(
        len(template) + (width + sum(len(machine.text(v)) for v in (*args, *kwargs.values()))) * template.count("{")
    )
    return template.format(*args, **kwargs)


def _digits(text: str) -> list[str]:
    return "".join(c if c.isdigit() else " " for c in text).split()


def join(machine, method, items):
    parts = list(machine.iterate(items))
    if any(type(p) is not str for p in parts):
        return wild.text()
    machine.budget.length(sum(map(len, parts)) + len(method.__self__) * len(parts))
    return method(parts)


def grow(machine, method, width, *rest):
    machine.budget.length(width if isinstance(width, int) else 0)
    return method(width, *rest)


def replace(machine, method, old, new, *count):
    text = method.__self__
    machine.budget.length(len(text) + (text.count(old) if old else len(text) + 1) * len(new))
    return method(old, new, *count)


def coded(machine, method, encoding="utf-8", *errors, **more):
    """`text.encode(…)` and `data.decode(…)`: two codecs are written in Python, and square."""
    if type(encoding) is str and "".join(filter(str.isalnum, encoding)).lower() in ("punycode", "idna"):
        return Unknown("a text in the code of the names of hosts")
    return machine.foreign(method, (encoding, *errors), more)


def of_open(name: str) -> Special | None:
    """A method of a text that nobody knows, as far as it gives texts."""
    if name in ("split", "rsplit", "splitlines"):
        return Special(name, _parts)
    is_text = (
        name
        in (
            "lower upper strip lstrip rstrip title capitalize casefold swapcase replace removeprefix removesuffix"
            " center ljust rjust zfill expandtabs translate format"
        ).split()
    )
    return Special(name, lambda machine, *args, **kwargs: wild.text()) if is_text else None


def _parts(machine, *args, **kwargs):
    """The first word stands for all."""
    machine.changes.cut = True
    return [wild.text(), REST]
