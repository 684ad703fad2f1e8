"""Lints programs named on its input, one per line, in one process, and says what each did to that process.

A line is JSON: {"path", "text" or null}. The answer is JSON: CPU seconds, how slow the machine was meanwhile, peak
memory, notices, forbidden events of Python's audit hook, changes of the process's state, and whether an ordinary
program is still judged as before.
"""

import ast
import atexit
import builtins
import gc
import json
import math
import os
import pathlib
import resource
import signal
import sys
import threading
import time

import numpy
import torch
import torch._dynamo  # torch imports it when it is first needed, and that writes a temporary file of torch's own

import torchlint.project
import torchlint.reading
import torchlint.source.asking.filling
import torchlint.source.asking.rewrite
from torchlint.linter import Job, lint
from torchlint.project import Project
from torchlint.rule import load_rules

FORBIDDEN = frozenset(
    "os.system os.exec os.fork os.forkpty os.posix_spawn os.spawn os.startfile os.kill os.killpg os.remove os.rename"
    " os.rmdir os.mkdir os.link os.symlink os.truncate os.chmod os.chown os.chdir os.putenv os.unsetenv os.scandir"
    " os.listdir subprocess.Popen socket. urllib.Request http.client. shutil. tempfile. sqlite3. pickle.find_class"
    " sys.settrace sys.setprofile sys.addaudithook sys._current_frames gc.get_objects gc.get_referrers gc.get_referents"
    " builtins.input builtins.breakpoint code.__new__ function.__new__ exec ctypes. resource.setrlimit"
    " signal.pthread_kill mmap.__new__ _thread.start_new_thread".split()
)
FORBIDDEN_KINDS = tuple(event for event in FORBIDDEN if event.endswith("."))
SECRETS = ("/dev/", "/etc/")
OURS = (str(pathlib.Path(__file__).parent.parent), sys.prefix, sys.base_prefix, "<frozen")
MAKERS = (
    f"{os.sep}dataclasses.py",
    f"{os.sep}collections{os.sep}__init__.py",
)  # they make methods from text of their own
ORDINARY = """import torch
from torch import nn
first, second = nn.Linear(10, 20), nn.Linear(30, 10)
print(second(first(torch.rand(2, 10))))
"""
WORKLOAD = "".join(
    f"def f{i}(x, y=({i}, 2)):\n    z = [a.b[{i}] + x for a in y if a]\n    return z\n" for i in range(300)
)
QUICK = 2.0  # CPU seconds that are no question of the machine: the promise holds as it stands
PACE = 0.05  # what the workload costs on the machine on which the promise was made, quiet
events, watching = [], False


def audit(event, args):
    if not watching:
        return
    if event == "open":
        path, mode = str(args[0]), args[1]
        if sys._getframe(1).f_code.co_filename == torchlint.reading.__file__ and not path.startswith(SECRETS):
            return  # the one reader of the project's files, which reads only
        if path.startswith(SECRETS) or not isinstance(mode, str) or any(c in mode for c in "wax+"):
            events.append(f"open {path} {mode}")
    elif event == "exec" and (
        args[0].co_filename.startswith(OURS) or sys._getframe(1).f_code.co_filename.endswith(MAKERS)
    ):
        return  # a rule or a part of torch that is imported when it is first needed
    elif event == "os.scandir" and torchlint.project.__file__ in (
        sys._getframe(1).f_code.co_filename,
        sys._getframe(2).f_code.co_filename,
    ):
        return  # which files the project has; the frame between is os.walk
    elif event in FORBIDDEN or event.startswith(FORBIDDEN_KINDS):
        events.append(f"{event} {str(args)[:120]}")


def peak(reset=False):
    """The most memory this process has held since the last reset, in megabytes; without /proc, since its start."""
    try:
        if reset:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1 << 20)


def state():
    """What a program must not be able to change, as something that can be compared."""
    return {
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "threads": threading.active_count(),
        "signals": [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)],
        "exits": atexit._ncallbacks(),
        "builtins": dict(vars(builtins)),
        "math": dict(vars(math)),
        "numpy": {name: value for name, value in vars(numpy).items() if callable(value)},
        "torch": {name: value for name, value in vars(torch).items() if callable(value)},
        "functional": {name: value for name, value in vars(torch.nn.functional).items() if callable(value)},
        "layers": {name: dict(vars(value)) for name, value in vars(torch.nn).items() if isinstance(value, type)},
        "tensor": {name: value for name, value in vars(torch.Tensor).items() if not name.startswith("__slot")},
        "hooks": (
            len(torch.nn.modules.module._global_forward_hooks) + len(torch.nn.modules.module._global_forward_pre_hooks)
        ),
        "modes": [
            torch.get_default_dtype(),
            torch.is_grad_enabled(),
            torch.is_anomaly_enabled(),
            str(torch.get_default_device()),
        ],
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "collector": (gc.isenabled(), len(gc.callbacks)),
        "recursion": sys.getrecursionlimit(),
        "digits": sys.get_int_max_str_digits(),
        "modules": [
            name
            for name in sys.modules
            if name in ("this", "antigravity", "sibling_with_effects", "imports_in_a_circle")
        ],
        "path": list(sys.path),
        "finders": len(sys.meta_path),
        "children": (
            len(open("/proc/self/task/%d/children" % os.getpid()).read().split())
            if os.path.exists("/proc/self/task")
            else 0
        ),
    }


def changes(before, after):
    """The names of what is no longer as it was; a table of callables may gain lazily imported ones."""
    return [
        name
        for name in before
        if (
            any(
                after[name].get(key) is not value and after[name].get(key) != value
                for key, value in before[name].items()
            )
            if isinstance(before[name], dict)
            else before[name] != after[name]
        )
    ]


def workload():
    """CPU seconds of a fixed piece of work, much like the linter's own: trees are walked, small objects made, names
    looked up.
    """
    gc.disable()  # collecting what others have left is not part of it
    start = time.process_time()
    for _ in range(2):
        names = {}
        for node in ast.walk(ast.parse(WORKLOAD)):
            names.setdefault(type(node).__name__, []).append(tuple(ast.iter_child_nodes(node)))
        sorted(names, key=lambda name: (len(names[name]), name))
    gc.enable()
    return time.process_time() - start


def main():
    global watching
    answers = os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    rules = load_rules()
    ordinary = [
        f.code
        for f in lint(
            ORDINARY, Job.of(os.path.abspath("ordinary.py"), project=Project(os.getcwd()), rules=rules)
        ).findings
    ]
    sys.addaudithook(audit)
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)  # as in our own workers and the server
    for line in sys.stdin:
        task = json.loads(line)
        path, text = task["path"], task["text"]
        if text is None:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        before, error = state(), None
        events.clear()
        peak(reset=True)
        held = peak()
        wall, cpu, watching = time.perf_counter(), time.process_time(), True
        try:
            outcome = lint(text, Job.of(path, project=Project(os.path.dirname(path)), rules=rules))
        except BaseException as raised:
            error, outcome = f"{type(raised).__name__}: {str(raised)[:300]}", None
        watching = False
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        megabytes = peak()
        changed = changes(before, state())
        again = [
            f.code
            for f in lint(
                ORDINARY, Job.of(os.path.abspath("ordinary.py"), project=Project(os.getcwd()), rules=rules)
            ).findings
        ]
        answer = {
            "seconds": cpu,
            "pace": workload() / PACE if cpu > QUICK else 1.0,
            "wall": wall,
            "megabytes": megabytes,
            "held": held,
            "error": error,
            "notices": list(outcome.notices) if outcome else [],
            "findings": [[f.code, f.span.line, f.message] for f in outcome.findings] if outcome else [],
            "events": sorted(set(events)),
            "changed": changed,
            "ordinary": ordinary == again and "TL901" in again,
        }
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


main()
