#!/usr/bin/env python3
"""make_images.py FOLDER [COUNT]: pictures of many kinds, the same on every machine: JPEG with all subsamplings, grey,
progressive and turned ones, PNG with and without alpha; sizes from 60 to 1600. Needs Pillow and numpy."""
import pathlib
import sys

import numpy
from PIL import Image


def pixels(rng, width, height):
    """Blobs, edges and a little noise: what a photograph has at several scales."""
    picture = numpy.zeros((height, width, 3))
    for cells in (2, 5, 13, 40):
        small = rng.random((max(2, min(cells, height)), max(2, min(cells, width)), 3))
        image = Image.fromarray((small * 255).astype(numpy.uint8)).resize((width, height), Image.BICUBIC)
        picture += numpy.asarray(image, dtype=float) / cells**0.5
    picture = (picture - picture.min()) / (picture.max() - picture.min()) * 235 + 10
    return (picture + rng.normal(0, 3, picture.shape)).clip(0, 255).astype(numpy.uint8)


def save(folder, number, rng):
    width, height = (int(n) for n in rng.choice([60, 130, 224, 256, 375, 500, 640, 1000, 1600], 2))
    image = Image.fromarray(pixels(rng, width, height))
    kind = number % 10
    name = folder / f"{number:03d}"
    if kind == 0:
        image.save(f"{name}.png", compress_level=1)
    elif kind == 1:
        image.putalpha(200)
        image.save(f"{name}.png", compress_level=1)
    elif kind == 2:
        image.convert("L").save(f"{name}.jpg", quality=90)
    elif kind == 3:
        image.save(f"{name}.jpg", quality=85, progressive=True)
    elif kind == 4:
        exif = Image.Exif()
        exif[0x0112] = 1 + number // 10 % 8
        image.save(f"{name}.jpg", quality=90, exif=exif)
    else:
        image.save(f"{name}.jpg", quality=int(rng.integers(60, 96)), subsampling=kind % 3)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rng = numpy.random.default_rng(1)
    for number in range(int(sys.argv[2]) if len(sys.argv) > 2 else 200):
        save(folder, number, rng)


main()
