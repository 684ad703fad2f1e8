"""The table `torchlint.facts` says of torch's functions what torch shows when they are called with small tensors."""

from __future__ import annotations

import inspect
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import facts_probe as probe
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from torchlint import facts
from torchlint.facts.fields import FIELDS, OF_MODULES, OF_RESULTS
from torchlint.facts.rows import Fact, read

ROOT = Path(__file__).parent.parent
TABLES = 113  # of torch's names, outside of torchlint/facts
TESTED_WITH = "2.13"  # the torch whose names and behaviour the table gives
of_this_torch = pytest.mark.skipif(
    not torch.__version__.startswith(TESTED_WITH + "."), reason=f"the table is that of torch {TESTED_WITH}"
)
FAMILIES = [family.__name__.rsplit(".", 1)[-1] for family in facts.FAMILIES]
# What is true of each call, if the table says so; of other functions it may be true by chance of the calls made here.
SHOWN = "same_numbers picks pointwise same_shape same_rank view casts random indices reduces flat".split()
# What the table says if and only if torch shows it.
EXACT = "keeps_input keeps_operands keeps_output cuts in_place weights affine".split()
OPTIONAL = ("reduces", "indices")  # depends on a dimension or a flag
# What is not called: other devices, sparse and quantized tensors, files, and names that have done nothing but raise since
# torch 2.0.
NOT_CALLED = frozenset(
    """
    .cuda .xpu .mtia .ipu .pin_memory torch.load torch.save torch.segment_reduce .record_stream .reinforce
    .register_post_accumulate_grad_hook torch.nonzero_static .nonzero_static torch.linalg.lu_solve
    torch.linalg.solve_triangular
    torch.eig .eig torch.lstsq .lstsq torch.matrix_rank torch.solve .solve torch.symeig .symeig
    .to_padded_tensor .ccol_indices .coalesce .col_indices .crow_indices .indices .is_coalesced .row_indices .values
    torch.resize_as_sparse_ .resize_as_sparse_ .sparse_resize_ .sparse_resize_and_clear_
    torch.int_repr .int_repr torch.q_per_channel_axis .q_per_channel_axis torch.q_per_channel_scales
    .q_per_channel_scales torch.q_per_channel_zero_points .q_per_channel_zero_points torch.q_scale .q_scale
    torch.q_zero_point .q_zero_point .qscheme
    """.split()
)
# Containers and bases, of which no call says anything.
NO_LAYERS = frozenset(
    "Sequential ModuleList ModuleDict ParameterList ParameterDict Parameter Module DataParallel RNNBase RNNCellBase"
    " Container SyncBatchNorm".split()
)


def rows(family: str) -> Iterator[tuple[str, Fact]]:
    yield from read(facts.FAMILIES[FAMILIES.index(family)].ROWS, facts.DESCRIBED).items()


def base(fact: Fact) -> str:
    return fact.word.removesuffix("_") if fact.in_place else fact.word


def differences(fact: Fact, said: probe.Said) -> list[str]:
    shown, exact = (["random"], ["in_place", "keeps_output"]) if fact.in_place else (SHOWN, EXACT)
    found = [
        word for word in shown if getattr(fact, word) and word not in (said.ever if word in OPTIONAL else said.always)
    ]
    found += [word for word in exact if getattr(fact, word) != (word in said.always)]
    return found + ([f"gives {said.gives}"] if set(fact.gives.split("|")) != said.gives else [])


@of_this_torch
@pytest.mark.parametrize("family", [name for name in FAMILIES if name not in ("layers", "modules")])
def test_functions_do_what_their_rows_say(family: str) -> None:
    wrong, uncalled = {}, set()
    for spelling, fact in rows(family):
        if fact.creates or spelling in NOT_CALLED:
            continue
        said = probe.probe(base(fact), fact.home)
        if said is None:
            uncalled.add(spelling)
        elif found := differences(fact, said):
            wrong[spelling] = found, sorted(said.always)
    assert (wrong, uncalled) == ({}, set())


@of_this_torch
def test_layers_do_what_their_rows_say() -> None:
    wrong, uncalled = {}, set()
    for spelling, fact in rows("layers"):
        said = probe.layer(fact.word)
        if said is None:
            uncalled.add(fact.word)
        elif found := differences(fact, said):
            wrong[spelling] = found, sorted(said.always)
    assert (wrong, uncalled) == ({}, set(NO_LAYERS))


@of_this_torch
def test_functions_stand_where_their_rows_say() -> None:
    """A function that gets or loses a home (an in-place form, a method) needs its row changed."""
    written: dict[str, set[str]] = {}
    for fact in facts.FACTS.values():
        if fact.home not in ("nn", "Module"):
            written.setdefault(base(fact), set()).add(fact.home)
    there = {word: probe.homes_of(word) for word in written}
    assert {w: (h, there[w]) for w, h in written.items() if h != there[w]} == {}


@of_this_torch
def test_every_method_of_a_tensor_and_every_layer_has_a_row() -> None:
    methods = {n for n in dir(torch.Tensor) if not n.startswith("_") and callable(getattr(torch.Tensor, n))}
    assert methods - {fact.word for fact in facts.FACTS.values() if fact.home in (".", "._")} == set()
    layers = {n for n in dir(nn) if inspect.isclass(getattr(nn, n)) and issubclass(getattr(nn, n), nn.Module)}
    assert layers - {fact.word for fact in facts.FACTS.values() if fact.home == "nn"} == set()


@of_this_torch
def test_fields_are_what_tensors_have_and_nobody_calls() -> None:
    assert not [field for field in FIELDS if callable(getattr(torch.zeros(1, 1, dtype=torch.complex64), field))]


def test_results_of_several_tensors_have_these_names_of_tensors():
    kinds = [kind for kind in vars(torch.return_types).values() if isinstance(kind, type)]
    fields = {name for kind in kinds for name in dir(kind) if not name.startswith("_")} | {"count", "index"}
    assert {name for name in fields if hasattr(torch.Tensor, name)} | {"count", "index"} == OF_RESULTS


def test_modules_have_what_the_table_says_and_no_more():
    there = {name for name in (*dir(torch.nn.Module), *vars(torch.nn.Module())) if not name.startswith("__")}
    assert there == OF_MODULES


def test_creators_make_tensors_on_the_default_device_or_the_one_that_is_said() -> None:
    without_device = {"torch.from_numpy"} | {spelling for spelling in facts.named("creates") if "Tensor" in spelling}
    for spelling in sorted(facts.named("creates") - without_device):
        if "sparse" in spelling:
            continue
        name, arguments = spelling.removeprefix("torch."), probe.sizes_for(spelling.removeprefix("torch."))
        assert getattr(torch, name)(*arguments).device.type == "cpu", spelling
        assert getattr(torch, name)(*arguments, device="meta").device.type == "meta", spelling
        with torch.device("meta"):
            assert getattr(torch, name)(*arguments).device.type == "meta", spelling


@of_this_torch
def test_what_is_made_like_a_tensor_is_made_on_its_device() -> None:
    for spelling, fact in facts.FACTS.items():
        if fact.like:
            given = [a.to("meta") if isinstance(a, torch.Tensor) else a for a in probe.arguments(fact.word)]
            assert probe.function(fact.word, fact.home)(*given).device.type == "meta", spelling


@of_this_torch
def test_words_about_names_and_flags_are_those_of_torch() -> None:
    for spelling, fact in facts.FACTS.items():
        if fact.inplace:
            called = getattr(F if fact.home == "F" else nn, fact.word)
            assert "inplace" in inspect.signature(called).parameters, spelling
        if fact.own:
            others = (nn.Module, str, list, dict, set, int, float)
            assert not any(hasattr(other, fact.word) for other in others), spelling
    flagged = {n for n in dir(F) if "inplace" in _parameters(getattr(F, n)) and not n.startswith("_")}
    assert flagged == {fact.word for fact in facts.FACTS.values() if fact.inplace and fact.home == "F"}


def _parameters(value) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(value).parameters) if inspect.isfunction(value) else ()
    except (TypeError, ValueError):
        return ()


@of_this_torch
def test_what_may_be_a_view_or_the_tensor_itself_is_so_where_nothing_has_to_change() -> None:
    x = torch.ones(2, 3)
    same = {"reshape": ((2, 3),), "reshape_as": (x,), "to": (torch.float32,), "type": (torch.float32,), "type_as": (x,)}
    for fact in facts.FACTS.values():
        if fact.may_view and fact.home in ("torch", ".") and f".{fact.word}" not in NOT_CALLED:
            dtype = getattr(torch, fact.word, None)
            given = x.to(dtype) if isinstance(dtype, torch.dtype) else x[0] if fact.word in ("flatten", "ravel") else x
            made = probe.function(fact.word, fact.home)(given, *same.get(fact.word, ()))
            assert made.data_ptr() == given.data_ptr() and (made is given) == fact.itself, fact


@of_this_torch
def test_sizes_and_rows() -> None:
    for spelling in facts.named("of_sizes"):
        assert getattr(torch, spelling.removeprefix("torch."))(2, 3).shape == (2, 3), spelling
    for spelling in facts.named("row"):
        name = spelling.removeprefix("torch.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert getattr(torch, name)(*probe.sizes_for(name)).dim() == 1, spelling


@of_this_torch
def test_locked_views_and_no_others_cannot_be_changed_in_place() -> None:
    for spelling, fact in facts.FACTS.items():
        if fact.view and fact.gives == "tensors":
            x = torch.ones(4, 4, 4, requires_grad=True) * 1
            pieces = probe.function(fact.word, fact.home)(
                x, *(() if fact.word == "unbind" else ([2, 2],) if "sizes" in fact.word else (2,))
            )
            try:
                pieces[0].mul_(2)
                refused = False
            except RuntimeError:
                refused = True
            assert refused == fact.locked, spelling


@of_this_torch
def test_methods_of_a_module_return_it() -> None:
    given = {"apply": (print,), "to_empty": (), "type": (torch.float32,), "to": ("cpu",)}
    for _, fact in rows("modules"):
        layer = nn.ReLU()
        called = getattr(layer, fact.word)
        if fact.word not in ("cuda", "xpu", "mtia", "ipu"):  # of these nothing can be called here
            options = {"device": "cpu"} if fact.word == "to_empty" else {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert called(*given.get(fact.word, ()), **options) is layer, fact.word


@of_this_torch
@pytest.mark.parametrize("kept", ["input", "output"])
def test_what_is_kept_cannot_be_changed_before_backward(kept: str) -> None:
    """What `_saved_…` shows is what torch checks: it refuses the backward after a change."""
    quiet = {}
    for spelling in facts.named(f"keeps_{kept}", but="in_place weights"):
        fact = facts.FACTS[spelling]
        if fact.home != "nn" and spelling not in NOT_CALLED and not (kept == "output" and fact.gives != "tensor"):
            said = probe.backward_after_a_change(fact.word, fact.home, kept)
            if said is None or "modified by an inplace operation" not in said and "only for real" not in said:
                quiet[spelling] = said
    assert quiet == {}


def test_a_row_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(ValueError, match="pointwse"):
        read("relu | torch | pointwse")
    with pytest.raises(ValueError, match="two rows"):
        read("relu | torch | pointwise\nrelu | torch . |")
    with pytest.raises(ValueError, match="its homes and its facts"):
        read("relu | torch")


def test_another_name_says_the_same_and_forms_in_place_follow() -> None:
    table = read("softplus | F . ._ | pointwise keeps_input inplace own\nSoftplus | nn | as:softplus")
    assert set(table) == {"torch.nn.functional.softplus", ".softplus", ".softplus_", "torch.nn.Softplus()"}
    assert table["torch.nn.Softplus()"].same_rank and table["torch.nn.Softplus()"].function == "softplus"
    assert table[".softplus_"].in_place and not table[".softplus_"].keeps_input
    assert table["torch.nn.functional.softplus"].inplace and not table[".softplus"].inplace
    assert table[".softplus"].own and not table["torch.nn.Softplus()"].own


def test_the_table_is_asked_by_words() -> None:
    assert facts.fact("torch.relu").keeps_output and facts.fact("torch.no_such_function") is None
    assert ".detach" in facts.named("same_numbers") and ".detach" not in facts.named("same_numbers", but="cuts")
    assert {"torch.softmax", ".softmax", "torch.nn.Softmax()"} <= facts.named_of("softmax")
    assert facts.words(facts.named_of("sigmoid")) >= {"sigmoid", "sigmoid_", "Sigmoid", "expit"}


def test_facts_are_plain_and_late() -> None:
    """The table needs nothing heavy, and who only asks for the version does not pay for it."""
    code = (
        "import sys, torchlint.facts; print(sorted({'torch', 'libcst', 'ast', 'torchlint.source'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
    code = "import sys, torchlint.frontends.cli as c\ntry: c.main(['--version'])\nexcept SystemExit: pass\n"
    code += "print('torchlint.facts' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.endswith("False\n")


def test_what_names_mean_is_asked_of_the_table() -> None:
    """Lists of torch's names that somebody writes by hand become second opinions: `python benchmarks/name_tables.py -v`
    shows them. Their number may only go down.
    """
    sys.path.append(str(ROOT / "benchmarks"))
    import name_tables

    assert len(name_tables.tables(ROOT)) <= TABLES, "ask torchlint.facts: named(…), named_of(…)"
