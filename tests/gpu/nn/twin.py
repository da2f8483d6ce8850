"""An ONNX file run by PyTorch node for node, in a precision of one's choice: the framework beside which the engine is held."""
import onnx
import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
F = torch.nn.functional


def whole(t):
    return [int(i) for i in t.reshape(-1).tolist()]


def conv(x, a):
    pads = a.get("pads", [0, 0, 0, 0])
    return F.conv2d(F.pad(x[0], (pads[1], pads[3], pads[0], pads[2])), x[1], x[2] if len(x) > 2 else None,
                    a.get("strides", [1, 1]), 0, a.get("dilations", [1, 1]), a.get("group", 1))


def clip(x, a):
    low, high = (float(x[1]), float(x[2])) if len(x) > 2 else (a["min"], a["max"])
    return torch.clamp(x[0], low, high)


def gather(x, a):
    axis = a.get("axis", 0)
    return x[0].select(axis, int(x[1])) if x[1].dim() == 0 else x[0].index_select(axis, x[1].to(x[0].device))


def cut(x, _):
    places = [slice(None)] * x[0].dim()
    axes = whole(x[3]) if len(x) > 3 else range(len(x[1]))
    for axis, start, end in zip(axes, whole(x[1]), whole(x[2])):
        places[axis] = slice(start, end)
    return x[0][tuple(places)]


def reshape(x, _):
    return x[0].reshape([x[0].shape[i] if n == 0 else n for i, n in enumerate(whole(x[1]))])


def unsqueeze(x, _):
    for axis in sorted(whole(x[1])):
        x[0] = x[0].unsqueeze(axis)
    return x[0]


NODES = {
    "Conv": conv, "Clip": clip, "Gather": gather, "Slice": cut, "Reshape": reshape, "Unsqueeze": unsqueeze,
    "BatchNormalization": lambda x, a: F.batch_norm(x[0], x[3], x[4], x[1], x[2], False, 0.0, a.get("epsilon", 1e-5)),
    "LayerNormalization": lambda x, a: F.layer_norm(x[0], x[0].shape[a.get("axis", -1):], x[1], x[2], a.get("epsilon", 1e-5)),
    "MaxPool": lambda x, a: F.max_pool2d(x[0], a["kernel_shape"], a.get("strides", 1), a.get("pads", [0])[0],
                                         ceil_mode=bool(a.get("ceil_mode", 0))),
    "AveragePool": lambda x, a: F.avg_pool2d(x[0], a["kernel_shape"], a.get("strides", 1), a.get("pads", [0])[0]),
    "GlobalAveragePool": lambda x, a: x[0].mean((2, 3), keepdim=True),
    "Gemm": lambda x, a: F.linear(x[0], x[1] if a.get("transB", 0) else x[1].t(), x[2]),
    "MatMul": lambda x, a: torch.matmul(x[0], x[1]),
    "Softmax": lambda x, a: torch.softmax(x[0], a.get("axis", -1)),
    "HardSigmoid": lambda x, a: torch.clamp(x[0] * a.get("alpha", 0.2) + a.get("beta", 0.5), 0, 1),
    "HardSwish": lambda x, a: F.hardswish(x[0]),
    "Relu": lambda x, a: torch.relu(x[0]),
    "Sigmoid": lambda x, a: torch.sigmoid(x[0]),
    "Erf": lambda x, a: torch.erf(x[0]),
    "Sqrt": lambda x, a: torch.sqrt(x[0]),
    "Add": lambda x, a: x[0] + x[1],
    "Sub": lambda x, a: x[0] - x[1],
    "Mul": lambda x, a: x[0] * x[1],
    "Div": lambda x, a: x[0] / x[1],
    "Equal": lambda x, a: x[0] == x[1],
    "Where": lambda x, a: torch.where(x[0], x[1], x[2]),
    "Concat": lambda x, a: torch.cat(x, a["axis"]),
    "Flatten": lambda x, a: x[0].flatten(a.get("axis", 1)),
    "Transpose": lambda x, a: x[0].permute(a["perm"]),
    "Squeeze": lambda x, a: x[0].squeeze(tuple(whole(x[1]))),
    "Expand": lambda x, a: x[0].expand(torch.broadcast_shapes(x[0].shape, whole(x[1]))),
    "Shape": lambda x, a: torch.tensor(x[0].shape),
    "Identity": lambda x, a: x[0],
    "Dropout": lambda x, a: x[0],
}


class Twin:
    """Numbers of the network are on the device, whole ones, which are shapes and indices, on the host."""

    def __init__(self, path, dtype):
        self.graph, self.dtype = onnx.load(str(path)).graph, dtype
        self.constants = {t.name: self.hold(t) for t in self.graph.initializer}
        self.input, = [i.name for i in self.graph.input if i.name not in self.constants]
        self.last_reader = {name: i for i, node in enumerate(self.graph.node) for name in node.input}

    def hold(self, t):
        t = torch.tensor(onnx.numpy_helper.to_array(t).copy())
        return t.to(DEVICE, self.dtype) if t.is_floating_point() else t

    def node(self, node, x):
        a = {v.name: onnx.helper.get_attribute_value(v) for v in node.attribute}
        if node.op_type == "Constant":
            return self.hold(a["value"])
        if node.op_type == "ConstantOfShape":
            return self.hold(a["value"]).reshape(()).expand(whole(x[0]))
        if node.op_type == "Cast":
            return x[0].to(DEVICE, self.dtype) if a["to"] == onnx.TensorProto.FLOAT else x[0].to(torch.int64)
        return NODES[node.op_type](x, a)

    @torch.no_grad()
    def __call__(self, x, value=None):
        """Of a batch on the device the network's result, or another of its values, in fp32."""
        value = value or self.graph.output[0].name
        v = {self.input: x.to(self.dtype)}
        for i, node in enumerate(self.graph.node):
            v[node.output[0]] = self.node(node, [v[n] if n in v else self.constants[n] for n in node.input])
            if value in v:
                break
            for n in node.input:
                if self.last_reader[n] == i:
                    v.pop(n, None)
        return v[value].float()
