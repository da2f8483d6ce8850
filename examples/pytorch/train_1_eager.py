"""Trains ResNet-50, one operator after the other."""
import torch

import common

args = common.arguments()
model = common.resnet50(args)
loader = torch.utils.data.DataLoader(common.Images(args), batch_size=args.batch_size, num_workers=args.workers,
                                     pin_memory=args.device == "cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
loss_of = torch.nn.CrossEntropyLoss()

for images, labels in common.measured(loader, args):
    images = images.to(args.device, non_blocking=True)
    labels = labels.to(args.device, non_blocking=True)
    optimizer.zero_grad(set_to_none=True)
    loss = loss_of(model(images), labels)
    loss.backward()
    optimizer.step()
