#!/usr/bin/env python3
"""train_loop.py PRECISION MODE: ResNet-50 in training, its input on the GPU. Says when it is ready, then answers `run SECONDS`
with seconds a step. PRECISION: fp32 (TF32 off), fp16 or bf16 (autocast). MODE: eager, default or max-autotune.
--profile: one step between cudaProfilerStart and -Stop instead, for ncu."""
import argparse
import json
import sys
import time

import torch

WARM_UP = 5


def answer(**reply):
    print(json.dumps(reply), flush=True)


def network(args):
    if args.small:
        return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 7, 8), torch.nn.BatchNorm2d(4), torch.nn.ReLU(),
                                   torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(4, 1000))
    import torchvision
    return torchvision.models.resnet50()


def make_step(args):
    torch.manual_seed(0)
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    model = network(args).to(args.device)
    if args.mode != "eager":
        model = torch.compile(model, mode=args.mode) if args.device == "cuda" else torch.compile(model, backend="eager")
    optimizer, loss_of = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), torch.nn.CrossEntropyLoss()
    dtype = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(args.precision)
    scaler = torch.amp.GradScaler(args.device, enabled=args.precision == "fp16" and args.device == "cuda")
    images = torch.randn(args.batch, 3, 224, 224, device=args.device)
    labels = torch.randint(0, 1000, (args.batch,), device=args.device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(args.device, dtype or torch.bfloat16, enabled=dtype is not None):
            loss = loss_of(model(images), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    return step


def synchronize(args):
    if args.device == "cuda":
        torch.cuda.synchronize()


def run(args, step, seconds):
    synchronize(args)
    start, steps = time.perf_counter(), 0
    while time.perf_counter() < start + seconds:
        for _ in range(4):
            step()
        steps += 4
        synchronize(args)
    return {"seconds_per_step": (time.perf_counter() - start) / steps, "steps": steps}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("precision", choices=["fp32", "fp16", "bf16"])
    parser.add_argument("mode", choices=["eager", "default", "max-autotune"])
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    step, start = make_step(args), time.perf_counter()
    step()
    synchronize(args)
    first = time.perf_counter() - start
    for _ in range(WARM_UP):
        step()
    synchronize(args)
    answer(ready=True, first_s=first, torch=torch.__version__)
    if args.profile:
        torch.cuda.profiler.start()
        step()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()
        return
    for line in sys.stdin:
        answer(**run(args, step, float(line)))


if __name__ == "__main__":
    main()
