"""Classifies pictures: the host does not wait for a copy, and launches the kernels behind it at once."""
import torch

import common

args = common.arguments()
model = common.resnet50(args).eval()
loader = torch.utils.data.DataLoader(common.Images(args), batch_size=args.batch_size,
                                     pin_memory=args.device == "cuda")

with torch.no_grad():
    for images, labels in common.measured(loader, args):
        images = images.to(args.device, non_blocking=True)
        model(images)
