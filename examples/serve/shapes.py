#!/usr/bin/env python3
"""shapes.py train|pictures: makes the files beside it, a classifier of drawn shapes and pictures for it.

train     draws seeded pictures, trains a network of four convolutions on them, tests it on others, writes shapes.onnx and
          shapes.txt. Needs numpy, Pillow and PyTorch (Debian: python3-torch, python3-pil); minutes on one core.
pictures  draws the pictures in pictures/, which the training never saw. Needs numpy and Pillow."""
import math
import pathlib
import sys

import numpy as np
from PIL import Image, ImageDraw

HERE = pathlib.Path(__file__).resolve().parent
SHAPES = ("circle", "cross", "ring", "square", "star", "triangle")
SIDE, RESIZED = 64, 73  # what the network takes, and the short side before it is cropped: 8/7 of it, as the pipeline resizes
FINER = 4               # drawn so much larger, for smooth edges
MEAN, STD = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
TRAINED, TESTED, EPOCHS, BATCH = 6000, 1200, 18, 64
FIRST_PICTURE = 10 ** 6  # seeds: 0 on for the training, this on for the pictures
WIDTHS = (8, 16, 32, 32)


def corners(shape):
    """Of a shape of radius 1 around the middle."""
    def around(radii, start=-math.pi / 2):
        return [(r * math.cos(start + 2 * math.pi * i / len(radii)), r * math.sin(start + 2 * math.pi * i / len(radii)))
                for i, r in enumerate(radii)]
    if shape == "square":
        return around([1] * 4, math.pi / 4)
    if shape == "triangle":
        return around([1] * 3)
    if shape == "star":
        return around([1, 0.42] * 5)
    arm, end = 0.3, 0.95
    return [(-arm, -end), (arm, -end), (arm, -arm), (end, -arm), (end, arm), (arm, arm), (arm, end), (-arm, end), (-arm, arm),
            (-end, arm), (-end, -arm), (-arm, -arm)]


def colours(random):
    """Of the ground and of the shape: far enough apart to be seen."""
    while True:
        ground, shape = random.integers(20, 236, 3), random.integers(20, 236, 3)
        if abs(int((ground - shape) @ np.array([0.299, 0.587, 0.114]))) > 50:
            return ground, tuple(int(c) for c in shape)


def draw(seed, width=96, height=80):
    """(number of the shape, picture)."""
    random = np.random.default_rng(seed)
    number = int(random.integers(len(SHAPES)))
    shape, least = SHAPES[number], min(width, height)
    ground, colour = colours(random)
    slope = np.linspace(-1, 1, height)[:, None, None] * random.uniform(-25, 25, 3) + \
        np.linspace(-1, 1, width)[None, :, None] * random.uniform(-25, 25, 3)
    picture = Image.fromarray(np.clip(ground + slope, 0, 255).astype(np.uint8)).resize((width * FINER, height * FINER))
    radius = least * random.uniform(0.2, 0.36)
    x = width / 2 + random.uniform(-1, 1) * (least * 0.42 - radius)
    y = height / 2 + random.uniform(-1, 1) * (least * 0.42 - radius)
    turn = random.uniform(-0.35, 0.35)
    pen = ImageDraw.Draw(picture)
    if shape in ("circle", "ring"):
        box = [(c + s * radius) * FINER for s in (-1, 1) for c in (x, y)]
        if shape == "circle":
            pen.ellipse(box, fill=colour)
        else:
            pen.ellipse(box, outline=colour, width=int(radius * FINER * random.uniform(0.25, 0.45)))
    else:
        pen.polygon([((x + radius * (px * math.cos(turn) - py * math.sin(turn))) * FINER,
                      (y + radius * (px * math.sin(turn) + py * math.cos(turn))) * FINER) for px, py in corners(shape)],
                    fill=colour)
    pixels = np.asarray(picture.resize((width, height), Image.BOX), dtype=np.float32)
    pixels += random.normal(0, random.uniform(2, 10), pixels.shape)
    return number, Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def network_input(picture):
    """As the pipeline makes it: the short side resized, the middle cropped, normalised; channels first."""
    scale = RESIZED / min(picture.size)
    picture = picture.resize([round(s * scale) for s in picture.size], Image.BILINEAR)
    left, top = ((s - SIDE) // 2 for s in picture.size)
    pixels = np.asarray(picture.crop((left, top, left + SIDE, top + SIDE)), dtype=np.float32) / 255
    return ((pixels - MEAN) / STD).transpose(2, 0, 1)


def drawn(first, count):
    made = [draw(first + i) for i in range(count)]
    return np.stack([network_input(p) for _, p in made]), np.array([n for n, _ in made])


def train():
    import torch
    from torch import nn
    torch.manual_seed(1)
    torch.set_num_threads(1)
    layers, last = [], 3
    for width in WIDTHS:
        layers += [nn.Conv2d(last, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
        last = width
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(last, len(SHAPES)))
    images, numbers = (torch.from_numpy(a) for a in drawn(0, TRAINED))
    steps = EPOCHS * (TRAINED // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2, weight_decay=1e-3)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=steps)
    for epoch in range(EPOCHS):
        total = 0.0
        for chosen in torch.randperm(TRAINED)[:TRAINED // BATCH * BATCH].view(-1, BATCH):
            shift = torch.randint(-3, 4, (2,)).tolist()
            loss = nn.functional.cross_entropy(model(torch.roll(images[chosen], shift, (2, 3))), numbers[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rate.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total / (TRAINED // BATCH):.4f}", flush=True)
    model.eval()
    images, numbers = (torch.from_numpy(a) for a in drawn(TRAINED, TESTED))
    with torch.no_grad():
        right = (model(images).argmax(1) == numbers).float().mean().item()
    print(f"{100 * right:.2f} % of {TESTED} other pictures right")
    write(model)


def write(model):
    """The network as PyTorch has it, batch norms and all, in ONNX."""
    sys.path.insert(0, str(HERE.parents[1] / "tests/nn"))
    import onnx_writer as w
    state = {k: v.numpy() for k, v in model.state_dict().items() if v.dim()}
    weights = [w.floats(k, v.shape, [float(x) for x in v.ravel()]) for k, v in state.items()]
    nodes, last = [], "input"
    for i in range(len(WIDTHS)):
        conv, norm = str(3 * i), str(3 * i + 1)
        nodes += [w.node("Conv", [last, conv + ".weight"], [f"c{i}"], f"/{conv}/Conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                         strides=[2, 2]),
                  w.node("BatchNormalization", [f"c{i}", *(f"{norm}.{k}" for k in ("weight", "bias", "running_mean", "running_var"))],
                         [f"n{i}"], f"/{norm}/BatchNormalization", epsilon=1e-5),
                  w.node("Relu", [f"n{i}"], [f"r{i}"], f"/{3 * i + 2}/Relu")]
        last = f"r{i}"
    head = str(3 * len(WIDTHS) + 2)
    nodes += [w.node("GlobalAveragePool", [last], ["p"], "/pool"), w.node("Flatten", ["p"], ["f"], "/flatten", axis=1),
              w.node("Gemm", ["f", head + ".weight", head + ".bias"], ["scores"], "/head", transB=1)]
    (HERE / "shapes.onnx").write_bytes(b"".join(w.model(nodes, weights, [w.value("input", ("n", 3, SIDE, SIDE))],
                                                        [w.value("scores", ("n", len(SHAPES)))], 17, 8)))
    (HERE / "shapes.txt").write_text("".join(s + "\n" for s in SHAPES))


def pictures():
    """Two of each shape, the first ones that their seeds give; sizes and kinds of files as they come."""
    folder, seed, made = HERE / "pictures", FIRST_PICTURE, dict.fromkeys(SHAPES, 0)
    folder.mkdir(exist_ok=True)
    sizes = ((160, 120), (96, 128), (110, 100))
    while min(made.values()) < 2:
        number, picture = draw(seed, *sizes[seed % len(sizes)])
        shape, seed = SHAPES[number], seed + 1
        if made[shape] == 2:
            continue
        made[shape] += 1
        if shape == "star" and made[shape] == 1:
            picture.quantize(8).save(folder / f"{shape}-{made[shape]}.png", optimize=True)
        else:
            picture.save(folder / f"{shape}-{made[shape]}.jpg", quality=70)


if __name__ == "__main__":
    {"train": train, "pictures": pictures}[sys.argv[1]]()
