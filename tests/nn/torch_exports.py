#!/usr/bin/env python3
"""torch_exports.py FULLWARP_SERVE: blocks of well-known networks as PyTorch itself exports them, run by the CPU engine
fused and not fused; the results are PyTorch's own."""
import math
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

WORST = 2e-5  # of the largest output: fp32 sums in another order
PATCH, WIDTH, HEADS = 8, 24, 3
TOKENS = (32 // PATCH) ** 2


class Excite(nn.Module):
    def __init__(self, c, gate):
        super().__init__()
        self.pool, self.gate = nn.AdaptiveAvgPool2d(1), gate()
        self.fc = nn.Sequential(nn.Conv2d(c, c // 4, 1), nn.ReLU(), nn.Conv2d(c // 4, c, 1))

    def forward(self, x):
        return x * self.gate(self.fc(self.pool(x)))


class Inverted(nn.Module):
    """The block of MobileNetV3 and EfficientNet."""

    def __init__(self, c, wide, out, stride, act, gate):
        super().__init__()
        self.adds = c == out and stride == 1
        self.block = nn.Sequential(
            nn.Conv2d(c, wide, 1, bias=False), nn.BatchNorm2d(wide), act(),
            nn.Conv2d(wide, wide, 5, stride, 2, groups=wide, bias=False), nn.BatchNorm2d(wide), act(),
            Excite(wide, gate), nn.Conv2d(wide, out, 1, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return self.block(x) + x if self.adds else self.block(x)


def mobile(act, gate):
    return nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), act(),
                         Inverted(16, 32, 24, 2, act, gate), Inverted(24, 48, 24, 1, act, gate),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 32), act(), nn.Dropout(0.2),
                         nn.Linear(32, 10))


class Dense(nn.Module):
    """Two dense blocks with a transition: batch norms that no convolution precedes."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
                                  nn.MaxPool2d(3, 2, ceil_mode=True))
        self.first = nn.ModuleList(self.layer(16 + 8 * i) for i in range(3))
        self.between = nn.Sequential(nn.BatchNorm2d(40), nn.ReLU(), nn.Conv2d(40, 20, 1, bias=False), nn.AvgPool2d(2, 2))
        self.second = nn.ModuleList(self.layer(20 + 8 * i) for i in range(2))
        self.head = nn.Sequential(nn.BatchNorm2d(36), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(36, 10))

    @staticmethod
    def layer(c):
        return nn.Sequential(nn.BatchNorm2d(c), nn.ReLU(), nn.Conv2d(c, 32, 1, bias=False), nn.BatchNorm2d(32),
                             nn.ReLU(), nn.Conv2d(32, 8, 3, 1, 1, bias=False))

    def forward(self, x):
        parts = [self.stem(x)]
        for layer in self.first:
            parts.append(layer(torch.cat(parts, 1)))
        parts = [self.between(torch.cat(parts, 1))]
        for layer in self.second:
            parts.append(layer(torch.cat(parts, 1)))
        return self.head(torch.cat(parts, 1))


class Module(nn.Module):
    """Attention by nn.MultiheadAttention, as torchvision has it: the batch in dimension 1, heads beside it."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x, need_weights=False)[0]


class OneLinear(nn.Module):
    """One product for all three, five dimensions, as timm has it."""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(x).reshape(n, t, 3, HEADS, c // HEADS).permute(2, 0, 3, 1, 4).unbind(0)
        shares = ((q * (c // HEADS) ** -0.5) @ k.transpose(-2, -1)).softmax(-1)
        return self.proj((shares @ v).transpose(1, 2).reshape(n, t, c))


class ThreeLinears(nn.Module):
    """A product for each, scores divided, as transformers has it."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def heads(self, x):
        return x.view(x.shape[0], x.shape[1], HEADS, WIDTH // HEADS).permute(0, 2, 1, 3)

    def forward(self, x):
        scores = torch.matmul(self.heads(self.q(x)), self.heads(self.k(x)).transpose(-1, -2))
        shares = torch.softmax(scores / math.sqrt(WIDTH // HEADS), -1)
        context = torch.matmul(shares, self.heads(self.v(x))).permute(0, 2, 1, 3).contiguous()
        return self.out(context.view(context.shape[0], context.shape[1], WIDTH))


class Layer(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.norm1, self.norm2, self.attention = nn.LayerNorm(WIDTH, eps=1e-6), nn.LayerNorm(WIDTH), attention()
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Vision(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, PATCH, PATCH)
        self.token = nn.Parameter(torch.randn(1, 1, WIDTH))
        self.positions = nn.Parameter(torch.randn(1, TOKENS + 1, WIDTH))
        self.layers = nn.Sequential(Layer(attention), Layer(attention))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 10)

    def forward(self, x):
        n, _, h, w = x.shape
        x = self.patches(x).reshape(n, WIDTH, (h // PATCH) * (w // PATCH)).permute(0, 2, 1)
        x = torch.cat([self.token.expand(n, -1, -1), x], 1) + self.positions
        return self.head(self.norm(self.layers(x))[:, 0])


class Next(nn.Module):
    """The block of ConvNeXt: layer norm and products on maps with their channels last."""

    def __init__(self, c):
        super().__init__()
        self.depthwise = nn.Conv2d(c, c, 7, padding=3, groups=c)
        self.mlp = nn.Sequential(nn.LayerNorm(c), nn.Linear(c, 2 * c), nn.GELU(), nn.Linear(2 * c, c))
        self.scale = nn.Parameter(torch.rand(c, 1, 1))

    def forward(self, x):
        return x + self.mlp(self.depthwise(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2) * self.scale


def next_net():
    return nn.Sequential(nn.Conv2d(3, 16, 4, 4), Next(16), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(16),
                         nn.Linear(16, 10))


# Name, module, opset, a batch axis that is a symbol, steps of the plan when fused.
CASES = (
    ("mobilenetv3-11", lambda: mobile(nn.Hardswish, nn.Hardsigmoid), 11, False, 18),
    ("mobilenetv3-17", lambda: mobile(nn.Hardswish, nn.Hardsigmoid), 17, True, 18),
    ("efficientnet-13", lambda: mobile(nn.SiLU, nn.Sigmoid), 13, False, 18),
    ("densenet-17", Dense, 17, False, None),
    ("convnext-17", next_net, 17, False, 9),
    ("vit-module-11", lambda: Vision(Module), 11, True, 18),
    ("vit-module-17", lambda: Vision(Module), 17, False, 18),
    ("vit-one-linear-14", lambda: Vision(OneLinear), 14, True, 18),
    ("vit-three-linears-17", lambda: Vision(ThreeLinears), 17, True, None),
)


def export(make, opset, is_dynamic, folder):
    module = make().eval()
    for part in module.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.running_mean.normal_(0, 0.1)
            part.running_var.uniform_(0.5, 1.5)
    for parameter in module.parameters():
        parameter.data += torch.randn_like(parameter) * 0.05
    x = torch.rand(2, 3, 32, 32) * 4 - 2
    axes = {"x": {0: "n"}} if is_dynamic else None
    torch.onnx.export(module, x, str(folder / "model.onnx"), opset_version=opset, input_names=["x"], dynamic_axes=axes)
    np.save(folder / "x.npy", x.numpy())
    return module(x).detach().numpy()


def run(serve, folder, *options):
    command = [serve, "run", "model.onnx", "--engine", "onednn", "--input", "x.npy", "--output", "y.npy", "--batch", "2"]
    done = subprocess.run([*command, *options], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1]
    return np.load(folder / "y.npy"), done.stdout.splitlines()[0]


def main():
    serve, failures = pathlib.Path(sys.argv[1]).resolve(), 0
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    for name, make, opset, is_dynamic, steps in CASES:
        with tempfile.TemporaryDirectory() as path:
            folder = pathlib.Path(path)
            expected = export(make, opset, is_dynamic, folder)
            for options in ((), ("--no-fuse",)):
                got, said = run(serve, folder, *options)
                if got is None and "not built in" in said:
                    print(f"skipped: {said}")
                    sys.exit(77)
                error = math.inf if got is None else float(abs(got - expected).max() / abs(expected).max())
                good = error < WORST and (options or not steps or f", {steps} steps" in said)
                failures += not good
                print(f"{'ok' if good else 'WRONG'}: {name} {' '.join(options)} error {error:.1e}: {said}")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
