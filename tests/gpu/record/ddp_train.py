#!/usr/bin/env python3
"""ddp_train.py STEPS SLOW_RANK SLOW_MS: ResNet-18 trained by all ranks of torchrun on synthetic input; one of them (-1:
none) sleeps so many ms in each step."""
import os
import sys
import time

import torch
import torch.distributed as dist
import torchvision


def main():
    steps, slow_rank, slow_ms = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    rank = int(os.environ["RANK"])
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    torch.manual_seed(rank)
    model = torch.nn.parallel.DistributedDataParallel(torchvision.models.resnet18().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = torch.nn.CrossEntropyLoss()
    images, labels = torch.randn(64, 3, 224, 224, device="cuda"), torch.randint(0, 1000, (64,), device="cuda")
    for step in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model(images), labels)
        if rank == slow_rank:
            torch.cuda.synchronize()
            time.sleep(slow_ms / 1e3)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    print(f"rank {rank} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
