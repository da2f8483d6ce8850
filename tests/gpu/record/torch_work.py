#!/usr/bin/env python3
"""torch_work.py IN OUT [--device cuda] LOOP:BATCHES...: PyTorch loops that run a round whenever they are told to.
Reads lines from the pipe IN and answers each with one line on the pipe OUT:
  go LOOP               one round; answers the seconds it took
  profile-start         starts torch.profiler
  profile-stop [FILE]   stops it; writes its trace
  quit
A process that waits costs the GPU nothing, so that recorded and unrecorded processes can take turns round by round.
Each round begins with a copy of MARK bytes and ends with one of MARK + 1, by which a trace is cut into rounds."""
import argparse
import sys
import time

import torch
import torchvision
from torch.profiler import ProfilerActivity, profile

MARK = 7919
WARM = 8  # batches before a round that are not part of it
BATCH = 64


class Images(torch.utils.data.Dataset):
    """Synthetic pictures, made in the loader as decoding would be."""

    def __init__(self, batches, size):
        self.count, self.size = batches * BATCH, size

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.rand(3, self.size, self.size, generator=generator), index % 1000


def network(kind, device, half):
    torch.manual_seed(0)
    model = getattr(torchvision.models, kind)().to(device).eval()
    if half and device == "cuda":  # a dry run on a CPU stays in fp32
        model = model.half()
    return model.to(memory_format=torch.channels_last) if half else model


def resident(batch, device):
    kind = torch.half if device == "cuda" else torch.float
    return torch.randn(batch, 3, 224, 224, device=device, dtype=kind).to(memory_format=torch.channels_last)


def article_loop(device, batches, workers, size):
    """The service article's loop: as it is ('before', no workers) or corrected."""
    model = network("resnet50", device, False)
    keep = {"persistent_workers": True, "pin_memory": True} if workers else {}
    loader = torch.utils.data.DataLoader(Images(batches, size), batch_size=BATCH, num_workers=workers, **keep)

    def run():
        for images, _ in loader:
            out = model(images.to(device, non_blocking=bool(workers)))
            if not workers:
                out.argmax(1).cpu()
    return run


def resident_loop(batches, model, x):
    def run(count=batches):
        for _ in range(count):
            model(x)
    return run


def graph_loop(device, batches):
    model, x = network("resnet18", device, True), resident(16, device)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            model(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(x)

    def run(count=batches):
        for _ in range(count):
            graph.replay()
    return run


def make_loop(name, batches, device):
    size = 224 if device == "cuda" else 8
    if name == "before":
        return article_loop(device, batches, 0, size)
    if name == "after":
        return article_loop(device, batches, 8, size)
    if name == "fp16":
        return resident_loop(batches, network("resnet50", device, True), resident(16, device))
    if name == "compiled":
        return resident_loop(batches, torch.compile(network("resnet18", device, True)), resident(16, device))
    if name == "graphs":
        return graph_loop(device, batches)
    raise SystemExit(f"no loop is called {name}")


class Worker:
    def __init__(self, device, loops):
        self.device = device
        self.synchronize = torch.cuda.synchronize if device == "cuda" else lambda: None
        self.mark = torch.zeros(MARK + 1, dtype=torch.uint8)
        self.marked = torch.empty(MARK + 1, dtype=torch.uint8, device=device)
        self.loops, self.profiler = {}, None
        for name, batches in loops:
            self.loops[name] = make_loop(name, batches, device)
            self.round(name)  # the first calls of everything

    def put_mark(self, size):
        self.synchronize()
        self.marked[:size].copy_(self.mark[:size])
        self.synchronize()

    def round(self, name):
        with torch.no_grad():
            if name in ("fp16", "compiled", "graphs"):
                self.loops[name](WARM)  # the GPU's clocks fall while others have their turn
            self.put_mark(MARK)
            begin = time.perf_counter()
            self.loops[name]()
            self.synchronize()
            seconds = time.perf_counter() - begin
        self.put_mark(MARK + 1)
        return seconds

    def answer(self, words):
        if words[0] == "go":
            return f"done {self.round(words[1]):.9f}"
        if words[0] == "profile-start":
            kinds = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if self.device == "cuda" else [])
            self.profiler = profile(activities=kinds)
            self.profiler.start()
            return "started"
        if words[0] == "profile-stop":
            self.profiler.stop()
            if len(words) > 1:
                self.profiler.export_chrome_trace(words[1])
            self.profiler = None
            return "stopped"
        return "what?"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("loops", nargs="+", help="NAME:BATCHES")
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()
    torch.backends.cudnn.benchmark = False
    loops = [(name, int(batches)) for name, batches in (loop.split(":") for loop in args.loops)]
    with open(args.input, encoding="ascii") as tell, open(args.output, "w", encoding="ascii", buffering=1) as say:
        with torch.no_grad():
            worker = Worker(args.device, loops)
        say.write("ready\n")
        for line in tell:
            words = line.split()
            if words == ["quit"]:
                break
            say.write(worker.answer(words) + "\n")


if __name__ == "__main__":
    sys.exit(main())
