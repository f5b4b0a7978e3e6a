#!/usr/bin/env python3
"""Writes the small ONNX models of this folder and their golden outputs and gradients, golden.h5:

    OMP_NUM_THREADS=1 python make_fixtures.py [NAME...]

Needs torch, onnx, onnxscript, onnxruntime and h5py. The outputs are onnxruntime's, the gradients PyTorch's, of the
mean cross-entropy in a training step; their names are those of the state dict. Each model has another exporter,
opset or structure.
"""
import os
import sys

import h5py
import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional as F

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(here))
from onnx_odd_models import Call, shuffle  # noqa: E402

torch.manual_seed(1)
rng = np.random.default_rng(1)
images = rng.standard_normal((3, 2, 8, 8), dtype=np.float32)
sequences = rng.standard_normal((3, 5, 4), dtype=np.float32)
tokens = rng.integers(0, 9, (3, 6))


def excite(m, x):
    y = m.bn(m.conv(x))
    return m.head(F.max_pool2d(y * torch.sigmoid(m.gate(F.silu(y.mean((2, 3), keepdim=True)))), 3, 2, ceil_mode=True).flatten(1))


def attend(m, x):
    x = F.relu(m.first(x))
    return m.head((x + m.attention(x, x, x, need_weights=False)[0]).mean(1))


def vision(m, x):
    """One block of a vision transformer: patches, a class token, positions, and query, key and value from one product."""
    x = m.patches(x).flatten(2).transpose(1, 2)
    x = torch.cat([m.token.expand(len(x), -1, -1), x], 1) + m.places
    q, k, v = m.qkv(m.norm(x)).reshape(len(x), 5, 3, 2, 2).permute(2, 0, 3, 1, 4).unbind(0)
    x = x + m.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(len(x), 5, 4))
    return m.head(x[:, 0])


def interpolate(m, x):
    """In all linear modes, for which exporters give a nearest_mode that means nothing."""
    x = F.interpolate(m.conv(x), scale_factor=2, mode="bilinear")
    x = F.interpolate(x, size=(5, 7), mode="bilinear", align_corners=True)
    x = F.interpolate(x.flatten(2), size=12, mode="linear")
    return m.head(F.interpolate(x, scale_factor=0.5, mode="linear", align_corners=True).flatten(1))


def standardized(m, x):
    """A convolution whose weights are standardized (Qiao et al., 2019), with TensorFlow's padding, as timm writes both."""
    weight = F.batch_norm(m.conv.weight.reshape(1, 4, -1), None, None, weight=m.gain, training=True, eps=1e-6).reshape_as(m.conv.weight)
    height, width = (torch.clamp(((size / 3).ceil() - 1) * 3 + 3 - size, min=0) if isinstance(size, torch.Tensor) else -size % 3
                     for size in x.shape[-2:])
    x = F.pad(x, [width // 2, width - width // 2, height // 2, height - height // 2])
    return m.head(F.conv2d(x, weight, m.conv.bias, stride=3).flatten(1))


def response_norm(m, x):
    """The global response normalization of ConvNeXt V2."""
    x = F.gelu(m.conv(x)).permute(0, 2, 3, 1)
    norm = x.norm(p=2, dim=(1, 2), keepdim=True)
    x = x + torch.addcmul(m.beta.view(1, 1, 1, -1), m.gamma.view(1, 1, 1, -1), x * (norm / (norm.mean(-1, keepdim=True) + 1e-6)))
    return m.head(x.mean((1, 2)))


def strided(m, x):
    """A mean that PyTorch's exporter gives by as_strided, from a batch of any size."""
    x = F.adaptive_avg_pool2d(m.norm(m.conv(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2), 1)
    return m.head(m.last(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2).flatten(1))


def functions(m, x):
    a, b = m.conv(x), F.softplus(m.other(x))
    y = torch.where(a > 0.1, a / b, torch.sqrt(b) * torch.exp(-a.abs()))
    y = y.flip(1) + torch.log(b) + torch.pow(b, 1.5) + 1 / b - torch.minimum(a, b)
    return m.head((y / (y.pow(2).sum(1, keepdim=True) + 1).sqrt()).flatten(1))


MODELS = {
    "excite": (Call(excite, conv=nn.Conv2d(2, 4, 3, stride=2, padding=1, bias=False), bn=nn.BatchNorm2d(4, eps=1e-4, momentum=0.2),
                    gate=nn.Conv2d(4, 4, 1), head=nn.Linear(16, 3)), images, {"dynamo": False, "opset_version": 17}),
    "old_opset": (nn.Sequential(nn.Conv2d(2, 4, 3, dilation=2, padding=(2, 0), groups=2), nn.Hardtanh(-0.5, 0.7), nn.AvgPool2d(3, 2, 1),
                                nn.GroupNorm(2, 4), nn.Flatten(), nn.Linear(32, 3)), images, {"dynamo": False, "opset_version": 9}),
    "shuffle": (Call(shuffle, conv=nn.Conv2d(2, 4, 3, stride=3), head=nn.Linear(16, 3)), images, {"dynamo": True}),
    "upsample": (nn.Sequential(nn.ConvTranspose2d(2, 2, 3, stride=2, output_padding=1), nn.GELU("tanh"), nn.AdaptiveAvgPool2d(3),
                               nn.Upsample(scale_factor=2), nn.Flatten(), nn.Linear(72, 3)), images, {"dynamo": False, "opset_version": 13}),
    "interpolate": (Call(interpolate, conv=nn.Conv2d(2, 2, 3), head=nn.Linear(12, 3)), images, {"dynamo": True}),
    "interpolate_script": (Call(interpolate, conv=nn.Conv2d(2, 2, 3), head=nn.Linear(12, 3)), images, {"dynamo": False, "opset_version": 12}),
    "convnext": (Call(lambda m, x: m.head((x + (m.b(F.gelu(m.a(m.norm(m.dw(x).permute(0, 2, 3, 1))))) * m.gamma).permute(0, 3, 1, 2)).mean((-2, -1))),
                      dw=nn.Conv2d(2, 2, 3, padding=1, groups=2), norm=nn.LayerNorm(2, eps=1e-6), a=nn.Linear(2, 6), b=nn.Linear(6, 2),
                      gamma=nn.Parameter(torch.rand(2)), head=nn.Linear(2, 3)), images, {"dynamo": False, "opset_version": 14}),
    "lstm": (Call(lambda m, x: m.head(m.rnn(F.relu(m.conv(x.transpose(1, 2))).transpose(1, 2))[0][:, -1]), conv=nn.Conv1d(4, 3, 2, padding=1),
                  rnn=nn.LSTM(3, 4, batch_first=True, bidirectional=True), head=nn.Linear(8, 3)), sequences, {"dynamo": False, "opset_version": 15}),
    "gru": (Call(lambda m, x: m.head(m.rnn(m.table(x))[1][0]), table=nn.Embedding(9, 3), rnn=nn.GRU(3, 4, batch_first=True),
                 head=nn.Linear(4, 3)), tokens, {"dynamo": True}),
    "attention": (Call(attend, first=nn.Linear(4, 6), attention=nn.MultiheadAttention(6, 2, batch_first=True), head=nn.Linear(6, 3)),
                  sequences, {"dynamo": False, "opset_version": 17}),
    "vision": (Call(vision, patches=nn.Conv2d(2, 4, 4, 4), token=nn.Parameter(torch.randn(1, 1, 4)), places=nn.Parameter(torch.randn(1, 5, 4)),
                    norm=nn.LayerNorm(4), qkv=nn.Linear(4, 12), out=nn.Linear(4, 4), head=nn.Linear(4, 3)), images, {"dynamo": True}),
    "standardized": (Call(standardized, conv=nn.Conv2d(2, 4, 3), gain=nn.Parameter(torch.rand(4)), head=nn.Linear(36, 3)), images,
                     {"dynamo": False, "opset_version": 17}),
    "strided": (Call(strided, conv=nn.Conv2d(2, 4, 3), norm=nn.LayerNorm(4), last=nn.LayerNorm(4), head=nn.Linear(4, 3)), images,
                {"dynamo": True, "dynamic_shapes": ({0: torch.export.Dim("n")},)}),
    "response_norm": (Call(response_norm, conv=nn.Conv2d(2, 4, 3), gamma=nn.Parameter(torch.rand(4)), beta=nn.Parameter(torch.rand(4)),
                           head=nn.Linear(4, 3)), images, {"dynamo": True}),
    "functions": (Call(functions, conv=nn.Conv2d(2, 3, 3, stride=2), other=nn.Conv2d(2, 3, 3, stride=2), head=nn.Linear(27, 3)),
                  images, {"dynamo": False, "opset_version": 13}),
}


def golden(file, samples):
    options = onnxruntime.SessionOptions()
    if os.path.basename(file) == "quantized.onnx":  # its fused products of 8 bits saturate on processors without VNNI
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return np.concatenate([session.run(None, {name: samples[i : i + 1]})[0] for i in range(len(samples))])


def write(group, file, samples, network=None):
    group["samples"] = samples.astype(np.int32 if samples.dtype.kind == "i" else np.float32)
    group["output"] = golden(file, samples)
    if network is None:
        return
    labels = np.arange(len(samples)) % 3
    network.train()
    loss = F.cross_entropy(network(torch.from_numpy(samples)), torch.from_numpy(labels))
    loss.backward()
    group["labels"] = labels.astype(np.int32)
    group["loss"] = np.array([loss.item()], dtype=np.float32)
    for name, parameter in network.named_parameters():
        gradient = parameter.grad.numpy()
        if name == "0.weight" and isinstance(network[0], nn.ConvTranspose2d):
            gradient = gradient.swapaxes(0, 1)  # Convoke's layout is (M, C, H, W)
        group[f"gradients/{name}"] = gradient


def channels_last(file):
    """(N, H, W, C), as tf2onnx writes models of Keras: transposes around the convolutions, a bias after them."""
    weight = rng.standard_normal((4, 2, 3, 3), dtype=np.float32) / 4
    head = rng.standard_normal((4, 3), dtype=np.float32)
    bias = rng.standard_normal(4, dtype=np.float32)
    nodes = [
        helper.make_node("Transpose", ["x"], ["a"], perm=[0, 3, 1, 2]),
        helper.make_node("Conv", ["a", "w"], ["b"], auto_pad="SAME_UPPER", strides=[2, 2]),
        helper.make_node("Transpose", ["b"], ["c"], perm=[0, 2, 3, 1]),
        helper.make_node("Add", ["c", "bias"], ["d"]),
        helper.make_node("Relu", ["d"], ["e"]),
        helper.make_node("ReduceMean", ["e"], ["f"], axes=[1, 2], keepdims=0),
        helper.make_node("MatMul", ["f", "head"], ["g"]),
        helper.make_node("Softmax", ["g"], ["y"], axis=-1),
    ]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 8, 8, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 3])],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(head.astype(np.float16).astype(np.float32), "head"),
         numpy_helper.from_array(bias, "bias")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    helper.set_model_props(model, {"class_names": '["ant", "bee", "cat"]', "normalization_scale": "[0.5, 0.25]",
                                   "normalization_shift": "[0, -1]"})
    onnx.save(model, file)


def transposed(file):
    """Transposed convolutions whose padding follows from auto_pad and output_shape, side by side."""
    nodes, weights, values = [], [], []
    for auto_pad in ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"]:
        for kernel, stride, dilation, more in [(2, 3, 1, {}), (3, 2, 1, {}), (3, 2, 2, {"output_padding": [1, 1]}), (4, 3, 1, {"output_padding": [0, 2]}),
                                               (3, 2, 1, {"output_shape": [16, 15]}), (2, 2, 1, {"output_shape": [17, 16]})]:
            name = f"y{len(nodes)}"
            weight = rng.standard_normal((2, 1, kernel, kernel), dtype=np.float32)
            weights += [numpy_helper.from_array(weight, name + "w"), numpy_helper.from_array(np.array([0.5], np.float32), name + "b")]
            nodes.append(helper.make_node("ConvTranspose", ["x", name + "w", name + "b"], [name], auto_pad=auto_pad, strides=[stride] * 2,
                                          dilations=[dilation] * 2, **more))
            nodes.append(helper.make_node("Flatten", [name], [name + "f"]))
            values.append(name + "f")
    nodes.append(helper.make_node("Concat", values, ["y"], axis=1))
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2, 8, 8])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", None])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), file)


def tensors(**arrays):
    return [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()]


def save(file, nodes, input, outputs, initializers):
    graph = helper.make_graph(nodes, "g", [input], [helper.make_tensor_value_info("y", TensorProto.FLOAT, outputs)], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), file)


def masked(file):
    """The mean over the tokens that are not 0, as tf2onnx writes Embedding(mask_zero=True) and GlobalAveragePooling1D."""
    node, one = helper.make_node, TensorProto.FLOAT
    nodes = [
        node("Add", ["x", "rows"], ["wrapped"]),
        node("Cast", ["x"], ["real"], to=one),
        node("Less", ["real", "zero"], ["below"]),
        node("Cast", ["below"], ["is_below"], to=TensorProto.INT32),
        node("Mul", ["is_below", "wrapped"], ["a"]),
        node("Not", ["below"], ["above"]),
        node("Cast", ["above"], ["is_above"], to=TensorProto.INT32),
        node("Mul", ["x", "is_above"], ["b"]),
        node("Add", ["a", "b"], ["places"]),
        node("Gather", ["table", "places"], ["vectors"]),
        node("Equal", ["x", "padding"], ["no"]),
        node("Not", ["no"], ["yes"]),
        node("Unsqueeze", ["yes", "last"], ["column"]),
        node("Cast", ["column"], ["mask"], to=one),
        node("Mul", ["mask", "vectors"], ["kept"]),
        node("ReduceSum", ["mask", "first"], ["count"], keepdims=0),
        node("ReduceSum", ["kept", "first"], ["sum"], keepdims=0),
        node("Div", ["sum", "count"], ["mean"]),
        node("MatMul", ["mean", "head"], ["y"]),
    ]
    random = np.random.default_rng(5)
    save(file, nodes, helper.make_tensor_value_info("x", TensorProto.INT32, ["N", 6]), ["N", 3],
         tensors(rows=np.int32(9), zero=np.float32(0), padding=np.int32(0), last=np.array([2]), first=np.array([1]),
                 table=random.standard_normal((9, 4), dtype=np.float32), head=random.standard_normal((4, 3), dtype=np.float32)))


def quantized(file):
    """Two convolutions in the QDQ form. The quantizer leaves out the ReLU, because its uint8 begins at 0."""
    from onnxruntime import quantization

    random = np.random.default_rng(7)
    nodes = [
        helper.make_node("Conv", ["x", "w", "c"], ["a"], strides=[2, 2]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "v"], ["d"]),
        helper.make_node("Flatten", ["d"], ["y"]),
    ]
    save(file, nodes, helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2, 8, 8]), ["N", 3],
         tensors(w=random.standard_normal((4, 2, 3, 3), dtype=np.float32) / 4, c=random.standard_normal(4, dtype=np.float32) / 4,
                 v=random.standard_normal((3, 4, 3, 3), dtype=np.float32) / 4))

    class Samples(quantization.CalibrationDataReader):
        left = iter([{"x": images}])

        def get_next(self):
            return next(self.left, None)

    quantization.quantize_static(file, file, Samples(), quant_format=quantization.QuantFormat.QDQ, per_channel=True)
    assert not any(node.op_type == "Relu" for node in onnx.load(file).graph.node)


MADE = {"channels_last": (channels_last, np.ascontiguousarray(images.transpose(0, 2, 3, 1))), "transposed": (transposed, images[:1]), "masked": (masked, tokens.astype(np.int32)),
        "quantized": (quantized, images)}


def main():
    wanted = sys.argv[1:] or [*MODELS, *MADE]
    with h5py.File(os.path.join(here, "golden.h5"), "a") as out:
        for name in wanted:
            if name in out:
                del out[name]
        for name, (network, samples, options) in MODELS.items():
            if name not in wanted:
                continue
            file = os.path.join(here, name + ".onnx")
            network.eval()
            if not options["dynamo"]:
                options |= {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False}
            else:
                options |= {"external_data": False}
            example = samples[: 2 if "dynamic_shapes" in options else 1]
            torch.onnx.export(network, (torch.from_numpy(example),), file, **options)
            model = onnx.load(file)
            for node in model.graph.node:
                node.doc_string = ""
                del node.metadata_props[:]
            del model.graph.value_info[:]
            onnx.save(model, file)
            # Convoke trains the standardized weights, PyTorch those before.
            write(out.create_group(name), file, samples, None if name == "standardized" else network)
        for name, (make, samples) in MADE.items():
            if name not in wanted:
                continue
            file = os.path.join(here, name + ".onnx")
            make(file)
            write(out.create_group(name), file, samples)
            if name == "channels_last":
                del out["channels_last/samples"]
                out["channels_last/samples"] = images


if __name__ == "__main__":
    main()
