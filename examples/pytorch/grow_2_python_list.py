"""Host memory grows in the loader's processes: to read an object of a Python list is to count a reference to it, and that
write copies the page which the forked process shared. --corrected: the names lie in one array without such counts."""
import time

import numpy
import torch

import common

args = common.arguments(seconds=60, batch_size=256)
memory = common.HostMemory()


class Files(torch.utils.data.Dataset):
    """Names of two million files, read in random order."""

    def __init__(self):
        names = [f"/data/train/class-{i % 1000:03d}/picture-{i:07d}.jpg" for i in range(2_000_000)]
        self.names = numpy.array(names, dtype="S") if args.corrected else names

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        time.sleep(0.002)  # stands for opening the file: how soon all pages are copied depends on it
        return len(self.names[i])


def epochs(loader):
    while True:
        yield from loader


loader = torch.utils.data.DataLoader(Files(), batch_size=args.batch_size, shuffle=True, num_workers=args.workers,
                                     multiprocessing_context="fork", persistent_workers=True)

for lengths in common.measured(epochs(loader), args, host_memory=memory.all):
    lengths = lengths.to(args.device, non_blocking=True)
    lengths.sum()
    memory.look()
