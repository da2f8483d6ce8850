"""Host memory grows in this process: batches of ever other sizes wait in page-locked memory, many at a time, and PyTorch
keeps each block for a later batch that fits. --corrected: one size, few batches ahead."""
import random
import time

import torch

import common

args = common.arguments(seconds=120, batch_size=32)
memory = common.HostMemory()
LONGEST_S, RATE = 5, 16000
GROWN = 64000  # by this recording they have reached their full length


class Recordings(torch.utils.data.Dataset):
    """Sounds that get longer, as in a curriculum that begins with the easy ones."""

    def __len__(self):
        return 1 << 30

    def __getitem__(self, i):
        most = LONGEST_S * min(i + GROWN // 50, GROWN) / GROWN
        return torch.zeros(int(RATE * most * random.Random(i).uniform(0.5, 1)))


def together(sounds):
    """A batch is as long as its longest sound."""
    longest = LONGEST_S * RATE if args.corrected else max(len(sound) for sound in sounds)
    batch = torch.zeros(len(sounds), longest)
    for row, sound in zip(batch, sounds):
        row[:len(sound)] = sound
    return batch


loader = torch.utils.data.DataLoader(Recordings(), batch_size=args.batch_size, collate_fn=together,
                                     num_workers=args.workers, pin_memory=args.device == "cuda",
                                     prefetch_factor=2 if args.corrected else 16)

for sounds in common.measured(loader, args, host_memory=memory.all):
    sounds = sounds.to(args.device, non_blocking=True)
    sounds.square().mean(dim=1).cpu()
    time.sleep(0.03)  # stands for a model: slower than the loader, so that batches queue up
    memory.look()
