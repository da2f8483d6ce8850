#!/usr/bin/env python3
"""Writes a well-known classifier as an ONNX file with seeded random weights: the same bytes on every machine, no
package needed. The weights are scaled so that activations stay near one and the classes differ between inputs."""
import argparse
import pathlib

from networks import NETWORKS
from onnx_writer import Builder


def make(name, path, opset=17, seed=0, batch=1, width=1.0, image=224, classes=1000, external=False,
         weights_as_inputs=False):
    """batch: a number, or a name of the axis."""
    builder = Builder(opset, seed, image, batch)
    builder.weights_as_inputs = weights_as_inputs
    if external:
        builder.blob_name = path.name + ".data"
    builder.save(path, NETWORKS[name](builder, width, classes).build(name))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", choices=sorted(NETWORKS), metavar="NETWORK",
                        help="one of " + ", ".join(sorted(NETWORKS)))
    parser.add_argument("-o", "--output", type=pathlib.Path, help="default: NETWORK.onnx")
    parser.add_argument("--opset", type=int, default=17, help="9 to 20 (default 17)")
    parser.add_argument("--batch", type=int, default=1, help="the fixed batch size (default 1)")
    parser.add_argument("--dynamic", action="store_true", help="the batch axis is a symbol")
    parser.add_argument("--width", type=float, default=1.0, help="factor on all channels (default 1)")
    parser.add_argument("--image", type=int, default=224, help="height and width (default 224)")
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--external", action="store_true", help="weights in a file of their own, OUTPUT.data")
    parser.add_argument("--weights-as-inputs", action="store_true", help="as files before IR version 4 have it")
    args = parser.parse_args()
    make(args.network, args.output or pathlib.Path(args.network + ".onnx"), args.opset, args.seed,
         "batch_size" if args.dynamic else args.batch, args.width, args.image, args.classes, args.external,
         args.weights_as_inputs)


if __name__ == "__main__":
    main()
