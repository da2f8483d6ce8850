"""MobileNetV3, EfficientNet and DenseNet of torchvision as graphs, node for node as PyTorch exports them."""
from convnets import Net, divisible
from onnx_writer import moments


def hard_sigmoid(x):
    return min(max(x / 6 + 0.5, 0), 1)


def sigmoid(x):
    return 1 / (1 + 2.718281828459045 ** -x)


class Gated(Net):
    """What MobileNetV3 and EfficientNet share: inverted residuals with squeeze-and-excitation."""

    EPSILON = 1e-5

    def hard_swish(self, x, scope):
        """As the exporters of each time wrote it."""
        b = self.b
        stats = moments(lambda v: v * hard_sigmoid(v), *b.stats[x])
        if b.opset >= 14:
            return b.like(b.add("HardSwish", [x], scope), x, stats)
        if b.opset >= 11:
            gate = b.add("HardSigmoid", [x], scope, alpha=1 / 6)
            return b.like(b.add("Mul", [x, gate], scope), x, stats)
        y = b.add("Add", [x, b.float_constant(scope, 3.0)], scope)
        y = b.add("Clip", [y], scope, min=0.0, max=6.0)
        y = b.add("Div", [y, b.float_constant(scope, 6.0)], scope)
        return b.like(b.add("Mul", [x, y], scope), x, stats)

    def silu(self, x, scope):
        b = self.b
        y = b.like(b.add("Sigmoid", [x], scope), x)
        return b.like(b.add("Mul", [x, y], scope), x, moments(lambda v: v * sigmoid(v), *b.stats[x]))

    def conv_norm_act(self, x, scope, channels, size, act, gain=1.0, **more):
        """Conv, BatchNormalization and an activation (None: none): scope.0, scope.1 and scope.2."""
        b = self.b
        path = scope.split("/")[-1]
        x = b.batch_norm(b.conv(x, f"{scope}/{path}.0", channels, size, **more), f"{scope}/{path}.1", gain,
                         self.EPSILON)
        return act(x, f"{scope}/{path}.2") if act else x

    def squeeze(self, x, scope, channels, act, gate):
        """Scales each channel by what its mean says: gate is (operator, attributes, function)."""
        b = self.b
        op, attrs, function = gate
        y = act(b.conv(b.global_pool(x, f"{scope}/avgpool"), f"{scope}/fc1", channels, 1, bias=True),
                f"{scope}/activation")
        y = b.conv(y, f"{scope}/fc2", b.shapes[x][0], 1, bias=True)
        y = b.like(b.add(op, [y], f"{scope}/scale_activation", **attrs), y, moments(function, *b.stats[y]))
        (ma, pa), (mb, pb) = b.stats[x], b.stats[y]
        return b.like(b.add("Mul", [y, x], scope), x, (ma * mb, pa * pb))

    def head(self, x, widths, act):
        """Pool, flatten, and the linear layers."""
        b = self.b
        x = b.flatten(b.global_pool(x, "avgpool"))
        for i, width in enumerate(widths):
            x = act(b.linear(x, f"classifier/classifier.{i}", width), f"classifier/classifier.{i + 1}")
        return b.linear(x, "classifier/classifier.3" if widths else "classifier/classifier.1", self.classes, 0.3)


class MobileNetV3(Gated):
    EPSILON = 1e-3
    # kernel, expanded, out, squeezes, hard swish, stride; then the last convolution's and the hidden layer's width
    PLANS = {"mobilenet_v3_large": (((3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1),
                                     (5, 72, 40, 1, 0, 2), (5, 120, 40, 1, 0, 1), (5, 120, 40, 1, 0, 1),
                                     (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1),
                                     (3, 184, 80, 0, 1, 1), (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1),
                                     (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1)), 1280),
             "mobilenet_v3_small": (((3, 16, 16, 1, 0, 2), (3, 72, 24, 0, 0, 2), (3, 88, 24, 0, 0, 1),
                                     (5, 96, 40, 1, 1, 2), (5, 240, 40, 1, 1, 1), (5, 240, 40, 1, 1, 1),
                                     (5, 120, 48, 1, 1, 1), (5, 144, 48, 1, 1, 1), (5, 288, 96, 1, 1, 2),
                                     (5, 576, 96, 1, 1, 1), (5, 576, 96, 1, 1, 1)), 1024)}

    def block(self, x, scope, row):
        b = self.b
        size, expanded, out, squeezes, swishes, stride = row
        expanded, out = divisible(expanded * self.width), divisible(out * self.width)
        act = self.hard_swish if swishes else b.relu
        path, c, at, y = scope.split("/")[-1], b.shapes[x][0], 0, x
        base = f"{scope}/block/{path}.block"
        if expanded != c:
            y = self.conv_norm_act(y, f"{base}.{at}", expanded, 1, act)
            at += 1
        y = self.conv_norm_act(y, f"{base}.{at}", expanded, size, act, stride=stride, groups=expanded)
        at += 1
        if squeezes:
            y = self.squeeze(y, f"{base}.{at}", divisible(expanded // 4), b.relu,
                             ("HardSigmoid", {"alpha": 1 / 6}, hard_sigmoid))
            at += 1
        skips = stride == 1 and c == out
        y = self.conv_norm_act(y, f"{base}.{at}", out, 1, None, gain=0.3 if skips else 1.0)
        return b.sum(y, x, scope) if skips else y

    def build(self, name):
        rows, hidden = self.PLANS[name]
        x = self.conv_norm_act("input", "features/features.0", divisible(16 * self.width), 3, self.hard_swish,
                               stride=2)
        for at, row in enumerate(rows, 1):
            x = self.block(x, f"features/features.{at}", row)
        x = self.conv_norm_act(x, f"features/features.{len(rows) + 1}", 6 * self.b.shapes[x][0], 1, self.hard_swish)
        return self.head(x, [divisible(hidden * self.width)], self.hard_swish)


class EfficientNet(Gated):
    # expansion, kernel, stride, out, blocks
    PLAN = ((1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3), (6, 5, 1, 112, 3),
            (6, 5, 2, 192, 4), (6, 3, 1, 320, 1))

    def block(self, x, scope, row, first):
        b = self.b
        expand, size, stride, out, _ = row
        out, stride = divisible(out * self.width), stride if first else 1
        path, c, at, y = scope.split("/")[-1], b.shapes[x][0], 0, x
        base = f"{scope}/block/{path}.block"
        expanded = divisible(c * expand)
        if expand != 1:
            y = self.conv_norm_act(y, f"{base}.{at}", expanded, 1, self.silu)
            at += 1
        y = self.conv_norm_act(y, f"{base}.{at}", expanded, size, self.silu, stride=stride, groups=expanded)
        y = self.squeeze(y, f"{base}.{at + 1}", max(1, c // 4), self.silu, ("Sigmoid", {}, sigmoid))
        skips = stride == 1 and c == out
        y = self.conv_norm_act(y, f"{base}.{at + 2}", out, 1, None, gain=0.3 if skips else 1.0)
        return b.sum(y, x, scope) if skips else y

    def build(self, _):
        x = self.conv_norm_act("input", "features/features.0", divisible(32 * self.width), 3, self.silu, stride=2)
        for at, row in enumerate(self.PLAN, 1):
            for i in range(row[-1]):
                x = self.block(x, f"features/features.{at}/features.{at}.{i}", row, not i)
        x = self.conv_norm_act(x, "features/features.8", 4 * self.b.shapes[x][0], 1, self.silu)
        return self.head(x, [], None)


class DenseNet(Net):
    BLOCKS = (6, 12, 24, 16)

    def norm_relu_conv(self, x, names, channels, size):
        norm, relu, conv = names
        b = self.b
        return b.conv(b.relu(b.batch_norm(x, norm), relu), conv, channels, size)

    def concat(self, parts, scope):
        """All parts' channels; its statistics are theirs, by channel."""
        b = self.b
        out = b.like(b.add("Concat", list(parts), scope, axis=1) if len(parts) > 1 else parts[0], parts[0])
        counts = [b.shapes[p][0] for p in parts]
        b.stats[out] = tuple(sum(b.stats[p][k] * n for p, n in zip(parts, counts)) / sum(counts) for k in (0, 1))
        b.shapes[out] = (sum(counts), *b.shapes[out][1:])
        return out

    def dense_block(self, x, scope, layers, growth):
        parts = [x]
        for i in range(1, layers + 1):
            at = f"{scope}/denselayer{i}"
            y = self.concat(parts, at) if i > 1 else x
            y = self.norm_relu_conv(y, (f"{at}/norm1", f"{at}/relu1", f"{at}/conv1"), 4 * growth, 1)
            parts.append(self.norm_relu_conv(y, (f"{at}/norm2", f"{at}/relu2", f"{at}/conv2"), growth, 3))
        return self.concat(parts, scope)

    def build(self, _):
        b = self.b
        x = b.relu(self.conv_bn("input", "features/conv0", "features/norm0", self.scaled(64), 7, stride=2),
                   "features/relu0")
        x = b.pool("MaxPool", x, "features/pool0", 3, 2, 1)
        for i, layers in enumerate(self.BLOCKS, 1):
            x = self.dense_block(x, f"features/denseblock{i}", layers, self.scaled(32))
            if i < len(self.BLOCKS):
                at = f"features/transition{i}"
                x = self.norm_relu_conv(x, (f"{at}/norm", f"{at}/relu", f"{at}/conv"), b.shapes[x][0] // 2, 1)
                x = b.pool("AveragePool", x, f"{at}/pool", 2, 2)
        x = b.relu(b.batch_norm(x, "features/norm5"), "")
        return b.linear(b.flatten(b.global_pool(x, "")), "classifier", self.classes, 3.0)


GATED = {**dict.fromkeys(MobileNetV3.PLANS, MobileNetV3), "efficientnet_b0": EfficientNet, "densenet121": DenseNet}
