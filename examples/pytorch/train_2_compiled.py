"""Trains ResNet-50, compiled. --mode max-autotune also tries many kernels first: on an H200 for more than 100 seconds,
without having made a step by then."""
import torch

import common

args = common.arguments()
model = torch.compile(common.resnet50(args), mode=args.mode)
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
