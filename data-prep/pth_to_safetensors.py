#!/usr/bin/env python3
"""Writes the tensors of a PyTorch file of before version 1.6 as safetensors, without PyTorch.

    data-prep/pth_to_safetensors.py MODEL.pth MODEL.safetensors

Such a file is a pickle, and a pickle may call any function of Python. This reader knows the names that tensors need, and
refuses a file with another name. So it runs nothing of the file.
"""
import array
import collections
import json
import pickle
import struct
import sys

STORAGES = {"FloatStorage": ("F32", "f"), "LongStorage": ("I64", "q")}  # the types of safetensors and of Python's array
Tensor = collections.namedtuple("Tensor", "storage first shape strides")


class Reader(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, first, shape, strides, *rest: Tensor(storage, first, shape, strides)
        if module == "torch" and name in STORAGES:
            return name
        raise pickle.UnpicklingError(f"the file names {module}.{name}, which no tensor needs")

    def persistent_load(self, reference):
        kind, key = reference[1:3]
        return kind, key


def elements(tensor, storage):
    """Returns the bytes of a tensor in row-major order; in its storage it may lie in another order."""
    positions = [tensor.first]
    for extent, stride in zip(tensor.shape, tensor.strides):
        positions = [position + k * stride for position in positions for k in range(extent)]
    values = array.array(STORAGES[tensor.storage[0]][1], storage)
    return array.array(values.typecode, (values[position] for position in positions)).tobytes()


def read(path):
    """Returns the name, type, shape and bytes of each tensor."""
    with open(path, "rb") as file:
        for _ in range(3):  # the magic number, the version and the machine
            Reader(file).load()
        tensors = Reader(file).load()
        kinds = {key: kind for kind, key in (tensor.storage for tensor in tensors.values())}
        storages = {}
        for key in Reader(file).load():
            (length,) = struct.unpack("<q", file.read(8))
            storages[key] = file.read(length * array.array(STORAGES[kinds[key]][1]).itemsize)
    return [(name, STORAGES[tensor.storage[0]][0], tensor.shape, elements(tensor, storages[tensor.storage[1]]))
            for name, tensor in tensors.items()]


def write(path, tensors):
    header, end = {}, 0
    for name, kind, shape, data in tensors:
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [end, end + len(data)]}
        end += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for *_, data in tensors:
            file.write(data)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        write(sys.argv[2], read(sys.argv[1]))
    except (pickle.UnpicklingError, ValueError, LookupError, AttributeError, TypeError, struct.error, EOFError) as error:
        sys.exit(f"error: {sys.argv[1]} cannot be read: {error}\n  hint: load it in PyTorch and save it as safetensors (docs/interop.md)")
