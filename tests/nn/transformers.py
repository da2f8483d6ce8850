"""ViT-B/16 of torchvision as a graph, node for node as PyTorch exports it: attention as reshapes, transposes and products,
with the shapes computed from the input's where the batch is open."""
import math
import struct

from convnets import Net, divisible
from onnx_writer import ints, module_name, normal_bytes


class ViT(Net):
    PATCH, LAYERS, HEADS, HIDDEN = 16, 12, 12, 768

    def setup(self):
        self.tokens = (self.b.image // self.PATCH) ** 2 + 1
        self.hidden = self.HEADS * max(divisible(self.HIDDEN * self.width / self.HEADS), 8)

    def sizes(self, scope, *dims):
        """The contents of a shape; "n" is the batch, "n*3" three times it: constant, or computed where it is open."""
        b = self.b
        if isinstance(b.batch, int):
            return b.int_constant(scope, *(b.batch * int(d[2:] or 1) if isinstance(d, str) else d for d in dims))
        parts = []
        for dim in dims:
            if not isinstance(dim, str):
                parts.append(b.int_constant(scope, dim))
                continue
            n = b.add("Gather", [b.add("Shape", ["input"], scope), b.int_constant(scope, 0, scalar=True)], scope,
                      axis=0)
            if dim != "n":
                n = b.add("Mul", [n, b.int_constant(scope, int(dim.split("*")[1]), scalar=True)], scope)
            parts.append(self.unsqueeze(n, scope, 0))
        return b.add("Concat", parts, scope, axis=0)

    def unsqueeze(self, x, scope, axis):
        b = self.b
        if b.opset < 13:
            return b.add("Unsqueeze", [x], scope, axes=[axis])
        return b.add("Unsqueeze", [x, b.int_constant(scope, axis)], scope)

    def squeeze(self, x, scope, axis):
        b = self.b
        if b.opset < 13:
            return b.add("Squeeze", [x], scope, axes=[axis])
        return b.add("Squeeze", [x, b.int_constant(scope, axis)], scope)

    def reshape(self, x, scope, *dims):
        return self.b.add("Reshape", [x, self.sizes(scope, *dims)], scope)

    def transpose(self, x, scope, *perm):
        return self.b.add("Transpose", [x], scope, perm=list(perm))

    def noise(self, name, dims, std):
        """A tensor of seeded noise."""
        return self.b.keep(name, dims, normal_bytes(self.b.rng, math.prod(dims), std, 0))

    def mean(self, x, scope):
        b = self.b
        if b.opset < 18:
            return b.add("ReduceMean", [x], scope, axes=[-1])
        return b.add("ReduceMean", [x, b.int_constant(scope, -1)], scope)

    def layer_norm(self, x, scope):
        b, name = self.b, module_name(scope)
        scale = b.keep_floats(f"{name}.weight", (self.hidden,), [b.rng.uniform(0.7, 1.3) for _ in range(self.hidden)])
        shift = b.keep_floats(f"{name}.bias", (self.hidden,), b.noise(self.hidden, 0.1))
        if b.opset >= 17:
            return b.add("LayerNormalization", [x, scale, shift], scope, axis=-1, epsilon=1e-6)
        d = b.add("Sub", [x, self.mean(x, scope)], scope)
        square = b.add("Pow", [d, b.float_constant(scope, 2.0)], scope)
        var = b.add("Add", [self.mean(square, scope), b.float_constant(scope, 1e-6)], scope)
        y = b.add("Div", [d, b.add("Sqrt", [var], scope)], scope)
        return b.add("Add", [b.add("Mul", [y, scale], scope), shift], scope)

    def dense(self, x, scope, inner, outer, gain):
        """A linear layer of three dimensions: a product with the transposed weight, and the bias."""
        b, name = self.b, module_name(scope)
        y = b.add("MatMul", [x, self.noise(f"{name}.matmul", (inner, outer), gain / math.sqrt(inner))], scope)
        return b.add("Add", [b.keep_floats(f"{name}.bias", (outer,), b.noise(outer, 0.1)), y], scope)

    def scores(self, q, k, scope, size):
        """Before the softmax: both operands times the root of the scale from opset 14 on, else q over its root."""
        b = self.b
        if b.opset < 14:
            q = b.add("Div", [q, b.float_constant(scope, math.sqrt(size))], scope)
            return b.add("MatMul", [q, self.transpose(k, scope, 0, 1, 3, 2)], scope)
        shape = b.add("Slice", [b.add("Shape", [q], scope), b.int_constant(scope, -1),
                                b.int_constant(scope, (1 << 63) - 1)], scope)
        root = b.add("Sqrt", [b.add("Cast", [shape], scope, to=1)], scope)
        one = b.constant(scope, struct.pack("<f", 1.0), (1,), 1)
        scale = b.add("Cast", [b.add("Div", [one, root], scope)], scope, to=1)
        k = self.transpose(k, scope, 0, 1, 3, 2)
        q = b.add("Mul", [q, b.add("Sqrt", [scale], scope)], scope)
        k = b.add("Mul", [k, b.add("Sqrt", [scale], scope)], scope)
        return b.add("MatMul", [q, k], scope)

    def attention(self, x, scope):
        b, t, e, heads = self.b, self.tokens, self.hidden, self.HEADS
        size = e // heads
        y = self.dense(self.transpose(x, scope, 1, 0, 2), scope, e, 3 * e, 1.0)
        y = self.unsqueeze(self.reshape(y, scope, t, "n", 3, e), scope, 0)
        y = self.squeeze(self.transpose(y, scope, 3, 1, 2, 0, 4), scope, 3)
        parts = []
        for i in range(3):
            part = b.add("Gather", [y, b.int_constant(scope, i, scalar=True)], scope, axis=0)
            part = self.transpose(self.reshape(part, scope, t, f"n*{heads}", size), scope, 1, 0, 2)
            parts.append(self.reshape(part, scope, "n", heads, t, size))
        q, k, v = parts
        y = b.add("MatMul", [b.add("Softmax", [self.scores(q, k, scope, size)], scope, axis=3), v], scope)
        y = self.reshape(self.transpose(y, scope, 2, 0, 1, 3), scope, f"n*{t}", e)
        name = module_name(scope) + ".out_proj"
        inputs = [y, self.noise(f"{name}.weight", (e, e), 1 / math.sqrt(e)),
                  b.keep_floats(f"{name}.bias", (e,), b.noise(e, 0.1))]
        y = b.add("Gemm", inputs, scope, alpha=1.0, beta=1.0, transB=1)
        return self.transpose(self.reshape(y, scope, t, "n", e), scope, 1, 0, 2)

    def gelu(self, x, scope):
        b = self.b
        y = b.add("Erf", [b.add("Div", [x, b.float_constant(scope, math.sqrt(2))], scope)], scope)
        y = b.add("Mul", [x, b.add("Add", [y, b.float_constant(scope, 1.0)], scope)], scope)
        return b.add("Mul", [y, b.float_constant(scope, 0.5)], scope)

    def block(self, x, scope):
        b, e = self.b, self.hidden
        y = self.attention(self.layer_norm(x, f"{scope}/ln_1"), f"{scope}/self_attention")
        x = b.add("Add", [y, x], scope)
        y = self.layer_norm(x, f"{scope}/ln_2")
        y = self.gelu(self.dense(y, f"{scope}/mlp/mlp.0", e, 4 * e, 1.4), f"{scope}/mlp/mlp.1")
        return b.add("Add", [x, self.dense(y, f"{scope}/mlp/mlp.3", 4 * e, e, 0.7)], scope)

    def class_token(self):
        """One for each image: expanded by the exporter, or by nodes where the batch is open."""
        b, e = self.b, self.hidden
        if isinstance(b.batch, int):
            raw = normal_bytes(b.rng, e, 0.5, 0)
            return b.keep("class_token", (b.batch, 1, e), raw * b.batch)
        token = self.noise("class_token", (1, 1, e), 0.5)
        shape = self.sizes("", "n", -1, -1)
        ones = b.add("ConstantOfShape", [b.add("Shape", [shape], "")], "", value=ints("", (1,), [1]))
        minus = b.add("Mul", [ones, b.int_constant("", -1, scalar=True)], "")
        shape = b.add("Where", [b.add("Equal", [shape, minus], ""), ones, shape], "")
        return b.add("Expand", [token, shape], "")

    def build(self, _):
        self.setup()
        b, e = self.b, self.hidden
        x = b.conv("input", "conv_proj", e, self.PATCH, self.PATCH, 0, bias=True)
        x = self.transpose(self.reshape(x, "", "n", e, self.tokens - 1), "", 0, 2, 1)
        x = b.add("Concat", [self.class_token(), x], "", axis=1)
        x = b.add("Add", [x, self.noise("encoder.pos_embedding", (1, self.tokens, e), 0.3)], "encoder")
        for i in range(self.LAYERS):
            x = self.block(x, f"encoder/layers/encoder_layer_{i}")
        x = self.layer_norm(x, "encoder/ln")
        x = b.add("Gather", [x, b.int_constant("", 0, scalar=True)], "", axis=1)
        b.shapes[x], b.stats[x] = (e,), (0.0, 1.0)
        return b.linear(x, "heads/heads.0", self.classes, 3.0)


TRANSFORMERS = {"vit_b_16": ViT}
