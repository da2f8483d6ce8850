"""Classifies pictures: independent batches take turns on two streams, so that kernels that do not fill the GPU overlap."""
import torch

import common

args = common.arguments()
model = common.resnet50(args).eval()
loader = torch.utils.data.DataLoader(common.Images(args), batch_size=args.batch_size, num_workers=args.workers,
                                     pin_memory=args.device == "cuda")
streams = common.streams(args, 2)

with torch.no_grad():
    for number, (images, labels) in enumerate(common.measured(loader, args)):
        with common.on(streams[number % 2]):
            images = images.to(args.device, non_blocking=True)
            model(images)
