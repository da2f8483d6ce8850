"""Writes ONNX files with nothing but the standard library: protobuf messages, seeded weights, and a graph builder that
knows how large the values of each tensor are, so that a network of any depth stays in a sane range."""
import math
import random
import statistics
import struct

FLOAT, INT64, BOOL = 1, 7, 9


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n)


def real(field, x):
    return varint(field << 3 | 5) + struct.pack("<f", x)


def chunk(field, data):
    if isinstance(data, str):
        data = data.encode()
    return varint(field << 3 | 2) + varint(len(data)) + data


def tensor(name, dims, kind, raw, place=None):
    """A TensorProto; place: (file, offset) of external data instead of raw."""
    out = b"".join(number(1, d) for d in dims) + number(2, kind) + chunk(8, name)
    if place is None:
        return out + chunk(9, raw)
    for key, value in zip(("location", "offset", "length"), (*place, len(raw))):
        out += chunk(13, chunk(1, key) + chunk(2, str(value)))
    return out + number(14, 1)


def floats(name, dims, values):
    return tensor(name, dims, FLOAT, struct.pack(f"<{len(values)}f", *values))


def ints(name, dims, values):
    return tensor(name, dims, INT64, struct.pack(f"<{len(values)}q", *values))


def attribute(name, value):
    """An AttributeProto of the value's type; bytes: a TensorProto."""
    out = chunk(1, name)
    if isinstance(value, float):
        return out + real(2, value) + number(20, 1)
    if isinstance(value, int):
        return out + number(3, value) + number(20, 2)
    if isinstance(value, str):
        return out + chunk(4, value) + number(20, 3)
    if isinstance(value, bytes):
        return out + chunk(5, value) + number(20, 4)
    if value and isinstance(value[0], float):
        return out + b"".join(real(7, x) for x in value) + number(20, 6)
    return out + b"".join(number(8, x) for x in value) + number(20, 7)


def node(op, inputs, outputs, name="", **attrs):
    return (b"".join(chunk(1, i) for i in inputs) + b"".join(chunk(2, o) for o in outputs) + chunk(3, name) +
            chunk(4, op) + b"".join(chunk(5, attribute(k, v)) for k, v in attrs.items()))


def value(name, dims, kind=FLOAT):
    """A ValueInfoProto; a dimension that is text is a symbol."""
    shape = b"".join(chunk(1, chunk(2, d) if isinstance(d, str) else number(1, d)) for d in dims)
    return chunk(1, name) + chunk(2, chunk(1, number(1, kind) + chunk(2, shape)))


def model(nodes, initialisers, inputs, outputs, opset, ir_version=8):
    """The parts of a ModelProto, to be written one after the other."""
    parts = [chunk(1, n) for n in nodes] + [chunk(2, "main_graph")]
    for t in initialisers:
        parts += [varint(5 << 3 | 2) + varint(len(t)), t]
    parts += [chunk(11, i) for i in inputs] + [chunk(12, o) for o in outputs]
    head = number(1, ir_version) + chunk(2, "fullwarp make_model.py")
    return [head, varint(7 << 3 | 2) + varint(sum(map(len, parts))), *parts,
            chunk(8, chunk(1, "") + number(2, opset))]


# 256 steps of a standard normal distribution, symmetric: step 255 - i is minus step i.
NORMAL = [statistics.NormalDist().inv_cdf((i + 0.5) / 256) for i in range(256)]


def normal_bytes(rng, count, std, paired):
    """count normally distributed floats as bytes. Of every two neighbours in the first `paired` share the second is
    about minus the first: filters that sum to zero do not pass on what all inputs have in common."""
    steps = bytearray(rng.randbytes(count))
    pairs = int(count * paired) // 2
    negative = bytes(255 - i for i in range(256))
    steps[1:2 * pairs:2] = steps[0:2 * pairs:2].translate(negative)
    words = [struct.pack("<f", z * std) for z in NORMAL]
    out = bytearray(4 * count)
    low = rng.randbytes(2 * count)
    out[0::4], out[1::4] = low[:count], low[count:]
    out[2::4] = steps.translate(bytes(w[2] for w in words))
    out[3::4] = steps.translate(bytes(w[3] for w in words))
    return bytes(out)


def moments(f, mean, power):
    """Mean and mean square of f(x) for a normal x with the given ones."""
    dev = math.sqrt(max(power - mean * mean, 1e-12))
    ys = [f(mean + dev * z) for z in NORMAL]
    return sum(ys) / 256, sum(y * y for y in ys) / 256


def module_name(scope):
    """What PyTorch calls the module of a scope: /features/features.3/fc1 is features.3.fc1."""
    name = last = ""
    for part in scope.split("/"):
        if name and part.startswith(name + "."):
            name = part
        elif last and part.startswith(last + "."):
            name = name[:-len(last)] + part
        else:
            name = f"{name}.{part}" if name else part
        last = part
    return name


class Builder:
    """A graph as it grows. Names are as PyTorch's exporter gives them: /module/module.sub/Op_output_0."""

    def __init__(self, opset=17, seed=0, image=224, batch=1, paired=1.0):
        self.opset, self.image, self.batch = opset, image, batch
        self.paired = paired
        self.rng = random.Random(seed)
        self.nodes, self.weights, self.blob = [], [], []
        self.names, self.shapes, self.stats = {}, {}, {}
        self.place, self.blob_name = 0, None
        self.weights_as_inputs, self.weight_inputs = False, []
        self.shapes["input"] = (3, image, image)
        self.stats["input"] = (0.0, 1.0)

    def add(self, op, inputs, scope, outputs=1, **attrs):
        """Adds a node; its output (or list of outputs) by name."""
        path = f"/{scope}/{op}" if scope else f"/{op}"
        seen = self.names.get(path, 0)
        self.names[path] = seen + 1
        path += f"_{seen}" if seen else ""
        out = [f"{path}_output_{i}" for i in range(outputs)]
        self.nodes.append((op, inputs, out, path, attrs))
        return out[0] if outputs == 1 else out

    def keep(self, name, dims, raw, kind=FLOAT):
        """Adds an initialiser."""
        place = None
        if self.blob_name and len(raw) >= 1024:
            gap = -self.place % 4096
            self.blob += [bytes(gap), raw]
            place = (self.blob_name, self.place + gap)
            self.place += gap + len(raw)
        self.weights.append(tensor(name, dims, kind, raw, place))
        self.weight_inputs.append(value(name, dims, kind))
        return name

    def keep_floats(self, name, dims, values):
        return self.keep(name, dims, struct.pack(f"<{len(values)}f", *values))

    def constant(self, scope, raw, dims=(), kind=INT64):
        return self.add("Constant", [], scope, value=tensor("", dims, kind, raw))

    def int_constant(self, scope, *values, scalar=False):
        return self.constant(scope, struct.pack(f"<{len(values)}q", *values), () if scalar else (len(values),))

    def float_constant(self, scope, x):
        return self.constant(scope, struct.pack("<f", x), (), FLOAT)

    def noise(self, count, scale):
        return [self.rng.gauss(0, scale) for _ in range(count)]

    def weight(self, name, dims, fan_in, source, gain, paired):
        """Weights that give an output of variance gain^2."""
        mean, power = self.stats[source]
        std = gain / math.sqrt(fan_in * max(power - paired * mean * mean, 1e-9))
        return self.keep(name, dims, normal_bytes(self.rng, math.prod(dims), std, paired))

    def like(self, out, source, stats=None):
        self.shapes[out] = self.shapes[source]
        self.stats[out] = stats or self.stats[source]
        return out

    def conv(self, x, scope, channels, size, stride=1, pad=None, groups=1, bias=False, gain=1.0):
        c, h, w = self.shapes[x]
        pad = (size - 1) // 2 if pad is None else pad
        name = module_name(scope)
        fan_in = c // groups * size * size
        inputs = [x, self.weight(f"{name}.weight", (channels, c // groups, size, size), fan_in, x, gain,
                                 self.paired)]
        if bias:
            inputs.append(self.keep_floats(f"{name}.bias", (channels,), self.noise(channels, 0.1 * gain)))
        out = self.add("Conv", inputs, scope, dilations=[1, 1], group=groups, kernel_shape=[size, size],
                       pads=[pad] * 4, strides=[stride] * 2)
        self.shapes[out] = (channels, (h + 2 * pad - size) // stride + 1, (w + 2 * pad - size) // stride + 1)
        self.stats[out] = (0.0, gain * gain)
        return out

    def batch_norm(self, x, scope, gain=1.0, epsilon=1e-5):
        c = self.shapes[x][0]
        mean, power = self.stats[x]
        var = power - mean * mean
        name = module_name(scope)
        scales = [gain * self.rng.uniform(0.7, 1.3) for _ in range(c)]
        means = [mean + z for z in self.noise(c, 0.3 * math.sqrt(var))]
        variances = [var * self.rng.uniform(0.7, 1.4) for _ in range(c)]
        # The shift gives back the mean but for a little: channels that are far from zero on every input would drown
        # what tells inputs apart.
        shifts = [s * (m - mean) / math.sqrt(v) + z
                  for s, m, v, z in zip(scales, means, variances, self.noise(c, 0.05 * gain))]
        rows = {"weight": scales, "bias": shifts, "running_mean": means, "running_var": variances}
        attrs = {"epsilon": epsilon, "momentum": 0.9}
        if self.opset >= 14:
            attrs["training_mode"] = 0
        out = self.add("BatchNormalization", [x] + [self.keep_floats(f"{name}.{k}", (c,), v)
                                                    for k, v in rows.items()], scope, **attrs)
        return self.like(out, x, (0.0, 1.07 * gain * gain))

    def relu(self, x, scope):
        return self.like(self.add("Relu", [x], scope), x, moments(lambda v: max(v, 0), *self.stats[x]))

    def relu6(self, x, scope):
        stats = moments(lambda v: min(max(v, 0), 6), *self.stats[x])
        if self.opset < 11:
            return self.like(self.add("Clip", [x], scope, min=0.0, max=6.0), x, stats)
        low, high = self.float_constant(scope, 0.0), self.float_constant(scope, 6.0)
        return self.like(self.add("Clip", [x, low, high], scope), x, stats)

    def sum(self, a, b, scope):
        (ma, pa), (mb, pb) = self.stats[a], self.stats[b]
        return self.like(self.add("Add", [a, b], scope), a, (ma + mb, pa + pb + 2 * ma * mb))

    def product(self, a, b, scope):
        """a times b, b being what a is gated with."""
        (ma, pa), (mb, pb) = self.stats[a], self.stats[b]
        return self.like(self.add("Mul", [a, b], scope), a, (ma * mb, pa * pb))

    def pool(self, op, x, scope, size, stride, pad=0, ceil=False):
        c, h, w = self.shapes[x]
        attrs = {"kernel_shape": [size] * 2, "pads": [pad] * 4, "strides": [stride] * 2}
        if self.opset >= 10:
            attrs["ceil_mode"] = int(ceil)
        if op == "AveragePool":
            attrs["count_include_pad"] = 1
        elif self.opset >= 10:
            attrs["dilations"] = [1, 1]
        out = self.add(op, [x], scope, **attrs)
        more = stride - 1 if attrs.get("ceil_mode") else 0
        self.shapes[out] = (c, (h + 2 * pad - size + more) // stride + 1, (w + 2 * pad - size + more) // stride + 1)
        mean, power = self.stats[x]
        if op == "MaxPool":
            self.stats[out] = (mean + math.sqrt(power), power * 3)
        else:
            self.stats[out] = (mean, mean * mean + (power - mean * mean) / (size * size))
        return out

    def global_pool(self, x, scope):
        c, h, w = self.shapes[x]
        mean, power = self.stats[x]
        out = self.add("GlobalAveragePool", [x], scope)
        self.shapes[out] = (c, 1, 1)
        # Neighbours in a deep feature map are alike: not h * w independent values.
        self.stats[out] = (mean, mean * mean + (power - mean * mean) * 2 / (h * w + 1))
        return out

    def flatten(self, x, scope=""):
        out = self.add("Flatten", [x], scope, axis=1)
        self.shapes[out], self.stats[out] = (math.prod(self.shapes[x]),), self.stats[x]
        return out

    def linear(self, x, scope, features, gain=1.0):
        c, = self.shapes[x]
        name = module_name(scope)
        inputs = [x, self.weight(f"{name}.weight", (features, c), c, x, gain, 1.0),
                  self.keep_floats(f"{name}.bias", (features,), self.noise(features, 0.1 * gain))]
        out = self.add("Gemm", inputs, scope, alpha=1.0, beta=1.0, transB=1)
        self.shapes[out], self.stats[out] = (features,), (0.0, gain * gain)
        return out

    def save(self, path, output):
        """Writes the graph whose result is `output` (and its weights' file beside it)."""
        nodes = [node(op, inputs, ["output" if o == output else o for o in outputs], path, **attrs)
                 for op, inputs, outputs, path, attrs in self.nodes]
        inputs = [value("input", (self.batch, *self.shapes["input"]))]
        parts = model(nodes, self.weights, inputs + self.weight_inputs * self.weights_as_inputs,
                      [value("output", (self.batch, *self.shapes[output]))], self.opset,
                      3 if self.weights_as_inputs else 8)
        with open(path, "wb") as file:
            file.writelines(parts)
        if self.blob_name:
            with open(path.parent / self.blob_name, "wb") as file:
                file.writelines(self.blob)
