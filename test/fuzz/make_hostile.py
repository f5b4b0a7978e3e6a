#!/usr/bin/env python3
"""Makes the hostile files of hostile/inputs and hostile/models: each tries to cost memory or time, to overflow a size, to
read another file, or to end in endless recursion. The name says how. Needs h5py.

    python3 test/fuzz/make_hostile.py
"""
import gzip
import io
import json
import os
import struct
import zlib

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hostile")
DEEP = 50_000
HUGE = (1 << 63) - 1


def write(kind, name, data):
    path = os.path.join(HERE, kind, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


# --- .npy and zip ---


def npy(header, data=b"", version=1, length=None):
    header = header.encode() + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", len(header) if length is None else length) + header + data


def npy_files():
    one = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }"
    write("inputs", "shape_overflows.npy", npy(one % ("<f4", "(1099511627776, 1099511627776)"), b"x" * 64))
    write("inputs", "shape_negative.npy", npy(one % ("<f4", "(-4, 4)"), b"x" * 64))
    write("inputs", "shape_of_many_zeros.npy", npy(one % ("<f4", "(" + "0, " * 10000 + ")"), b""))
    write("inputs", "objects.npy", npy(one % ("|O", "(1,)"), b"cos\nsystem\n(S'true'\ntR."))
    write("inputs", "header_longer_than_file.npy", npy(one % ("<f4", "(1,)"), length=65535))
    write("inputs", "descr_nested.npy", npy("{'descr': " + "[" * 30000 + "}", version=1))
    write("inputs", "version_9.npy", npy(one % ("<f4", "(1,)"), b"abcd", version=9))


def zip_file(members, count=None, directory_offset=None, local_offset=None):
    """members: (name, method, packed bytes, size); stored ones get the right checksum."""
    data, directory = b"", b""
    for name, method, packed, size in members:
        name, crc = name.encode(), zlib.crc32(packed)
        offset = len(data) if local_offset is None else local_offset
        data += struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, method, 0, 0, crc, len(packed), size, len(name), 0) + name + packed
        directory += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, method, 0, 0, crc, len(packed), size,
                                 len(name), 0, 0, 0, 0, 0, offset) + name
    start = len(data) if directory_offset is None else directory_offset
    count = len(members) if count is None else count
    return data + directory + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(directory), start, 0)


def zip_files():
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = packer.compress(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (50000000,), }") + bytes(50_000_000)) + packer.flush()
    write("inputs", "bomb_of_50_MB.npz", zip_file([("images.npy", 8, bomb, 50_000_000)]))
    write("inputs", "size_lies.npz", zip_file([("images.npy", 8, bomb[:2000], 0xFFFFFFF0)]))
    write("inputs", "65535_members.npz", zip_file([("x.npy", 0, b"abc", 3)], count=65535))
    write("inputs", "directory_outside.npz", zip_file([("x.npy", 0, b"abc", 3)], directory_offset=0x7FFFFFFF))
    write("inputs", "local_header_outside.npz", zip_file([("x.npy", 0, b"abc", 3)], local_offset=0x7FFFFFFF))
    write("inputs", "all_members_overlap.npz", zip_file([(f"images{i}.npy", 0, b"", 1000) for i in range(200)], local_offset=0))
    write("inputs", "path_upwards.npz", zip_file([("../../../../tmp/images.npy", 0, npy("{}"), 80)]))
    write("inputs", "method_99.npz", zip_file([("x.npy", 99, b"abc", 3)]))
    zip64 = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, HUGE, HUGE, HUGE, HUGE)
    write("inputs", "zip64_of_2_to_63.npz", zip64 + struct.pack("<IIQI", 0x07064B50, 0, 0, 1) +
          struct.pack("<IHHHHIIH", 0x06054B50, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))


# --- tar and TFRecord ---


def tar_header(name, size, kind=b"0"):
    field = size if isinstance(size, bytes) else b"%011o\0" % size
    header = name.encode().ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + field + b"00000000000\0" + b" " * 8 + kind
    header = header.ljust(257, b"\0") + b"ustar\00000"
    header = header.ljust(512, b"\0")
    return header[:148] + b"%06o\0 " % sum(header) + header[156:]


def tar_files():
    write("inputs", "size_of_8_GiB.tar", tar_header("a.jpg", 0o77777777777) + b"x" * 512)
    write("inputs", "size_negative.tar", tar_header("a.jpg", b"\xff" * 12) + b"x" * 512)
    write("inputs", "size_of_2_to_63.tar", tar_header("a.jpg", b"\x80" + b"\0" * 3 + struct.pack(">Q", HUGE)) + b"x" * 512)
    write("inputs", "long_name_of_8_GiB.tar", tar_header("././@LongLink", 0o77777777777, b"L") + b"x" * 512)
    write("inputs", "pax_length_lies.tar", tar_header("pax", 40, b"x") + b"999999999999 path=a\n".ljust(512, b"\0") + tar_header("a.jpg", 0))
    write("inputs", "path_upwards.tar", tar_header("../../../../etc/a.jpg", 3) + b"abc".ljust(512, b"\0") +
          tar_header("../../../../etc/a.cls", 1) + b"1".ljust(512, b"\0") + bytes(1024))
    write("inputs", "link.tar", tar_header("a.jpg", 0, b"2") + bytes(1024))
    write("inputs", "headers_only.tar", tar_header("a.jpg", 0) * 60)
    write("inputs", "bomb.tar.gz", gzip.compress(tar_header("a.jpg", 50_000_000) + bytes(50_000_000), mtime=0))
    write("inputs", "gzip_in_gzip.tar.gz", gzip.compress(gzip.compress(bytes(1000), mtime=0), mtime=0))


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data, length=None):
    head = struct.pack("<Q", len(data) if length is None else length)
    return head + crc32c(head) + data + crc32c(data)


def varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, data):
    """A field of a protocol buffer: bytes, text, or an integer."""
    if isinstance(data, int):
        return varint(number << 3) + varint(data & ((1 << 64) - 1))
    data = data if isinstance(data, bytes) else data.encode()
    return varint(number << 3 | 2) + varint(len(data)) + data


def nested(number, depth):
    data = b""
    for _ in range(depth):
        data = field(number, data)
    return data


def record_files():
    write("inputs", "length_of_2_to_63.tfrecord", record(b"abc", HUGE))
    write("inputs", "length_of_2_to_64.tfrecord", record(b"abc", (1 << 64) - 4))
    write("inputs", "nested.tfrecord", record(nested(1, 8000)))
    write("inputs", "endless_varint.tfrecord", record(b"\x0a" + b"\xff" * 2000))
    write("inputs", "part_longer_than_whole.tfrecord", record(b"\x0a" + varint(HUGE) + b"abc"))
    write("inputs", "many_features.tfrecord", record(field(1, field(1, b"") * 5000)))
    feature = lambda name, kind, value: field(1, field(1, name) + field(2, field(kind, field(1, value))))
    write("inputs", "label_of_2_to_63.tfrecord", record(field(1, feature("label", 3, HUGE) + feature("image_raw", 1, b"abcd"))))


# --- IDX and tables ---


def plain_files():
    idx = lambda kind, *sizes: struct.pack(">HBB", 0, kind, len(sizes) & 0xFF) + b"".join(struct.pack(">I", s) for s in sizes)
    write("inputs", "sizes_overflow-images-idx3-ubyte", idx(8, 0x80000000, 0x80000000, 0x80000000) + b"x" * 100)
    write("inputs", "no_images-images-idx3-ubyte", idx(8, 0, 28, 28))
    write("inputs", "empty_images-images-idx3-ubyte", idx(8, 0xFFFFFFFF, 0, 0))
    write("inputs", "255_sizes-images-idx3-ubyte", idx(8, *[2] * 255))
    write("inputs", "line_of_100_kB.csv", "a,b\n" + "x" * 100_000)
    write("inputs", "endless_quote.csv", 'a,b\n1,"' + "x\n" * 20_000)
    write("inputs", "5000_columns.csv", ",".join(f"c{i}" for i in range(5_000)) + "\n" + "1," * 5_000 + "1\n")
    write("inputs", "bytes_of_all_kinds.csv", bytes(range(256)) * 40)
    write("inputs", "numbers.csv", "label,x\n1,1e999999\n2,-nan(0x7fffff)\n" + "3," + "9" * 5000 + "\n")
    write("inputs", "nested.jsonl", "[" * DEEP)
    write("inputs", "nested_objects.jsonl", '{"a":' * 15_000)
    write("inputs", "numbers.jsonl", '{"epoch": 1e999999, "step": -99999999999999999999999, "loss": "\\ud800"}\n' * 3)
    write("inputs", "nested.toml", "a = " + "[" * DEEP)
    write("inputs", "nested_tables.toml", "a = " + "{ a = " * 5_000)
    write("inputs", "dotted.toml", ".".join(["a"] * 10_000) + " = 1\n")
    network = '[data]\npath = "x.h5"\n[model]\ninput = %s\nlayers = [%s]\n[train]\nepochs = 1\nbatch = 1\n'
    dense = '{ layer = "dense", units = %d }'
    write("inputs", "units_of_2_to_63.toml", network % ([1, 8, 8], dense % HUGE))
    write("inputs", "input_overflows.toml", network % ([2147483647] * 3, dense % 2))
    write("inputs", "kernel_of_2_to_31.toml", network % ([1, 8, 8], '{ layer = "conv2d", filters = 1, kernel = 2147483647, padding = "same" }'))
    write("inputs", "stride_0.toml", network % ([1, 8, 8], '{ layer = "conv2d", filters = 1, kernel = 1, stride = 0 }'))
    write("inputs", "extends_itself.toml", 'extends = "extends_itself.toml"\n')
    write("inputs", "study_of_2_to_60_runs.toml", 'name = "x"\nrecipe = "mnist-sync"\nranks = [1, 2]\nrepeats = 9223372036854775807\n' +
          "[grid]\n" + "".join(f"train.x{i} = [1, 2]\n" for i in range(60)))


# --- pictures ---


def png(width, height, data, depth=8, color=2, chunks=b""):
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)) + chunks +
            chunk(b"IDAT", data) + chunk(b"IEND", b""))


def picture_files():
    write("inputs", "2_to_31_pixels_wide.png", png(0x7FFFFFFF, 0x7FFFFFFF, zlib.compress(b"x")))
    write("inputs", "178_million_pixels.png", png(13377, 13377, zlib.compress(bytes(1000)), 8, 0))
    write("inputs", "bomb.png", png(16, 16, zlib.compress(bytes(50_000_000), 9)))
    write("inputs", "no_palette.png", png(4, 4, zlib.compress(b"\0\xff\xff\xff\xff" * 4), 8, 3))
    write("inputs", "chunk_of_4_GiB.png", png(4, 4, b"x", chunks=struct.pack(">I", 0xFFFFFFFF) + b"tEXt"))
    bmp = lambda width, height, bits, used=0: (b"BM" + struct.pack("<IHHI", 1000, 0, 0, 54) + struct.pack(
        "<IiiHHIIiiII", 40, width, height, 1, bits, 0, 0, 0, 0, used, 0) + b"\xff" * 200)
    write("inputs", "height_of_minus_2_to_31.bmp", bmp(8, -2147483648, 24))
    write("inputs", "width_0.bmp", bmp(0, 8, 24))
    write("inputs", "palette_of_4_billion.bmp", bmp(8, 8, 8, 0xFFFFFFFF))
    write("inputs", "size_overflows.bmp", bmp(0x7FFFFFFF, 0x7FFFFFFF, 32))
    frame = lambda kind, width, height: b"\xff" + kind + struct.pack(">HBHHB", 17, 8, height, width, 3) + b"\x01\x22\x00\x02\x11\x01\x03\x11\x01"
    write("inputs", "65500_pixels_square.jpg", b"\xff\xd8" + frame(b"\xc0", 65500, 65500) + b"\xff\xd9")
    scan = b"\xff\xda\x00\x08\x01\x01\x00\x01\x3f\x00" + b"\x00" * 4
    write("inputs", "2000_scans.jpg", b"\xff\xd8" + frame(b"\xc2", 4000, 4000) + scan * 2000 + b"\xff\xd9")
    write("inputs", "markers_only.jpg", b"\xff\xd8" + b"\xff\xe1\x00\x02" * 8_000)


# --- models of other programs ---


def safetensors(header, data=b"", length=None):
    header = (header if isinstance(header, str) else json.dumps(header)).encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def safetensors_files():
    tensor = lambda shape, begin, end, kind="F32": {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}
    write("models", "header_of_2_to_64.safetensors", safetensors("{}", length=(1 << 64) - 1))
    write("models", "shape_overflows.safetensors", safetensors({"a": tensor([1 << 40, 1 << 40], 0, 4)}, b"abcd"))
    write("models", "shape_negative.safetensors", safetensors({"a": tensor([-1, -4], 0, 16)}, b"x" * 16))
    write("models", "end_before_begin.safetensors", safetensors({"a": tensor([1], 8, 4)}, b"x" * 16))
    write("models", "offset_of_2_to_63.safetensors", safetensors({"a": tensor([1], HUGE - 3, HUGE + 1)}, b"x" * 16))
    write("models", "overlapping.safetensors", safetensors({str(i): tensor([4], 0, 16) for i in range(500)}, b"x" * 16))
    write("models", "unknown_type.safetensors", safetensors({"a": tensor([1], 0, 4, "F" * 1000)}, b"x" * 16))
    write("models", "nested.safetensors", safetensors('{"a":' * 15_000))


FLOAT, INT64 = 1, 7


def tensor_proto(name, kind, dims, raw=b"", extra=b""):
    return b"".join(field(1, d) for d in dims) + field(2, kind) + field(8, name) + (field(9, raw) if raw else b"") + extra


def value_info(name, *dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, shape)))


def node(kind, inputs, outputs, attributes=b""):
    return b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + field(3, outputs[0]) + field(4, kind) + attributes


def onnx(nodes, initializers=(), inputs=None, output="y"):
    graph = b"".join(field(1, n) for n in nodes) + field(2, "g") + b"".join(field(5, i) for i in initializers)
    graph += field(11, inputs or value_info("x", 1, 1, 8, 8)) + field(12, value_info(output, 1, 2))
    return field(1, 8) + field(7, graph) + field(8, field(2, 17))


def integers(name, *values):
    return tensor_proto(name, INT64, [len(values)], struct.pack(f"<{len(values)}q", *values))


def onnx_files():
    relu = node("Relu", ["x"], ["y"])
    grow = lambda kind, inputs, values: onnx([node(kind, inputs, ["big"]), node("Add", ["x", "big"], ["y"])], values)
    write("models", "constant_of_2_to_60.onnx", grow("ConstantOfShape", ["s"], [integers("s", 1 << 30, 1 << 30)]))
    write("models", "tile_2_to_60_times.onnx", grow("Tile", ["a", "r"], [integers("a", 1, 2), integers("r", 1 << 60)]))
    write("models", "expand_to_2_to_60.onnx", grow("Expand", ["a", "s"], [integers("a", 1), integers("s", 1 << 30, 1 << 30)]))
    write("models", "range_to_2_to_60.onnx", grow("Range", ["a", "b", "c"], [integers("a", 0), integers("b", 1 << 60), integers("c", 1)]))
    write("models", "range_by_0.onnx", grow("Range", ["a", "b", "c"], [integers("a", 0), integers("b", 9), integers("c", 0)]))
    write("models", "pad_of_2_to_60.onnx", grow("Pad", ["a", "p"], [integers("a", 1), integers("p", 1 << 60, 1 << 60)]))
    doubled = [node("Concat", [f"c{i}", f"c{i}"], [f"c{i + 1}"], field(5, field(1, "axis") + field(3, 0) + field(20, 2))) for i in range(60)]
    write("models", "concat_doubled_60_times.onnx", onnx(doubled + [node("Add", ["x", "c60"], ["y"])], [integers("c0", 1, 2)]))
    write("models", "constant_doubled_60_times.onnx",
          onnx([node("Add", [f"x{i}" if i else "x", f"x{i}" if i else "x"], [f"x{i + 1}"]) for i in range(2000)], output="x2000"))
    write("models", "node_reads_itself.onnx", onnx([node("Add", ["x", "y"], ["y"])]))
    write("models", "two_nodes_in_a_circle.onnx", onnx([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"])], output="b"))
    write("models", "dims_overflow.onnx", onnx([relu], [tensor_proto("w", FLOAT, [1 << 40, 1 << 40], b"abcd")]))
    write("models", "dims_negative.onnx", onnx([relu], [tensor_proto("w", FLOAT, [-2, -2], b"x" * 16)]))
    write("models", "data_too_short.onnx", onnx([node("MatMul", ["x", "w"], ["y"])], [tensor_proto("w", FLOAT, [8, 1000], b"abcd")]))
    write("models", "input_overflows.onnx", onnx([relu], inputs=value_info("x", 1, 1 << 40, 1 << 40, 1 << 40)))
    write("models", "nested_graphs.onnx", field(7, nested(1, 8000)))
    subgraph = b""
    for _ in range(3000):
        subgraph = field(1, node("If", ["x"], ["y"], field(5, field(1, "then_branch") + field(6, subgraph) + field(20, 5))))
    write("models", "nested_branches.onnx", field(1, 8) + field(7, subgraph))
    outside = lambda place, *rest: field(14, 1) + field(13, field(1, "location") + field(2, place)) + b"".join(rest)
    for name, place in (("passwd", "/etc/passwd"), ("upwards", "../../../../../../../../etc/passwd"), ("device", "/dev/zero"), ("itself", ".")):
        write("models", f"weights_in_{name}.onnx",
              onnx([node("MatMul", ["x", "w"], ["y"])], [tensor_proto("w", FLOAT, [8, 2], extra=outside(place))]))


def keras_zip(config):
    import h5py
    weights = io.BytesIO()
    h5py.File(weights, "w").close()
    text = config if isinstance(config, str) else json.dumps(config)
    return zip_file([("metadata.json", 0, b"{}", 2), ("config.json", 0, text.encode(), len(text)),
                     ("model.weights.h5", 0, weights.getvalue(), len(weights.getvalue()))])


def keras_files():
    layer = lambda kind, **config: {"class_name": kind, "config": {"name": kind.lower(), **config}}
    network = lambda *layers: {"class_name": "Sequential", "config": {"name": "s", "layers": [
        layer("InputLayer", batch_shape=[None, 8, 8, 1]), *layers]}}
    write("models", "nested.keras", keras_zip("[" * DEEP))
    write("models", "units_of_2_to_63.keras", keras_zip(network(layer("Dense", units=HUGE))))
    write("models", "kernel_of_2_to_31.keras", keras_zip(network(layer("Conv2D", filters=1, kernel_size=[1 << 31, 1 << 31]))))
    write("models", "lambda.keras", keras_zip(network(layer("Lambda", function={"class_name": "__lambda__", "config": {"code": "4wE="}}))))
    sequence = layer("Flatten")
    for _ in range(2000):
        sequence = {"class_name": "Sequential", "config": {"name": "s", "layers": [sequence]}}
    write("models", "nested_models.keras", keras_zip(json_text(sequence)))
    inbound = [{"args": [{"class_name": "__keras_tensor__", "config": {"keras_history": ["a", 0, 0]}}], "kwargs": {}}]
    circle = {"class_name": "Functional", "config": {"name": "f", "layers": [
        {"class_name": "ReLU", "name": "a", "config": {"name": "a"}, "inbound_nodes": inbound}],
        "input_layers": [["a", 0, 0]], "output_layers": [["a", 0, 0]]}}
    write("models", "layer_reads_itself.keras", keras_zip(circle))


def json_text(value):
    """json.dumps without its limit of recursion."""
    import sys
    sys.setrecursionlimit(100_000)
    return json.dumps(value)


def tfjs_files():
    def manifest(name, paths, weights):
        write("models", f"{name}.json", json.dumps({"format": "layers-model", "modelTopology": {"model_config": {
            "class_name": "Sequential", "config": {"layers": [
                {"class_name": "Dense", "config": {"name": "d", "units": 2, "batch_input_shape": [None, 8]}}]}}},
            "weightsManifest": [{"paths": paths, "weights": weights}]}))
    weight = lambda shape, **more: [{"name": "d/kernel", "shape": shape, "dtype": "float32", **more}, {"name": "d/bias", "shape": [2], "dtype": "float32"}]
    manifest("weights_in_passwd", ["/etc/passwd"], weight([8, 2]))
    manifest("weights_upwards", ["../../../../../../../../etc/passwd"], weight([8, 2]))
    manifest("weights_in_device", ["/dev/zero"], weight([1 << 20, 1 << 20]))
    manifest("shape_overflows", ["w.bin"], weight([1 << 40, 1 << 40]))
    manifest("quantized_by_nan", ["w.bin"], weight([8, 2], quantization={"dtype": "uint8", "scale": "nan", "min": None}))


def hdf5_files():
    import h5py
    import numpy

    def open_file(kind, name):
        os.makedirs(os.path.join(HERE, kind), exist_ok=True)
        return h5py.File(os.path.join(HERE, kind, name), "w", libver="earliest", track_order=False)

    # Datasets whose pixels lie in another file, in three ways that HDF5 has.
    def dataset(name, make_images, samples=4, shape=(4, 4, 1)):
        with open_file("inputs", name) as file:
            text = lambda value: numpy.array(value, h5py.string_dtype())
            file.attrs.update({"convoke_format": text("dataset"), "format_version": numpy.int64(1), "classes": numpy.int64(2),
                               "sample_shape": numpy.array(shape), "channel_mean": [0.5], "channel_std": [1.0],
                               "class_names": numpy.array([], h5py.string_dtype()), "content_hash": text("crc32:0"),
                               "provenance": text("hostile")})
            for split in ("train", "test"):
                group = file.create_group(split)
                make_images(group)
                group.create_dataset("labels", data=numpy.zeros(samples, "i4"))

    dataset("pixels_in_passwd.h5", lambda group: group.create_dataset("samples", (4, 4, 4, 1), "u1", external=[("/etc/passwd", 0, 64)]))
    dataset("linked_to_another_file.h5", lambda group: group.__setitem__("samples", h5py.ExternalLink("/etc/passwd", "/samples")))

    def virtual(group):
        layout = h5py.VirtualLayout((4, 4, 4, 1), "u1")
        layout[:] = h5py.VirtualSource("/etc/passwd", "samples", (4, 4, 4, 1), "u1")
        group.create_virtual_dataset("samples", layout)
    dataset("virtual_of_another_file.h5", virtual)
    dataset("4_exabytes.h5", lambda group: group.create_dataset("samples", (1 << 20, 1 << 20, 1 << 21, 1), "u1", chunks=(1, 64, 64, 1)), 4, (1 << 20, 1 << 21, 1))
    dataset("no_samples.h5", lambda group: group.create_dataset("samples", (0, 4, 4, 1), "u1"), 0)
    dataset("chunk_of_1_GiB.h5", lambda group: group.create_dataset("samples", (4, 16384, 16384, 1), "u1", chunks=(4, 16384, 16384, 1), compression="gzip"), 4, (16384, 16384, 1))

    def circle(group):
        group["samples"] = h5py.SoftLink("samples")
    dataset("link_to_itself.h5", circle)
    with open_file("models", "group_in_itself.h5") as file:
        group = file.create_group("model_weights")
        group["again"] = group
        file.attrs["model_config"] = "{}"


if __name__ == "__main__":
    for make in (npy_files, zip_files, tar_files, record_files, plain_files, picture_files, safetensors_files, onnx_files,
                 keras_files, tfjs_files, hdf5_files):
        make()
    for kind in ("inputs", "models"):
        print(len(os.listdir(os.path.join(HERE, kind))), "hostile", kind)
