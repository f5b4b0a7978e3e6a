"""torchvision's models, and those of cifar_networks.py, with the weights of one of our model files, matched by name."""
import numpy as np
import torch
import torchvision

import cifar_networks

try:
    import timm
except ImportError:
    timm = None

MODELS = {name.replace("_", "-"): name for name in (
    "alexnet", "vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn", "vgg19", "vgg19_bn", "resnet18",
    "resnet34", "resnet50", "resnet101", "resnet152", "densenet121", "densenet169", "densenet201", "mobilenet_v2",
    "mobilenet_v3_small", "mobilenet_v3_large", "efficientnet_b0", "efficientnet_b1", "efficientnet_b2",
    "efficientnet_b3", "efficientnet_b4", "efficientnet_b5", "efficientnet_b6", "efficientnet_b7", "convnext_tiny")}
MODELS |= {"squeezenet1.0": "squeezenet1_0", "squeezenet1.1": "squeezenet1_1", "shufflenet-v2": "shufflenet_v2_x1_0"}

# timm's networks, whose parameters stand in the order of ours.
TIMM = {f"tf-efficientnet-b{i}": f"tf_efficientnet_b{i}" for i in range(8)}
TIMM |= {f"efficientnet-lite{i}": f"tf_efficientnet_lite{i}" for i in range(5)}

# torchvision's names of our parameters.
NAMES = {"weight": "weight", "bias": "bias", "gamma": "weight", "beta": "bias", "running_mean": "running_mean",
         "running_variance": "running_var"}


def names():
    return [*MODELS, *cifar_networks.MODELS, *(TIMM if timm else [])]


def title(name):
    if name in cifar_networks.MODELS:
        return f"PyTorch {torch.__version__.split('+')[0]}, from the paper"
    if name in TIMM:
        return f"timm {timm.__version__} `{TIMM[name]}`"
    return f"torchvision {torchvision.__version__.split('+')[0]} `{MODELS[name]}`"


def place(model, node, parameter):
    """Returns the model's tensor for a parameter of one of our nodes."""
    tensors = model.state_dict()
    if node == "predictions":  # the last layer
        node = [key for key in tensors if key.endswith(".weight")][-1].removesuffix(".weight")
    if node.endswith(".layer_scale"):
        return tensors[node]
    return tensors[f"{node}.{NAMES[parameter]}"]


def reference(name, classes):
    if name in cifar_networks.MODELS:
        return cifar_networks.MODELS[name](classes)
    if name in TIMM:
        return timm.create_model(TIMM[name], num_classes=classes)
    return torchvision.models.get_model(MODELS[name], weights=None, num_classes=classes)


def places(name, model, nodes):
    """Returns {(node, parameter): the model's tensor}."""
    if name not in TIMM:
        return {(node, parameter): place(model, node, parameter) for node, own in nodes.items() for parameter in own}
    modules = [module for module in model.modules() if module._parameters]
    if len(modules) != len(nodes):
        raise SystemExit(f"error: {name}: {len(modules)} modules of timm for {len(nodes)} nodes")
    return {(node, parameter): module.state_dict()[NAMES[parameter]]
            for (node, own), module in zip(nodes.items(), modules) for parameter in own}


def evaluate(name, nodes, samples, classes):
    """nodes: {node: {parameter: canonical values}}; samples: (N, C, H, W). Returns (N, classes)."""
    model = reference(name, classes).eval()
    left = {tensor.data_ptr() for tensor in model.state_dict().values() if tensor.dtype == torch.float32}
    with torch.no_grad():
        for (node, parameter), tensor in places(name, model, nodes).items():
            values = nodes[node][parameter]
            if tensor.data_ptr() not in left or tensor.numel() != values.size:
                raise SystemExit(f"error: {name}: {node}.{parameter} {values.shape} does not fit {tuple(tensor.shape)}")
            tensor.copy_(torch.from_numpy(values).reshape(tensor.shape))
            left.remove(tensor.data_ptr())
        if left:
            raise SystemExit(f"error: {name}: {len(left)} tensors of torchvision have no parameter of Convoke")
        return model(torch.from_numpy(np.ascontiguousarray(samples))).numpy()
