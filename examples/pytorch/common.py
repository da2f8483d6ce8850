"""What the examples share: options, a data set that needs no files, the model, the clock. None of it is part of a lesson."""
import argparse
import contextlib
import glob
import json
import os
import sys
import time

import torch


def arguments(**defaults):
    """The options of every example; `defaults` are those of one."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--batches", type=int, help="measured batches, after the warm-up; 60, or no limit with --seconds")
    parser.add_argument("--seconds", type=float, default=0, help="stop after so long, warm-up included")
    parser.add_argument("--warmup", type=int, default=4, help="batches before the clock starts")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--workers", type=int, default=8, help="loader processes, where the example uses any")
    parser.add_argument("--image", type=int, default=224, help="height and width in pixels")
    parser.add_argument("--mode", default="default", help="of torch.compile, where the example compiles")
    parser.add_argument("--corrected", action="store_true", help="the examples of growing memory: without the growth")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--small-net", action="store_true", help="a few convolutions instead of torchvision's ResNet-50")
    parser.set_defaults(**defaults)
    args = parser.parse_args()
    if args.device == "cuda" and not torch.cuda.is_available():
        parser.error("no CUDA device here; --device cpu only shows that the example runs")
    if args.batches is None:
        args.batches = 1 << 30 if args.seconds else 60
    torch.manual_seed(0)
    args.half = torch.float16 if args.device == "cuda" else torch.bfloat16
    return args


class Images(torch.utils.data.Dataset):
    """Random pictures, the same ones in each run; making one costs about what decoding a small JPEG does."""

    def __init__(self, args):
        self.count = (args.warmup + args.batches) * args.batch_size
        self.shape = (3, args.image, args.image)

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return torch.rand(self.shape, generator=torch.Generator().manual_seed(i)), i % 1000


def resnet50(args):
    if args.small_net:
        net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=2), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
                                  torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(8, 1000))
        return net.to(args.device)
    try:
        from torchvision.models import resnet50 as model
    except ImportError as error:
        sys.exit(f"{error}: install torchvision, or take --small-net")
    return model().to(args.device)


def measured(batches, args, **more):
    """The batches; prints one line of JSON after the last one, with what `more` gives then. Waits for the GPU twice: when
    the clock starts and when it stops."""
    count, begun, start = 0, time.perf_counter(), None
    for batch in batches:
        if count == args.warmup:
            synchronize(args)
            start = time.perf_counter()
        yield batch
        count += 1
        if count == args.warmup + args.batches or (args.seconds and time.perf_counter() - begun > args.seconds):
            break
    synchronize(args)
    end, done = time.perf_counter(), max(count - args.warmup, 0)
    print(json.dumps({"program": os.path.splitext(os.path.basename(sys.argv[0]))[0], "device": args.device,
                      "torch": torch.__version__, "batch_size": args.batch_size, "batches": done,
                      "seconds_per_batch": round((end - start) / done, 6) if done else None,
                      **{key: value() for key, value in more.items()}}))


def synchronize(args):
    if args.device == "cuda":
        torch.cuda.synchronize()


class NoStream:
    """Stands for a stream on the CPU, where everything happens in order."""

    def record_event(self):
        return None

    def wait_event(self, event):
        pass


def streams(args, count):
    return [torch.cuda.Stream() if args.device == "cuda" else NoStream() for _ in range(count)]


def current_stream(args):
    return torch.cuda.current_stream() if args.device == "cuda" else NoStream()


def on(stream):
    return torch.cuda.stream(stream) if not isinstance(stream, NoStream) else contextlib.nullcontext()


class HostMemory:
    """Megabytes over time: resident in this process, private to its children, and page-locked, if PyTorch counts that."""

    def __init__(self, every_s=1.0):
        self.every_s = every_s
        self.begun = self.next = time.perf_counter()
        self.samples = []

    def look(self):
        if time.perf_counter() < self.next:
            return
        self.next = time.perf_counter() + self.every_s
        children = sum(_of(pid, "smaps_rollup", ("Private_Clean", "Private_Dirty")) for pid in _children())
        self.samples.append({"s": round(time.perf_counter() - self.begun, 1),
                             "own_mb": round(_of("self", "status", ("VmRSS",)) / 1024),
                             "children_private_mb": round(children / 1024), "pinned_mb": _pinned_mb()})

    def all(self):
        return self.samples


def _pinned_mb():
    """From PyTorch 2.6 on; None: not known."""
    if not hasattr(torch.cuda, "host_memory_stats") or not torch.cuda.is_initialized():
        return None
    allocated = torch.cuda.host_memory_stats().get("allocated_bytes.current")
    return None if allocated is None else round(allocated / 2**20)


def _children():
    pids = []
    for name in glob.glob("/proc/self/task/*/children"):
        with contextlib.suppress(OSError), open(name, encoding="ascii") as file:
            pids += file.read().split()
    return pids


def _of(pid, name, keys):
    """KiB; 0 where the process has just gone."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/{name}", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.partition(":")[0] in keys)
    return 0
