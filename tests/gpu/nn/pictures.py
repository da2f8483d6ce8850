"""Seeded pictures in classes, and a last layer that tells the classes apart as a trained network does.

A network of random weights has its classes so close together that rounding alone changes which is the largest. So only the
layers before the last stay random. The last is fitted to what they make of two pictures of each class, by a ridge
regression. It is no trained network: how far the classes are from each other follows from how much the pictures of a class
differ. They differ as much as PyTorch's own bf16 can bear, so that an engine that rounds no worse keeps the classes and one
that rounds much worse does not; check.py prints the margins, and shows that errors ten times as large would be seen.
"""
import numpy
import onnx
import torch

from twin import DEVICE, Twin

CLASSES, SIZE = 1000, 224
GRATINGS = 3
AT_ONCE = 50
# How much the pictures of a class differ: see pictures(). The part of them that must keep its class in PyTorch's bf16, and
# that must be put into its own class in fp32.
LEVELS = [0.4 / 1.19 ** i for i in range(32)]
BEARABLE, RIGHT = 0.999, 0.95
# Of the features' mean variance.
RIDGE = 0.1
# Of the logits: the largest of a picture is about what a trained classifier gives.
LARGEST = 20.0


def pictures(variant, level):
    """One picture of each class, in batches on the device: a colour and three gratings, in every variant with another
    contrast, brightness and noise, to an extent that the level says: the noise's deviation, that of a picture being one."""
    of_class, of_variant = numpy.random.default_rng(1), numpy.random.default_rng((2, variant))
    noise = torch.Generator(DEVICE).manual_seed(variant)
    shape = (CLASSES, GRATINGS)
    colour = of_class.normal(0, 0.7, (CLASSES, 3))
    amplitude = of_class.normal(0, 1, (*shape, 3))
    wave = 2 * numpy.pi / SIZE * numpy.exp(of_class.uniform(numpy.log(2), numpy.log(60), shape))
    angle, phase = of_class.uniform(0, numpy.pi, shape), of_class.uniform(0, 2 * numpy.pi, shape)
    contrast, brightness = 1 + of_variant.uniform(-2, 2, CLASSES) * level, of_variant.uniform(-2, 2, CLASSES) * level
    wave_x, wave_y = wave * numpy.cos(angle), wave * numpy.sin(angle)
    size = numpy.sqrt(0.5 * (amplitude ** 2).sum((1, 2)) / 3 + colour.var(1))
    contrast = contrast / size

    def column(a, first):
        a = torch.tensor(a[first:first + AT_ONCE], dtype=torch.float32, device=DEVICE)
        return a.reshape(*a.shape, *[1] * (4 - a.dim()))

    line = torch.arange(SIZE, dtype=torch.float32, device=DEVICE)
    for first in range(0, CLASSES, AT_ONCE):
        waves = torch.sin(column(wave_x, first) * line + column(wave_y, first) * line[:, None] + column(phase, first))
        x = torch.einsum("ngc,nghw->nchw", column(amplitude, first)[..., 0], waves) + column(colour, first)
        x = x * column(contrast, first) + column(brightness, first)
        yield x + level * torch.randn(x.shape, generator=noise, device=DEVICE)


def discriminants(a, b):
    """Weights and bias from the features of two pictures of each class. The direction of all features' mean is left out:
    the bias would have to take away again, with the rounding of large numbers, what it adds to every class."""
    a, b = a.double().cpu().numpy(), b.double().cpu().numpy()
    middle = (a + b) / 2
    mean = middle.mean(0)
    common = mean / numpy.linalg.norm(mean)
    centred, within = middle - mean, (a - b) / numpy.sqrt(2)
    centred, within = (v - numpy.outer(v @ common, common) for v in (centred, within))
    spread = (centred.T @ centred + within.T @ within) / CLASSES
    spread += numpy.eye(len(spread)) * RIDGE * numpy.trace(spread) / len(spread)
    weight = numpy.linalg.solve(spread, centred.T).T
    weight /= numpy.sqrt((weight * centred).sum(1, keepdims=True))
    weight *= LARGEST / (a @ weight.T - weight @ mean).max(1).mean()
    return [torch.tensor(t, dtype=torch.float32, device=DEVICE) for t in (weight, -weight @ mean)]


class Fit:
    """The last layer of a network for pictures of one level, and whether fp32 and PyTorch's bf16 can bear that level."""

    def __init__(self, twins, value, level):
        def features(dtype, variant):
            made = [twins[dtype](x, value) for x in pictures(variant, level)]
            return torch.cat([f.mean((2, 3)) if f.dim() == 4 else f for f in made])

        def classes(dtype):
            f = features(dtype, 2)
            return torch.nn.functional.linear(*(t.to(dtype) for t in (f, self.weight, self.bias))).float().argmax(1)

        self.level = level
        self.weight, self.bias = discriminants(features(torch.float32, 0), features(torch.float32, 1))
        exact = classes(torch.float32)
        same = (exact == classes(torch.bfloat16)).double().mean().item()
        right = (exact == torch.arange(CLASSES, device=DEVICE)).double().mean().item()
        self.is_bearable = same >= BEARABLE and right >= RIGHT
        print(f"     level {level:.4f}: in fp32 {right:.4f} in their class; in PyTorch's bf16 {same:.4f} keep it", flush=True)


def leave_results_negative(graph, last):
    """SqueezeNet clips its classes' map at 0 before it takes the mean, which is not linear: here it does not."""
    for node in [n for n in graph.node if n.op_type == "Relu" and n.input[0] == last.output[0]]:
        last.output[0] = node.output[0]
        graph.node.remove(node)


def fit_last_layer(source, target):
    """Writes the ONNX file `source` as `target` with another last layer; the level of the pictures that belong to it: the
    largest that is bearable, found by halving."""
    twins = {dtype: Twin(source, dtype) for dtype in (torch.float32, torch.bfloat16)}
    model = onnx.load(str(source))
    last = [n for n in model.graph.node if n.op_type in ("Gemm", "Conv")][-1]
    low, high, best = 0, len(LEVELS) - 1, None
    while low < high or best is None:
        middle = (low + high) // 2
        fit = Fit(twins, last.input[0], LEVELS[middle])
        if fit.is_bearable or middle == len(LEVELS) - 1:
            best, high = fit, middle
        else:
            low = middle + 1
    fitted = dict(zip(last.input[1:], (best.weight, best.bias)))
    for t in model.graph.initializer:
        if t.name in fitted:
            t.raw_data = fitted[t.name].cpu().numpy().reshape(list(t.dims)).tobytes()
    leave_results_negative(model.graph, last)
    onnx.save(model, str(target))
    return best.level
