"""The decorators of rule files.

They only mark: `rule.py` reads them as text, because arming must not run rule files.
"""

from __future__ import annotations

from collections.abc import Callable


def _marks(
    *names: str,
    needs: str | tuple[str, ...] = (),
    without: str | tuple[str, ...] = (),
    called: str | tuple[str, ...] = (),
    holds: str | tuple[str, ...] = (),
    value: str | tuple[str, ...] = (),
    unknown: bool = False,
    remarks: bool = False,
) -> Callable:
    """`needs`: words the file must contain (`a|b`: one of them, there or in a file it imports); `without`: keywords
    that clear the call; `called`: the last words of the calls that a trigger of nodes is about, or of operations of
    which one must come before; `holds`: a name, attribute or keyword, one of which must stand in the expression or
    statement that it is about; `value`: the kinds of node of which the value of that statement is one; `unknown`: see
    methods on receivers of unknown kind too; `remarks`: all that it finds has severity `info`, so that it is not asked
    where nobody wants to hear that."""
    if len(names) == 1 and callable(names[0]):  # @on_module without parentheses
        return names[0]
    return lambda check: check


on_call = on_node = on_module = on_inplace = on_loop = on_round = on_op = on_graph = on_error = _marks
