#!/usr/bin/env python3
"""torch_loops.py VARIANT IMAGES MODEL.onnx: one of PyTorch's ways from JPEG files to labels, in a process of its own. Says when it
is ready, then answers `run SECONDS` and `labels` with one JSON line each.

  A     the loop as first written: one process loads and computes in turn, pageable copies, fp32
  A8    the same with eight loader processes
  B     eight workers that stay, page-locked batches, non-blocking copies, two streams, torch.compile, fp32
  B+    B in fp16, channels last; B+max: compiled with max-autotune
  B++   nvJPEG through torchvision, transforms on the GPU, frozen and compiled into CUDA graphs, fp16

The labels stay on the GPU until a run ends, so that no loop waits for what its author did not wait for."""
import argparse
import collections
import contextlib
import itertools
import json
import pathlib
import queue
import sys
import threading
import time

import torch
from PIL import Image

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
WORKERS, PREFETCH = 8, 2  # PyTorch's default of batches ahead for each worker
# More than 64 pictures at a time: what nvJPEG and the graphs are fastest with.
DECODED_AT_ONCE, DECODED_AHEAD, LAUNCHED_AHEAD = 256, 3, 4


def resnet50(path, small):
    """torchvision's, with the weights of the ONNX file."""
    if small:
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 7, 8), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1),
                                   torch.nn.Flatten(), torch.nn.Linear(4, 10)).eval()
    import onnx
    import torchvision
    net = torchvision.models.resnet50()
    weights = {t.name: torch.tensor(onnx.numpy_helper.to_array(t)) for t in onnx.load(path).graph.initializer}
    missing, unknown = net.load_state_dict(weights, strict=False)
    if unknown or any(not name.endswith("num_batches_tracked") for name in missing):
        raise ValueError(f"{path} has other weights than torchvision's ResNet-50: {missing} {unknown}")
    return net.eval()


def transforms():
    """torchvision's usual ones."""
    from torchvision import transforms as t
    return t.Compose([t.Resize(256), t.CenterCrop(224), t.ToTensor(), t.Normalize(MEAN, STD)])


class Files(torch.utils.data.Dataset):
    """The same files over and over, so that the workers of a run are those of the run before."""

    def __init__(self, paths):
        self.paths, self.transform = paths, transforms()

    def __len__(self):
        return 1 << 30

    def __getitem__(self, i):
        with Image.open(self.paths[i % len(self.paths)]) as image:
            return self.transform(image.convert("RGB")), i % len(self.paths)


class Loop:
    """A loop over a DataLoader; what is not asked for is PyTorch's default."""

    def __init__(self, args, paths, workers=0, pinned=False, streams=0, mode=None, half=False):
        self.args, self.cuda = args, args.device == "cuda"
        self.model, self.half = resnet50(args.model, args.small).to(args.device), half
        if half:
            self.model = self.model.to(torch.float16 if self.cuda else torch.bfloat16).to(memory_format=torch.channels_last)
        if mode:
            self.model = torch.compile(self.model, mode=mode) if self.cuda else torch.compile(self.model, backend="eager")
        self.pinned = pinned and self.cuda
        self.loader = torch.utils.data.DataLoader(Files(paths), batch_size=args.batch, num_workers=workers,
                                                  pin_memory=self.pinned, persistent_workers=workers > 0)
        self.ahead = workers * PREFETCH + 1 if workers else 0
        self.streams = [torch.cuda.Stream() for _ in range(streams)] if self.cuda else []
        self.batches, self.step = None, 0

    def close(self):
        self.batches = None

    def next(self):
        """Launches the next batch: the numbers of its pictures, and their labels where they were computed."""
        self.batches = self.batches or iter(self.loader)
        images, numbers = next(self.batches)
        self.step += 1
        stream = torch.cuda.stream(self.streams[self.step % len(self.streams)]) if self.streams else contextlib.nullcontext()
        with stream:
            images = images.to(self.args.device, non_blocking=self.pinned)
            if self.half:
                images = images.to(next(self.model.parameters()).dtype).to(memory_format=torch.channels_last)
            return numbers, self.model(images).argmax(1)


class Decoded:
    """nvJPEG decodes on one thread, the model runs on another; both on the GPU, each on a stream of its own."""

    def __init__(self, args, paths):
        self.args, self.cuda, self.ahead = args, args.device == "cuda", DECODED_AHEAD
        self.size = DECODED_AT_ONCE if self.cuda else args.batch
        self.files = [torch.frombuffer(bytearray(p.read_bytes()), dtype=torch.uint8) for p in paths]
        dtype = torch.float16 if self.cuda else torch.bfloat16
        self.model = resnet50(args.model, args.small).to(args.device).to(dtype).to(memory_format=torch.channels_last)
        if self.cuda:
            from torch._inductor import config
            config.freezing = True
            self.model = torch.compile(self.model, mode="reduce-overhead", dynamic=False)
        self.mean = torch.tensor(MEAN, device=args.device).view(1, 3, 1, 1) * 255
        self.std = torch.tensor(STD, device=args.device).view(1, 3, 1, 1) * 255
        self.dtype, self.decoded, self.launched = dtype, queue.Queue(DECODED_AHEAD), collections.deque()
        self.thread, self.is_over = threading.Thread(target=self.decode_all, daemon=True), False

    def decode(self, numbers):
        from torchvision.io import ImageReadMode, decode_jpeg
        from torchvision.transforms import functional
        pictures = decode_jpeg([self.files[i] for i in numbers], mode=ImageReadMode.RGB, device=self.args.device)
        images = functional.center_crop(functional.resize(torch.stack(pictures), [256], antialias=True), [224, 224])
        return ((images.float() - self.mean) / self.std).to(self.dtype).contiguous(memory_format=torch.channels_last)

    @torch.no_grad()
    def decode_all(self):
        try:
            numbers = itertools.cycle(range(len(self.files)))
            with torch.cuda.stream(torch.cuda.Stream()) if self.cuda else contextlib.nullcontext():
                while not self.is_over:
                    taken = list(itertools.islice(numbers, self.size))
                    images = self.decode(taken)
                    done = torch.cuda.current_stream().record_event() if self.cuda else None
                    self.decoded.put((taken, images, done))
        except Exception as error:  # the other thread would wait for ever
            self.decoded.put(error)

    def capture(self):
        """Compiles, then captures the graph, while no other thread uses the GPU."""
        images = self.decode([i % len(self.files) for i in range(self.size)])
        for _ in range(3):
            self.model(images)

    def close(self):
        self.is_over = True
        while self.thread.is_alive():
            with contextlib.suppress(queue.Empty):
                self.decoded.get(timeout=0.1)

    def next(self):
        if not self.thread.is_alive():
            self.capture()
            self.thread.start()
        got = self.decoded.get()
        if isinstance(got, Exception):
            raise got
        numbers, images, done = got
        if self.cuda:
            torch.cuda.current_stream().wait_event(done)
            images.record_stream(torch.cuda.current_stream())
        labels = self.model(images).argmax(1)  # a copy: the graph's output is written again by the next launch
        if self.cuda:
            self.launched.append(torch.cuda.current_stream().record_event())
            if len(self.launched) > LAUNCHED_AHEAD:
                self.launched.popleft().synchronize()
        return torch.tensor(numbers), labels


def synchronize(loop):
    if loop.cuda:
        torch.cuda.synchronize()


def one(loop):
    """Seconds from asking for a batch to its labels on the host."""
    start = time.perf_counter()
    loop.next()[1].cpu()
    return time.perf_counter() - start


def answer(**reply):
    print(json.dumps(reply), flush=True)


def run(loop, seconds, known):
    """The clock starts when what had been loaded before is used up, which is said."""
    for _ in range(loop.ahead):
        loop.next()
    synchronize(loop)
    answer(begun=True)
    answers, start = [], time.perf_counter()
    while time.perf_counter() < start + seconds:
        answers.append(loop.next())
    synchronize(loop)
    took = time.perf_counter() - start
    for numbers, labels in answers:
        known.update(zip(numbers.tolist(), labels.tolist()))
    return {"images": sum(len(numbers) for numbers, _ in answers), "seconds": took}


def make(variant, args, paths):
    after = {"workers": WORKERS, "pinned": True, "streams": 2}
    if variant == "B++":
        return Decoded(args, paths)
    return Loop(args, paths, **{"A": {}, "A8": {"workers": WORKERS}, "B": {**after, "mode": "default"},
                                "B+": {**after, "mode": "default", "half": True},
                                "B+max": {**after, "mode": "max-autotune", "half": True}}[variant])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variant", choices=["A", "A8", "B", "B+", "B+max", "B++"])
    parser.add_argument("images", type=pathlib.Path)
    parser.add_argument("model")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--small", action="store_true", help="a few layers instead of ResNet-50: shows only that it runs")
    args = parser.parse_args()
    loop, known = make(args.variant, args, sorted(args.images.glob("*.jpg"))), {}

    with torch.no_grad():
        first, at = one(loop), time.time()
        answer(ready=True, first_s=first, later_s=min(one(loop) for _ in range(3)), at=at, torch=torch.__version__)
        for line in sys.stdin:
            word, *rest = line.split()
            answer(**run(loop, float(rest[0]), known) if word == "run" else {"labels": known})
    loop.close()


if __name__ == "__main__":
    main()
