"""Classifies pictures as first written: one process loads and computes in turn, and each copy to the GPU blocks."""
import torch

import common

args = common.arguments()
model = common.resnet50(args).eval()
loader = torch.utils.data.DataLoader(common.Images(args), batch_size=args.batch_size)

with torch.no_grad():
    for images, labels in common.measured(loader, args):
        images = images.to(args.device)
        model(images)
