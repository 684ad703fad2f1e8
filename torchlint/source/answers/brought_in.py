"""Whether what is read comes from the network: from a request, an address, or a file that was downloaded before."""

from __future__ import annotations

import ast
import re
from itertools import islice

from torchlint.source.flow.flow import origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word

_BRINGS = re.compile(r"download|urlopen|urlretrieve|load_file_from_url")
_OUTSIDE = {"requests.get", "requests.request", "wget.download"}
_KEEPS = ("urlretrieve", "download_url_to_file")  # they write what an address holds to a path
_FEW = 20  # of these in a file
_MANY = 40  # steps back
_AS_TEXT = ("str", "fspath", "as_posix")


def is_from_outside(read: Value) -> bool:
    """Does what an expression says come from the network?"""
    waiting, seen = [*origins(read)], set()
    while waiting and len(seen) < _MANY:
        origin = waiting.pop()
        if origin.node is None or origin.node in seen:
            continue
        seen.add(origin.node)
        if origin.node in _written(origin.module):
            return True
        for part in origin.module.index.inside(origin.node, ast.Call, ast.Attribute, ast.Constant, ast.Name):
            if isinstance(part, ast.Constant):
                comes = _is_address(part) or part.value in _written(origin.module)
            else:
                called = part.func if isinstance(part, ast.Call) else part
                comes = external_name(origin.at(called, ())) in _OUTSIDE or bool(
                    part is not called and _BRINGS.search(last_word(called))
                )
                waiting += [] if isinstance(part, ast.Call) or part is origin.node else origins(origin.at(part, ()))
            if comes:
                return True
    return False


def _is_address(node: ast.Constant) -> bool:
    return isinstance(node.value, str) and node.value.startswith(("http://", "https://"))


@remembered
def _written(module: Module) -> set:
    """What the paths of downloaded files come from: `"net.pt"` of `urlretrieve(URL, "net.pt")`, or an expression."""
    found: set = set()
    for call in islice((call for word in _KEEPS for call in module.index.callers(word)), _FEW):
        path = call.args[1] if len(call.args) > 1 else None
        while isinstance(path, ast.Call) and last_word(path.func) in _AS_TEXT:
            path = path.args[0] if path.args else getattr(path.func, "value", None)
        for origin in origins(Value(module, path)) if path is not None else ():
            is_text = isinstance(origin.node, ast.Constant)
            found |= {origin.node.value} if is_text else {origin.node} if origin.node is not None else set()
    return found
