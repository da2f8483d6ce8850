#!/usr/bin/env python3
"""torch_child.py NETWORK MODE BATCHES: a torchvision model in fp16, channels last, on the GPU, compiled for each batch size.
Says when it is ready, then answers `time BATCH LAUNCHES` with milliseconds by CUDA events, as gpu_nn does."""
import json
import sys
import time

import torch
import torchvision

network, mode, batches = sys.argv[1], sys.argv[2], [int(b) for b in sys.argv[3].split(",")]
torch.backends.cudnn.benchmark = True
if mode == "freezing":
    torch._inductor.config.freezing = True


def compiled(model):
    torch._dynamo.reset()
    if mode == "eager":
        return model
    name = {"default": "default", "reduce-overhead": "reduce-overhead", "freezing": "reduce-overhead",
            "max-autotune": "max-autotune"}[mode]
    return torch.compile(model, mode=name, dynamic=False)


def answer(**reply):
    print(json.dumps(reply), flush=True)


def main():
    torch.manual_seed(0)
    model = getattr(torchvision.models, network)().cuda().eval().half().to(memory_format=torch.channels_last)
    runs, first = {}, {}
    torch._dynamo.config.cache_size_limit = 64
    function = compiled(model)
    for batch in batches:
        x = torch.randn(batch, 3, 224, 224, device="cuda", dtype=torch.half).to(memory_format=torch.channels_last)
        start = time.time()
        function(x)
        torch.cuda.synchronize()
        first[batch] = time.time() - start
        runs[batch] = x
    answer(ready=True, first_s=first)
    for line in sys.stdin:
        _, batch, launches = line.split()
        x = runs[int(batch)]
        for _ in range(5):
            function(x)
        torch.cuda.synchronize()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(int(launches)):
            function(x)
        end.record()
        torch.cuda.synchronize()
        answer(batch=int(batch), ms=start.elapsed_time(end) / int(launches))


with torch.no_grad():
    main()
