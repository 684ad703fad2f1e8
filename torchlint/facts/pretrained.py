"""Networks of libraries that work otherwise in train mode as they are made: they hold dropout above 0, or batch norm.

A vision transformer of torchvision or timm does not: its rates are 0 unless others are asked for.
"""

from __future__ import annotations

import re

# torchvision's, and timm's of the same families
_NORMALIZING = (
    r"(tf_|se|legacy_se|cs|ecares|wide_)?res(net|next)(?!v2)\w*|(tf_)?efficientnet\w*|(tf_)?mobilenet\w*|densenet\w*"
    r"|(tf_)?inception\w*|xception\w*|regnet\w*|shufflenet\w*|mnasnet\w*|googlenet|hrnet\w*|ghostnet\w*|vgg\d+_bn"
)
_DROPPING = r"vgg\d+|alexnet|squeezenet\w*|swin_[tsb]|convnext_\w+"  # the last two drop whole layers
_OF_TRANSFORMERS = (
    r"(Bert|Roberta|XLMRoberta|Camembert|DistilBert|Electra|Deberta|DebertaV2|MPNet|GPT2|T5|MT5|Bart|MBart|Marian"
    r"|Pegasus|Wav2Vec2|Hubert)(Model|EncoderModel|LMHeadModel|For[A-Z]\w+)"
)
_SEGMENTING = r"(deeplabv3|fcn|lraspp)_\w+"
NORMALIZING = re.compile(rf"torchvision\.models\.(\w+\.)*({_NORMALIZING})")
ARCHITECTURE = re.compile(rf"({_NORMALIZING})(?<!_gn)(\.\w+)?")  # as `timm.create_model` and `torch.hub.load` call it
_TRANSFORMERS = re.compile(rf"transformers\.(models\.\w+\.)*(\w+\.)?{_OF_TRANSFORMERS}\.from_pretrained")
AUTOMATIC = re.compile(r"transformers\.(\w+\.)*Auto\w+\.from_pretrained")
CHECKPOINT = re.compile(
    r"(google-bert/|FacebookAI/|distilbert/|openai-community/)?(bert|roberta|distilbert|xlm-roberta|gpt2)\b.*"
)
AS_THEY_ARE = (
    re.compile(rf"torchvision\.models\.(\w+\.)*({_NORMALIZING}|{_DROPPING}|{_SEGMENTING})"),
    _TRANSFORMERS,
    re.compile(r"lpips\.(\w+\.)?LPIPS"),
)
