"""timm's layers that other programs build on: the same names, arguments and parts.

What only some versions take is taken and not looked at; that an image has the size that was announced is not checked,
since some versions do not.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.values import Special
from torchlint.shapes.libraries.compilers import transparent
from torchlint.shapes.libraries.tuples import times


class DropPath(nn.Module):
    """Drops whole samples."""

    def __init__(self, drop_prob: float = 0.0, scale_by_keep: bool = True):
        super().__init__()
        self.drop_prob = drop_prob
        self.scale_by_keep = scale_by_keep

    def forward(self, x):
        return drop_path(x, self.drop_prob, self.training, self.scale_by_keep)


class LayerScale(nn.Module):
    def __init__(self, dim: int, init_values: float = 1e-5, inplace: bool = False, **rest: Any):
        super().__init__()
        self.inplace = inplace
        self.gamma = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x.mul_(self.gamma) if self.inplace else x * self.gamma


class LayerNorm2d(nn.LayerNorm):
    """Normalizes the channels of an image."""

    def __init__(self, num_channels: int, eps: float = 1e-6, affine: bool = True, **rest: Any):
        super().__init__(num_channels, eps=eps, elementwise_affine=affine)

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Mlp(nn.Module):
    def __init__(
        self,
        in_features,
        hidden_features=None,
        out_features=None,
        act_layer=nn.GELU,
        norm_layer=None,
        bias=True,
        drop=0.0,
        use_conv=False,
        **rest: Any,
    ):
        super().__init__()
        hidden, out = hidden_features or in_features, out_features or in_features
        bias, drop = _both(bias), _both(drop)
        if use_conv:
            self.fc1: nn.Module = nn.Conv2d(in_features, hidden, 1, bias=bias[0])
            self.fc2: nn.Module = nn.Conv2d(hidden, out, 1, bias=bias[1])
        else:
            self.fc1 = nn.Linear(in_features, hidden, bias=bias[0])
            self.fc2 = nn.Linear(hidden, out, bias=bias[1])
        self.act = act_layer()
        self.drop1 = nn.Dropout(drop[0])
        self.norm = norm_layer(hidden) if norm_layer is not None else nn.Identity()
        self.drop2 = nn.Dropout(drop[1])

    def forward(self, x):
        return self.drop2(self.fc2(self.norm(self.drop1(self.act(self.fc1(x))))))


class PatchEmbed(nn.Module):
    """An image as a sequence of patches."""

    def __init__(
        self,
        img_size=224,
        patch_size=16,
        in_chans=3,
        embed_dim=768,
        norm_layer=None,
        flatten=True,
        output_fmt=None,
        bias=True,
        **rest: Any,
    ):
        super().__init__()
        self.patch_size = _both(patch_size)
        self.img_size = self.grid_size = self.num_patches = None
        if img_size is not None:
            self.img_size = _both(img_size)
            self.grid_size = tuple(side // patch for side, patch in zip(self.img_size, self.patch_size))
            self.num_patches = self.grid_size[0] * self.grid_size[1]
        self.flatten = flatten and output_fmt in (None, "NLC")
        self.proj = nn.Conv2d(in_chans, embed_dim, self.patch_size, self.patch_size, bias=bias)
        self.norm = norm_layer(embed_dim) if norm_layer else nn.Identity()

    def forward(self, x):
        x = self.proj(x)
        return self.norm(x.flatten(2).transpose(1, 2) if self.flatten else x)


class Attention(nn.Module):
    def __init__(
        self,
        dim,
        num_heads=8,
        qkv_bias=False,
        qk_norm=False,
        proj_bias=True,
        attn_drop=0.0,
        proj_drop=0.0,
        norm_layer=None,
        **rest: Any,
    ):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = dim // num_heads
        self.scale = self.head_dim**-0.5
        self.fused_attn = True
        norm_layer = norm_layer or nn.LayerNorm
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.q_norm = norm_layer(self.head_dim) if qk_norm is True else nn.Identity()
        self.k_norm = norm_layer(self.head_dim) if qk_norm is True else nn.Identity()
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim)
        self.proj_drop = nn.Dropout(proj_drop)

    def forward(self, x, attn_mask=None):
        batch, count, channels = x.shape
        qkv = self.qkv(x).reshape(batch, count, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        x = nn.functional.scaled_dot_product_attention(self.q_norm(q), self.k_norm(k), v, attn_mask=attn_mask)
        return self.proj_drop(self.proj(x.transpose(1, 2).reshape(batch, count, channels)))


class Block(nn.Module):
    """A block of a vision transformer."""

    def __init__(
        self,
        dim,
        num_heads,
        mlp_ratio=4.0,
        qkv_bias=False,
        *options: Any,
        qk_norm=False,
        init_values=None,
        drop_path=0.0,
        act_layer=nn.GELU,
        norm_layer=nn.LayerNorm,
        mlp_layer=Mlp,
        **rest: Any,
    ):
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = Attention(dim, num_heads=num_heads, qkv_bias=qkv_bias, qk_norm=qk_norm, norm_layer=norm_layer)
        self.ls1 = LayerScale(dim, init_values) if init_values else nn.Identity()
        self.drop_path1 = DropPath(drop_path) if drop_path else nn.Identity()
        self.norm2 = norm_layer(dim)
        self.mlp = mlp_layer(in_features=dim, hidden_features=int(dim * mlp_ratio), act_layer=act_layer)
        self.ls2 = LayerScale(dim, init_values) if init_values else nn.Identity()
        self.drop_path2 = DropPath(drop_path) if drop_path else nn.Identity()

    def forward(self, x, attn_mask=None):
        x = x + self.drop_path1(self.ls1(self.attn(self.norm1(x))))
        return x + self.drop_path2(self.ls2(self.mlp(self.norm2(x))))


def drop_path(x, drop_prob: float = 0.0, training: bool = False, scale_by_keep: bool = True):
    if not drop_prob or not training:
        return x
    return x * x.new_empty((x.shape[0], *[1] * (x.dim() - 1)))


def _both(value: Any) -> tuple:
    return tuple(value) if isinstance(value, (list, tuple, torch.Size)) else (value, value)


def make_divisible(v, divisor=8, min_value=None, round_limit=0.9):
    found = max(min_value or divisor, int(v + divisor / 2) // divisor * divisor)
    return found + divisor if found < round_limit * v else found


def _filled(tensor, *args: Any, **kwargs: Any):
    return tensor


_TRANSFORMER = {"Attention": Attention, "Block": Block, "LayerScale": LayerScale}
_LAYERS: dict[str, Any] = {
    "DropPath": DropPath,
    "drop_path": drop_path,
    "LayerNorm2d": LayerNorm2d,
    "Mlp": Mlp,
    "PatchEmbed": PatchEmbed,
    "make_divisible": make_divisible,
    "to_ntuple": Special("to_ntuple", lambda machine, count: times(count)),
    **{f"to_{count}tuple": times(count) for count in (1, 2, 3, 4)},
    **dict.fromkeys(("trunc_normal_", "trunc_normal_tf_", "lecun_normal_", "variance_scaling_"), _filled),
}
_REGISTER = Special("register_model", transparent)
HOMES = ("timm.layers", "timm.models.layers")
REGISTRIES = ("timm.models", "timm.models.registry")
TRANSFORMERS = "timm.models.vision_transformer"
TIMM: dict[str, Any] = {
    **{f"{home}.{name}": layer for home in (*HOMES, TRANSFORMERS) for name, layer in _LAYERS.items()},
    **{f"{TRANSFORMERS}.{name}": layer for name, layer in _TRANSFORMER.items()},
    **{f"{home}.register_model": _REGISTER for home in REGISTRIES},
}
