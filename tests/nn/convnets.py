"""ResNet, VGG, SqueezeNet and MobileNetV2 of torchvision as graphs, node for node as PyTorch exports them (batch norms
kept)."""


def divisible(channels, by=8):
    """The nearest multiple, at least one, never 10 % less: the rule of the MobileNet papers."""
    out = max(by, int(channels + by / 2) // by * by)
    return out + by if out < 0.9 * channels else out


class Net:
    """What the networks share: the builder, the width factor, and the classifier's size."""

    PAIRED = 1.0  # see normal_bytes

    def __init__(self, builder, width, classes):
        self.b, self.width, self.classes = builder, width, classes
        builder.paired = self.PAIRED

    def scaled(self, channels):
        return channels if self.width == 1 else divisible(channels * self.width)

    def conv_bn(self, x, conv, bn, channels, size, gain=1.0, **more):
        return self.b.batch_norm(self.b.conv(x, conv, channels, size, **more), bn, gain)


class ResNet(Net):
    DEPTHS = {"resnet18": (2, 2, 2, 2), "resnet34": (3, 4, 6, 3), "resnet50": (3, 4, 6, 3),
              "resnet101": (3, 4, 23, 3), "resnet152": (3, 8, 36, 3), "resnext50_32x4d": (3, 4, 6, 3),
              "wide_resnet50_2": (3, 4, 6, 3)}

    def block(self, x, scope, planes, stride, kind):
        """A basic block, or a bottleneck with its groups and width."""
        b = self.b
        path = scope.split("/")[-1]
        shape, steps = b.shapes[x], []
        if kind == "basic":
            out = planes
            steps = [(planes, 3, stride, 1), (planes, 3, 1, 1)]
        else:
            groups, base = kind
            out, inner = planes * 4, max(planes * base // 64, 1) * groups
            steps = [(inner, 1, 1, 1), (inner, 3, stride, groups), (out, 1, 1, 1)]
        y = x
        for i, (channels, size, step, groups) in enumerate(steps, 1):
            last = i == len(steps)
            y = self.conv_bn(y, f"{scope}/{path}.conv{i}", f"{scope}/{path}.bn{i}", channels, size,
                             stride=step, groups=groups, gain=0.25 if last else 1.0)
            if not last:
                y = b.relu(y, f"{scope}/{path}.relu")
        if stride != 1 or shape[0] != out:
            at = f"{scope}/{path}.downsample/{path}.downsample"
            x = self.conv_bn(x, f"{at}.0", f"{at}.1", out, 1, stride=stride)
        return b.relu(b.sum(y, x, scope), f"{scope}/{path}.relu")

    def build(self, name):
        b = self.b
        kind = {"resnet18": "basic", "resnet34": "basic", "resnext50_32x4d": (32, 4),
                "wide_resnet50_2": (1, 128)}.get(name, (1, 64))
        x = b.relu(self.conv_bn("input", "conv1", "bn1", self.scaled(64), 7, stride=2), "relu")
        x = b.pool("MaxPool", x, "maxpool", 3, 2, 1)
        for stage, depth in enumerate(self.DEPTHS[name]):
            for i in range(depth):
                stride = 2 if stage and not i else 1
                x = self.block(x, f"layer{stage + 1}/layer{stage + 1}.{i}", self.scaled(64 << stage), stride, kind)
        return b.linear(b.flatten(b.global_pool(x, "avgpool")), "fc", self.classes)


class VGG(Net):
    PAIRED = 0.6
    PLANS = {"vgg11": (1, 1, 2, 2, 2), "vgg16": (2, 2, 3, 3, 3)}

    def build(self, name):
        b = self.b
        x, at, norm = "input", 0, name.endswith("_bn")
        for stage, depth in enumerate(self.PLANS[name.removesuffix("_bn")]):
            for _ in range(depth):
                x = b.conv(x, f"features/features.{at}", self.scaled(min(64 << stage, 512)), 3, bias=True)
                at += 1
                if norm:
                    x = b.batch_norm(x, f"features/features.{at}")
                    at += 1
                x = b.relu(x, f"features/features.{at}")
                at += 1
            x = b.pool("MaxPool", x, f"features/features.{at}", 2, 2)
            at += 1
        # AdaptiveAvgPool2d(7) where the map is 7 x 7 already; small images have a smaller map, and keep it.
        x = b.flatten(b.pool("AveragePool", x, "avgpool", 1, 1))
        for at in (0, 3):
            x = b.relu(b.linear(x, f"classifier/classifier.{at}", self.scaled(4096)),
                       f"classifier/classifier.{at + 1}")
        return b.linear(x, "classifier/classifier.6", self.classes, 3.0)


class SqueezeNet(Net):
    # 0: a max-pool; else the squeeze planes of a fire module, which expands to four times as many, twice.
    PLANS = {"squeezenet1_0": (0, 16, 16, 32, 0, 32, 48, 48, 64, 0, 64),
             "squeezenet1_1": (0, 16, 16, 0, 32, 32, 0, 48, 48, 64, 64)}

    def fire(self, x, scope, squeeze):
        b = self.b
        path = scope.split("/")[-1]
        x = b.relu(b.conv(x, f"{scope}/{path}.squeeze", self.scaled(squeeze), 1, bias=True),
                   f"{scope}/{path}.squeeze_activation")
        parts = [b.relu(b.conv(x, f"{scope}/{path}.expand{n}x{n}", self.scaled(4 * squeeze), n, bias=True),
                        f"{scope}/{path}.expand{n}x{n}_activation") for n in (1, 3)]
        out = b.like(b.add("Concat", parts, scope, axis=1), parts[0])
        b.shapes[out] = (2 * b.shapes[out][0], *b.shapes[out][1:])
        return out

    def build(self, name):
        b = self.b
        stem, size = (96, 7) if name == "squeezenet1_0" else (64, 3)
        x = b.relu(b.conv("input", "features/features.0", self.scaled(stem), size, 2, 0, bias=True),
                   "features/features.1")
        for at, squeeze in enumerate(self.PLANS[name], 2):
            scope = f"features/features.{at}"
            x = self.fire(x, scope, squeeze) if squeeze else b.pool("MaxPool", x, scope, 3, 2, 0, True)
        x = b.relu(b.conv(x, "classifier/classifier.1", self.classes, 1, bias=True, gain=20.0),
                   "classifier/classifier.2")
        return b.flatten(b.global_pool(x, "classifier/classifier.3"))


class MobileNetV2(Net):
    # expansion, channels, blocks, stride
    PLAN = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))

    def block(self, x, scope, expand, channels, stride):
        b = self.b
        path = scope.split("/")[-1]
        c, at, y = b.shapes[x][0], 0, x
        hidden = c * expand
        steps = ([(hidden, 1, 1, 1)] if expand != 1 else []) + [(hidden, 3, stride, hidden)]
        for out, size, step, groups in steps:
            base = f"{scope}/conv/{path}.conv.{at}/{path}.conv.{at}"
            y = b.relu6(self.conv_bn(y, f"{base}.0", f"{base}.1", out, size, stride=step, groups=groups),
                        f"{base}.2")
            at += 1
        base = f"{scope}/conv/{path}.conv"
        skips = stride == 1 and c == channels
        y = self.conv_bn(y, f"{base}.{at}", f"{base}.{at + 1}", channels, 1, gain=0.3 if skips else 1.0)
        return b.sum(x, y, scope) if skips else y

    def build(self, _):
        b = self.b
        base = "features/features.0/features.0"
        x = b.relu6(self.conv_bn("input", f"{base}.0", f"{base}.1", divisible(32 * self.width), 3, stride=2),
                    f"{base}.2")
        at = 1
        for expand, channels, blocks, stride in self.PLAN:
            for i in range(blocks):
                x = self.block(x, f"features/features.{at}", expand, divisible(channels * self.width),
                               1 if i else stride)
                at += 1
        base = f"features/features.{at}/features.{at}"
        x = b.relu6(self.conv_bn(x, f"{base}.0", f"{base}.1", divisible(1280 * max(self.width, 1)), 1),
                    f"{base}.2")
        return b.linear(b.flatten(b.global_pool(x, "")), "classifier/classifier.1", self.classes, 3.0)


CONVNETS = {**dict.fromkeys(ResNet.DEPTHS, ResNet),
            **{name + norm: VGG for name in VGG.PLANS for norm in ("", "_bn")},
            **dict.fromkeys(SqueezeNet.PLANS, SqueezeNet), "mobilenet_v2": MobileNetV2}
