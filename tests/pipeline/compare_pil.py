#!/usr/bin/env python3
"""compare_pil.py PREPROCESS_IMAGE WRITE_JPEG [PHOTO...]: our decoding and preprocessing against Pillow's.

Pillow decodes with the same libjpeg-turbo and resizes in integers; its result, through torchvision's sums for sizes and
crops, is the reference. Prints what differs and exits 1, or 77 where Pillow or numpy is missing.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from PIL import Image, ImageOps
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

MEAN = np.array([0.485, 0.456, 0.406], np.float32)
STD = np.array([0.229, 0.224, 0.225], np.float32)


def reference(path, resize, crop):
    """torchvision's Resize(resize) and CenterCrop(crop) on what Pillow decodes."""
    image = ImageOps.exif_transpose(Image.open(path)).convert("RGB")
    w, h = image.size
    size = (resize, int(resize * h / w)) if w <= h else (int(resize * w / h), resize)
    pixels = np.asarray(image.resize(size, Image.BILINEAR) if size != image.size else image)
    pads = [(max(crop - n, 0) // 2, (max(crop - n, 0) + 1) // 2) for n in pixels.shape[:2]]
    pixels = np.pad(pixels, [*pads, (0, 0)])
    top, left = (int(round((n - crop) / 2.0)) for n in pixels.shape[:2])
    return pixels[top:top + crop, left:left + crop]


def run(tool, paths, short, resize, crop):
    """Yields for each path the tool's line and its levels, 0 to 255."""
    command = [tool, str(short), str(resize), str(crop), "1", *map(str, paths)]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    at, floats = 0, crop * crop * 3
    for path in paths:
        end = out.index(b"\n", at)
        line, at, levels = out[at:end].decode(), end + 1, None
        if line.startswith("ok"):
            levels = np.frombuffer(out, np.float32, floats, at).reshape(crop, crop, 3) * STD + MEAN
            at += 4 * floats
        yield path, line, None if levels is None else levels * 255


def draw_smooth(width, height):
    """Brightness in waves of 12 pixels and more, colours in longer ones, and a camera's noise: as photographs are."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    light = 60 * np.sin(x / 2 + y / 40) * np.cos(y / 3)
    waves = [127 + light + 40 * np.sin(x / (15 + c) + c) for c in range(3)]
    noise = np.random.default_rng(width).normal(0, 4, (height, width, 3))
    return np.clip(np.stack(waves, 2) + noise, 0, 255).astype(np.uint8)


def draw(width, height):
    """Gradients, saturated edges and a texture: what upsampling, clamping and filters get wrong first."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    red = 127 + 127 * np.sin(x / 5) * np.cos(y / 9)
    green = 255 * (((x // 13) + (y // 17)) % 2)
    blue = (x * 7 + y * 3) % 256
    noise = np.random.default_rng(width * 10007 + height).normal(0, 12, (height, width, 3))
    return np.clip(np.stack([red, green, blue], 2) + noise, 0, 255).astype(np.uint8)


class Folder:
    def __init__(self, folder, writer):
        self.folder, self.writer, self.paths = pathlib.Path(folder), writer, []

    def next(self, name):
        self.paths.append(self.folder / name)
        return self.paths[-1]

    def jpeg(self, pixels, sampling="2x2", space="ycc", mode="baseline"):
        h, w = pixels.shape[:2]
        command = [self.writer, str(w), str(h), sampling, space, mode]
        data = subprocess.run(command, input=pixels.tobytes(), stdout=subprocess.PIPE, check=True).stdout
        path = self.next(f"{len(self.paths)}-{w}x{h}-{sampling}-{space}-{mode}.jpg")
        path.write_bytes(data)
        return path

    def take(self):
        paths, self.paths = self.paths, []
        return paths


def compare(tool, paths, geometry, most=1, mean=0.05):
    """Pictures whose levels differ by more, or that were refused. Ties of rounding differ: floats against integers."""
    bad = 0
    for path, line, levels in run(tool, paths, *geometry):
        if levels is None:
            print(f"{path.name}: {line}")
            bad += 1
            continue
        off = np.abs(np.rint(levels) - reference(path, *geometry[1:]))
        if off.max() > most or off.mean((0, 1)).max() > mean or np.abs(levels - np.rint(levels)).max() > 0.01:
            print(f"{path.name} at {geometry}: off by up to {off.max():.0f}, mean {off.mean((0, 1)).max():.3f}")
            bad += 1
    return bad


def make_samplings(folder):
    for size in ((1, 1), (2, 2), (3, 5), (5, 3), (17, 33), (99, 70), (8, 200), (161, 121)):
        pixels = draw(*size)
        for sampling in ("1x1", "2x1", "1x2", "2x2", "4x1", "1x4", "4x2"):
            folder.jpeg(pixels, sampling)
        folder.jpeg(pixels, "1x1", "grey")
        folder.jpeg(pixels, "2x2", "ycc", "progressive")
    for space, sampling, mode in (("grey", "2x2", "progressive"), ("rgb", "1x1", "baseline"),
                                  ("ycc", "2x1", "restart"), ("rgb", "1x1", "progressive")):
        folder.jpeg(draw(161, 121), sampling, space, mode)


def make_orientations(folder):
    pixels = Image.fromarray(draw(131, 90))
    exif = Image.Exif()
    for orientation in range(1, 9):
        exif[0x0112] = orientation
        pixels.save(folder.next(f"orientation-{orientation}.jpg"), exif=exif, quality=90)
    exif[0x0112] = 6
    pixels.save(folder.next("orientation-6.png"), exif=exif)


def make_pngs(folder):
    colour = Image.fromarray(draw(121, 80))
    alpha = Image.fromarray(draw(121, 80)[:, :, 0])
    transparent = colour.copy()
    transparent.putalpha(alpha)
    for name, image, options in (
            ("rgb", colour, {}), ("rgba", transparent, {}), ("grey", colour.convert("L"), {}),
            ("la", transparent.convert("LA"), {}), ("palette", colour.quantize(200), {}),
            ("palette16", colour.quantize(16), {"bits": 4}), ("bilevel", colour.convert("1"), {}),
            ("trns", colour, {"transparency": (10, 20, 30)}),
            ("palette-trns", colour.quantize(64), {"transparency": 3}), ("one", colour.crop((0, 0, 1, 1)), {})):
        image.save(folder.next(f"{name}.png"), **options)


def check_refusals(tool, folder):
    """Pictures that must be refused, each with words that say why."""
    bad = 0
    whole = folder.jpeg(draw(99, 70)).read_bytes()
    cases = [(folder.jpeg(draw(9, 9), "1x1", "cmyk"), "error 4", "CMYK")]
    for size in (2, 20, 300, len(whole) // 2, len(whole) - 40, len(whole) - 2):
        path = folder.next(f"cut-{size}.jpg")
        path.write_bytes(whole[:size])
        cases.append((path, "error 3", ""))
    twelve_bits = bytearray(whole)
    frame = whole.index(b"\xff\xc0")
    twelve_bits[frame + 4] = 12
    path = folder.next("12-bits.jpg")
    path.write_bytes(twelve_bits)
    cases.append((path, "error 4", "precision"))
    buffer = folder.folder / "whole.png"
    Image.fromarray(draw(60, 40)).save(buffer)
    png = bytearray(buffer.read_bytes())
    for name, data in (("cut.png", png[:-300]), ("no-end.png", png[:-12])):
        path = folder.next(name)
        path.write_bytes(data)
        cases.append((path, "error 3", "PNG"))
    png[len(png) // 2] ^= 1
    path = folder.next("bad-crc.png")
    path.write_bytes(png)
    cases.append((path, "error 3", "PNG"))
    for (path, code, words), (_, line, _) in zip(cases, run(tool, [case[0] for case in cases], 0, 64, 56)):
        if not line.startswith(code) or words not in line:
            print(f"{path.name}: {line!r}, not {code} with {words!r}")
            bad += 1
    folder.take()
    return bad


def main():
    tool, writer, photos = sys.argv[1], sys.argv[2], [pathlib.Path(p) for p in sys.argv[3:]]
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Folder(name, writer)
        make_samplings(folder)
        bad += compare(tool, folder.take(), (0, 32, 28))
        make_pngs(folder)
        make_orientations(folder)
        paths = folder.take()
        # Orientations 5 to 8: Pillow turns the picture first, so its two passes round in the other order.
        bad += compare(tool, paths, (0, 64, 56), mean=0.3)
        bad += compare(tool, paths[:3], (0, 50, 57))  # larger than the picture: black around it
        folder.jpeg(draw(500, 375))
        folder.jpeg(draw(640, 4))
        bad += compare(tool, folder.take() + photos, (0, 256, 224))
        # Reduced to 4 times the resized short side: the contract of 3 levels and 1 on average.
        for sampling in ("1x1", "2x2", "2x1"):
            folder.jpeg(draw_smooth(403, 322), sampling)
        Image.fromarray(draw_smooth(403, 322)).save(folder.next("reduced.png"))
        bad += compare(tool, folder.take(), (160, 40, 35), most=3, mean=1)
        bad += check_refusals(tool, folder)
    sys.exit(bool(bad))


main()
