#!/usr/bin/env python3
"""images.py FOLDER [COUNT]: writes JPEG files of 500 x 375 at quality 90, the same pictures in every run: noise whose spectrum
falls as a photograph's does, shapes with soft and hard edges, a sensor's noise. Prints their sizes as JSON."""
import json
import multiprocessing
import os
import pathlib
import statistics
import sys

import numpy
from PIL import Image

WIDTH, HEIGHT, QUALITY, SEED = 500, 375, 90, 20
# What the benchmark's plan asks for; photographs of this size and quality lie there.
LEAST_BYTES, MOST_BYTES = 35_000, 110_000


def spectrum(random, exponent):
    """Noise of mean 0 and deviation 1, its amplitude falling as 1 / frequency^exponent."""
    fy, fx = numpy.fft.fftfreq(HEIGHT)[:, None], numpy.fft.rfftfreq(WIDTH)[None]
    frequency = numpy.hypot(fy, fx)
    frequency[0, 0] = 1
    noise = numpy.fft.rfft2(random.standard_normal((HEIGHT, WIDTH)))
    field = numpy.fft.irfft2(noise / frequency ** exponent, s=(HEIGHT, WIDTH))
    return (field - field.mean()) / field.std()


def shapes(random, picture):
    """Ellipses and rectangles, some with soft edges; each with its own colour and some of the texture below it."""
    for _ in range(random.integers(4, 14)):
        cx, cy = random.random() * WIDTH, random.random() * HEIGHT
        rx, ry = random.uniform(15, 160), random.uniform(15, 120)
        left, top = max(int(cx - rx), 0), max(int(cy - ry), 0)
        part = picture[top:int(cy + ry) + 1, left:int(cx + rx) + 1]
        y, x = numpy.ogrid[top:top + part.shape[0], left:left + part.shape[1]]
        u, v = numpy.abs(x - cx) / rx, numpy.abs(y - cy) / ry
        distance = numpy.hypot(u, v) if random.random() < 0.6 else numpy.maximum(u, v)
        edge = numpy.clip((1 - distance) * min(rx, ry) / random.choice([0.7, 2, 12]), 0, 1)[..., None]
        colour, keeps = random.uniform(20, 235, 3), random.uniform(0.3, 0.9)
        part += edge * ((1 - keeps) * (colour - part))


def picture(number):
    random = numpy.random.default_rng([SEED, number])
    detail = random.uniform(1.05, 1.35)
    luma, chroma = spectrum(random, detail), [spectrum(random, 1.5) for _ in range(2)]
    contrast, tint = random.uniform(35, 60), random.uniform(6, 18)
    red = tint * chroma[0]
    blue = tint * chroma[1]
    planes = [contrast * luma + red, contrast * luma - 0.5 * (red + blue), contrast * luma + blue]
    result = numpy.stack(planes, axis=2) + random.uniform(90, 150)
    shapes(random, result)
    result += random.normal(0, random.uniform(0.5, 2.5), result.shape)
    return Image.fromarray(numpy.clip(result, 0, 255).astype(numpy.uint8))


def write(job):
    folder, number = job
    path = folder / f"{number:05d}.jpg"
    picture(number).save(path, quality=QUALITY)
    return path.stat().st_size


def make(folder, count):
    """Writes what is missing, on all cores; the sizes in bytes."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    present = sorted(folder.glob("*.jpg"))
    if len(present) == count:
        sizes = [path.stat().st_size for path in present]
    else:
        for path in present:
            path.unlink()
        with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
            sizes = pool.map(write, [(folder, i) for i in range(count)], chunksize=8)
    return {"images": count, "width": WIDTH, "height": HEIGHT, "quality": QUALITY, "mean_bytes": statistics.fmean(sizes),
            "least_bytes": min(sizes), "most_bytes": max(sizes)}


if __name__ == "__main__":
    facts = make(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000)
    print(json.dumps(facts))
    sys.exit(0 if LEAST_BYTES <= facts["mean_bytes"] <= MOST_BYTES else f"mean size is {facts['mean_bytes']:.0f} bytes")
