"""Classifies pictures: the model is compiled before the first one is served; --mode max-autotune also tries kernels."""
import torch

import common

args = common.arguments()
model = common.resnet50(args).eval().to(args.half).to(memory_format=torch.channels_last)
model = torch.compile(model, mode=args.mode)
loader = torch.utils.data.DataLoader(common.Images(args), batch_size=args.batch_size, num_workers=args.workers,
                                     pin_memory=args.device == "cuda")

with torch.no_grad():
    for images, labels in common.measured(loader, args):
        images = images.to(args.device, non_blocking=True)
        images = images.to(args.half).to(memory_format=torch.channels_last)
        model(images)
