"""How many module classes of real libraries the dry run brings to the end of a forward, and why not the others.

    python benchmarks/coverage.py SOURCES [--only timm,monai] [--most 12] [--where] [--save FILE] [--against FILE]

`SOURCES` is a folder with the unpacked packages by their names (`timm/timm/models/…`), pytorch/examples as `examples`
and small repositories in `repositories/owner+name`. Of each library the same files are taken every time: those of the
lists below, or so many of a folder, evenly spread over the alphabet. It is counted as `--statistics` counts: a class
with a forward has run if one came to its end, in the script or with arguments and inputs that were found for it.
`--save` keeps what was said of each file, `--against` compares with what was kept: classes, steps and faults.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from torchlint.project import Project
from torchlint.shapes.core.faults import DryRun
from torchlint.shapes.search.check import dry_run


class Sample(NamedTuple):
    """The files of a library that are measured: those of `patterns`, `number` of them if it is given."""

    aim: int  # of 100 classes, how many should run
    patterns: tuple[str, ...]
    number: int = 0


ARCHITECTURES = (
    "altclip beit bros cohere_asr d_fine deepseek_vl_hybrid doge eomt_dinov3 falcon_mamba gemma3 glm_moe_dsa"
    " granite_speech hrm_text inkling kyutai_speech_to_text llama markuplm minimax_m2 mobilevitv2 musicflamingo"
    " nystromformer parakeet pix2struct pp_ocrv5_mobile_rec qwen2_moe regnet sam3_lite_text slanet swin tipsv2"
    " vibevoice_acoustic_tokenizer vitmatte xglm"
)
REPOSITORIES = (
    "AntixK+PyTorch-VAE Diego999+pyGAT IBM+pytorch-seq2seq L0SG+relational-rnn-pytorch Lornatang+SRGAN-PyTorch"
    " NVIDIA+tacotron2 SeanNaren+deepspeech.pytorch ShangtongZhang+DeepRL amdegroot+ssd.pytorch"
    " auspicious3000+autovc bearpaw+pytorch-classification bubbliiiing+yolo3-pytorch codertimo+BERT-pytorch"
    " facebookresearch+denoiser fatchord+WaveRNN graykode+nlp-tutorial harvardnlp+annotated-transformer"
    " hszhao+semseg jadore801120+attention-is-all-you-need-pytorch jaywalnut310+vits jik876+hifi-gan"
    " karpathy+makemore keon+seq2seq locuslab+TCN ming024+FastSpeech2 openai+CLIP princeton-vl+RAFT"
    " rixwew+pytorch-fm yunjey+pytorch-tutorial zhouhaoyi+Informer2020"
)
LIBRARIES = {
    "transformers": Sample(70, tuple(f"transformers/models/{n}/modeling_{n}.py" for n in ARCHITECTURES.split())),
    "timm": Sample(95, ("timm/models/*.py",), 14),
    "torchvision": Sample(90, ("torchvision/models/**/*.py", "torchvision/ops/*.py"), 20),
    "vit_pytorch": Sample(95, ("vit_pytorch/*.py",), 16),
    "segmentation_models_pytorch": Sample(90, ("segmentation_models_pytorch/**/*.py",), 16),
    "monai": Sample(70, ("monai/networks/*/*.py",), 20),
    "torch_geometric": Sample(60, ("torch_geometric/nn/**/*.py",), 30),
    "diffusers": Sample(60, ("diffusers/models/**/*.py",), 14),
    "examples": Sample(92, ("**/*.py",)),
    **{f"repositories/{name}": Sample(90, ("**/*.py",)) for name in REPOSITORIES.split()},
}
_COUNTED = ("modules", "modules_run", "work")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", type=Path)
    parser.add_argument("--only", default="", help="names of libraries, with commas")
    parser.add_argument("--most", type=int, default=12, help="reasons of each library that are printed")
    parser.add_argument("--where", action="store_true", help="name the files of each reason")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    given = parser.parse_args()
    wanted = given.only.split(",") if given.only else list(LIBRARIES)
    found = {
        name: measured(given.sources / name, sample)
        for name, sample in LIBRARIES.items()
        if name.partition("/")[0] in wanted or name in wanted
    }
    print(f"{'':<30}{'files':>6}{'classes':>9}{'ran':>6}{'%':>7}{'aim':>5}{'work':>12}")
    for library in dict.fromkeys(name.partition("/")[0] for name in found):
        files = {
            f"{name}/{path}": of_file
            for name, inside in found.items()
            if name.partition("/")[0] == library
            for path, of_file in inside.items()
        }
        _print_row(library, files)
        for reason, number, where in reasons(files)[: given.most]:
            print(f"    {number:>4}  {reason}")
            for path in where[:4] if given.where else ():
                print(f"            {path}")
    if given.save:
        given.save.write_text(json.dumps(found, indent=1))
    if given.against:
        _compare(json.loads(given.against.read_text()), found)


def measured(root: Path, sample: Sample) -> dict[str, dict[str, Any]]:
    """What came of each file of a library that has module classes."""
    files = sorted({path for pattern in sample.patterns for path in root.glob(pattern)})
    files = [path for path in files if path.is_file() and "Module" in path.read_text(errors="replace")]
    if sample.number and sample.number < len(files):
        files = [files[i * len(files) // sample.number] for i in range(sample.number)]
    project = Project(root)
    return {str(path.relative_to(root)): _of_file(path, project) for path in files}


def _of_file(path: Path, project: Project) -> dict[str, Any]:
    start = process_time()
    result: DryRun = dry_run(path.read_text(errors="replace"), str(path), project.view(str(path)))
    return {
        **{key: result.statistics.get(key, 0) for key in _COUNTED},
        "seconds": round(process_time() - start, 1),
        "reasons": dict(result.reasons),
        "faults": [f"{f.path.rpartition('/')[2]}:{f.span.line} {f.message}" for f in result.faults if not f.presumed],
    }


def reasons(files: dict[str, dict[str, Any]]) -> list[tuple[str, int, list[str]]]:
    """Why classes did not run, the most frequent first: numbers and names of a program's own are left out."""
    counts: Counter[str] = Counter()
    where: dict[str, list[str]] = {}
    for path, found in files.items():
        for text, number in found["reasons"].items():
            reason = re.sub(r"\d+", "N", re.sub(r"'[^']*'|`[^`]*`", "…", text) if "attribute" not in text else text)
            counts[reason] += number
            where.setdefault(reason, []).append(path)
    return [(reason, number, where[reason]) for reason, number in counts.most_common()]


def _print_row(library: str, files: dict[str, dict[str, Any]]) -> None:
    classes, ran, work = (sum(f[key] for f in files.values()) for key in _COUNTED)
    aim = next(sample.aim for name, sample in LIBRARIES.items() if name.partition("/")[0] == library)
    print(f"{library:<30}{len(files):>6}{classes:>9}{ran:>6}{100 * ran / max(1, classes):>7.1f}{aim:>5}{work:>12,}")


def _compare(before: dict[str, Any], after: dict[str, Any]) -> None:
    """How what was said of the same files differs."""
    for library, files in after.items():
        for path, found in files.items():
            old = before.get(library, {}).get(path)
            if old is None:
                continue
            if found["modules_run"] != old["modules_run"]:
                print(f"{library}/{path}: {old['modules_run']} -> {found['modules_run']} of {found['modules']}")
            for sign, texts, others in (("+", found, old), ("-", old, found)):
                for text in sorted(set(texts["faults"]) - set(others["faults"])):
                    print(f"{sign} {library}/{path}: {text}")


if __name__ == "__main__":
    main()
