"""Classifies pictures: a batch is copied on a stream of its own while the one before it is computed; on the computing
stream it would queue behind the kernels."""
import torch

import common

args = common.arguments()
model = common.resnet50(args).eval()
loader = torch.utils.data.DataLoader(common.Images(args), batch_size=args.batch_size, num_workers=args.workers,
                                     pin_memory=args.device == "cuda")
copies, = common.streams(args, 1)


def copied_ahead(batches):
    before = None
    for images, labels in batches:
        with common.on(copies):
            images = images.to(args.device, non_blocking=True)
        if before:
            yield before
        before = images, copies.record_event()
    if before:
        yield before


with torch.no_grad():
    for images, copied in common.measured(copied_ahead(loader), args):
        common.current_stream(args).wait_event(copied)
        if images.is_cuda:  # its memory is not given to a later copy before the kernels have read it
            images.record_stream(torch.cuda.current_stream())
        model(images)
