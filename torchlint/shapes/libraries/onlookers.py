"""Functions that show, write down, log or measure what they are given, and change nothing of it: what they give back is
nothing, a number or something that nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown
from torchlint.shapes.tensors import wild

_NOTHING = {
    "os": "chmod link makedirs mkdir putenv remove removedirs rename renames replace rmdir symlink unlink utime",
    "shutil": "rmtree",
    "time": "sleep",
    "gc": "disable enable freeze",
    "yaml": "dump",
    "pprint": "pprint pp",
    "traceback": "print_exc print_stack",
    "warnings": "filterwarnings resetwarnings simplefilter warn_explicit",
    "logging": "addLevelName basicConfig captureWarnings critical debug disable error exception fatal info log shutdown"
    " warn warning",
    "random": "setstate",
    "numpy.random": "set_state",
    "torch.cuda": "init ipc_collect reset_max_memory_allocated reset_peak_memory_stats set_rng_state set_rng_state_all",
    "torch": "set_rng_state",
    "torch.random": "set_rng_state",
    "torch.multiprocessing": "set_sharing_strategy set_start_method",
    "matplotlib": "use",
    "matplotlib.pyplot": "cla clf close draw ion ioff pause savefig show switch_backend"
    " tight_layout subplots_adjust imsave",
    "wandb": "finish log",
}
_NUMBERS = {
    "time": "monotonic perf_counter process_time thread_time time",
    "random": "betavariate expovariate gammavariate lognormvariate paretovariate triangular vonmisesvariate"
    " weibullvariate",
    "sklearn.metrics": "adjusted_mutual_info_score adjusted_rand_score auc completeness_score davies_bouldin_score"
    " homogeneity_score log_loss mutual_info_score normalized_mutual_info_score silhouette_score v_measure_score",
}
_WHOLE_NUMBERS = {
    "time": "monotonic_ns perf_counter_ns time_ns",
    "os": "getpid getppid",
    "gc": "collect",
    "multiprocessing": "cpu_count",
    "random": "getrandbits",
    "torch": "initial_seed",
    "torch.random": "initial_seed",
    "torch.cuda": "initial_seed max_memory_allocated max_memory_reserved memory_allocated memory_reserved",
}
_UNKNOWN = {
    "pprint": "pformat",
    "time": "asctime ctime gmtime localtime mktime",
    "os": "cpu_count getcwd getlogin listdir scandir stat",
    "glob": "glob iglob",
    "sklearn.metrics": "classification_report confusion_matrix det_curve pairwise_distances precision_recall_curve"
    " precision_recall_fscore_support roc_curve ConfusionMatrixDisplay RocCurveDisplay",
    "random": "getstate",
    "numpy.random": "get_state",
    "torch": "get_rng_state",
    "torch.random": "get_rng_state",
    "torch.cuda": "get_device_capability get_device_properties get_rng_state get_rng_state_all mem_get_info"
    " memory_summary",
    "matplotlib.pyplot": "annotate axes axhline axvline axhspan axvspan axis bar barh bar_label boxplot colorbar"
    " contour contourf errorbar figlegend figtext figure fill fill_between gca gcf grid hist hist2d hlines imshow"
    " legend loglog matshow pcolor pcolormesh pie plot quiver sca scatter semilogx semilogy setp stackplot stem"
    " step streamplot subplot subplots suptitle text title twinx violinplot vlines xlabel xlim xscale xticks"
    " ylabel ylim yscale yticks",
    "seaborn": "barplot boxplot countplot despine distplot heatmap histplot kdeplot lineplot pairplot scatterplot set"
    " set_palette set_style set_theme violinplot",
    "wandb": "Artifact Audio Histogram Image Table Video alert define_metric init log_artifact login save watch",
}


def _nothing(machine, *args, **options):
    return None


def _gives(known: Any, reason: str) -> Callable:
    return lambda machine, *args, **options: wild.unknown(reason, known)


class Writer(StandIn):
    """`SummaryWriter`: it writes, and gives nothing back."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name.startswith("add_") or name in ("close", "flush"):
            return Special(name, _nothing)
        return Unknown(f"{name} of a writer")


def _writer(machine, *args, **options):
    return Writer()


_writer_class = Special("SummaryWriter", _writer)
_writer_class.__dict__["kind"] = Writer


def _of(table: dict[str, str], make: Callable[[str], Callable]) -> dict[str, Any]:
    return {f"{home}.{name}": Special(name, make(name)) for home, names in table.items() for name in names.split()}


ONLOOKERS: dict[str, Any] = {
    **_of(_NOTHING, lambda name: _nothing),
    **_of(_NUMBERS, lambda name: _gives(wild.REAL, f"what {name} gives")),
    **_of(_WHOLE_NUMBERS, lambda name: _gives(wild.WHOLE, f"what {name} gives")),
    **_of(_UNKNOWN, lambda name: _gives(None, f"what {name} gives")),
    "torch.utils.tensorboard.SummaryWriter": _writer_class,
    "torch.utils.tensorboard.writer.SummaryWriter": _writer_class,
    "tensorboardX.SummaryWriter": _writer_class,
}


def of(*homes: str) -> dict[str, Any]:
    """Those of some libraries."""
    return {name: value for name, value in ONLOOKERS.items() if name.split(".")[0] in homes}
