"""Commands that tests run in this process: starting Python and importing it all again takes longer than most of them."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch


def in_process(
    main: Callable[[list[str]], int], *arguments: object, folder: Path | None = None, text: str = ""
) -> CompletedProcess:
    """What a command says and how it ends, as `subprocess.run` would tell, in this working folder and with this text as
    its standard input.
    """
    words, before = [str(part) for part in arguments], os.getcwd()
    given, out, err = (io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="") for data in (text.encode(), b"", b""))
    os.chdir(folder or before)
    try:
        with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "stdin", given):
            code = main(words)
    finally:
        os.chdir(before)
    said = []
    for stream in (out, err):
        stream.flush()
        said.append(stream.buffer.getvalue().decode())
    return CompletedProcess(words, code, *said)
