"""TensorFlow.js layers-models for compare_keras.py: written from, and read into, models of tf_keras."""
import json
import os

import numpy as np


def name_of(variable):
    return variable.name.split(":")[0]


def save(model, folder, quantized=None, shard_bytes=1 << 22):
    """Writes model.json and shards. quantized: "uint8", "uint16", "float16" or None."""
    os.makedirs(folder, exist_ok=True)
    entries, data = [], b""
    for layer in model.layers:
        for v in layer.weights:
            values = np.asarray(v.numpy(), "float32")
            entry = {"name": name_of(v), "shape": list(values.shape), "dtype": "float32"}
            if quantized == "float16":
                values = values.astype("float16")
                entry["quantization"] = {"dtype": "float16", "original_dtype": "float32"}
            elif quantized:
                least, most = float(values.min()), float(values.max())
                scale = (most - least) / np.iinfo(quantized).max or 1.0
                values = np.round((values - least) / scale).astype(quantized)
                entry["quantization"] = {"dtype": quantized, "scale": scale, "min": least, "original_dtype": "float32"}
            entries.append(entry)
            data += values.tobytes()
    count = max(1, -(-len(data) // shard_bytes))
    paths = [f"group1-shard{i + 1}of{count}.bin" for i in range(count)]
    for i, path in enumerate(paths):
        with open(os.path.join(folder, path), "wb") as f:
            f.write(data[i * shard_bytes:(i + 1) * shard_bytes])
    topology = json.loads(model.to_json())
    description = {"format": "layers-model", "generatedBy": f"keras v{topology['keras_version']}", "convertedBy": "test/interop/tfjs_files.py",
                   "modelTopology": {"keras_version": topology.pop("keras_version"), "backend": topology.pop("backend"), "model_config": topology},
                   "weightsManifest": [{"paths": paths, "weights": entries}]}
    file = os.path.join(folder, "model.json")
    with open(file, "w") as f:
        json.dump(description, f)
    return file


def load(keras, file):
    """Returns the model of tf_keras with the weights of the shards."""
    with open(file) as f:
        description = json.load(f)
    topology = description["modelTopology"]
    model = keras.models.model_from_json(json.dumps(topology["model_config"]))
    values = {}
    for group in description["weightsManifest"]:
        data = b"".join(open(os.path.join(os.path.dirname(file), path), "rb").read() for path in group["paths"])
        at = 0
        for entry in group["weights"]:
            q = entry.get("quantization", {})
            dtype = np.dtype(q.get("dtype", entry["dtype"]))
            count = int(np.prod(entry["shape"]))
            raw = np.frombuffer(data, dtype, count, at).reshape(entry["shape"])
            at += count * dtype.itemsize
            values[entry["name"]] = (raw.astype("float64") * q.get("scale", 1) + q.get("min", 0)).astype("float32")
    for v in model.weights:
        v.assign(values[name_of(v)])
    return model
