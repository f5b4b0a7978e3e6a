"""Makes cifar10/, cifar100/ and the .npz files of the tests of CIFAR and NumPy sources, here (NumPy 2.4).

Values follow from their indices by formulas that the tests repeat.
"""
import pathlib
import zipfile

import numpy as np


def values(shape, start=0):
    """Returns 0, 37, 74, ... modulo 251, counted from `start`, in row-major order."""
    count = int(np.prod(shape))
    return ((np.arange(start, start + count) * 37) % 251).reshape(shape)


def cifar(folder, batches, label_bytes, names, names_file):
    """Writes batches, given by name and labels. Pixel (y, x, c) of picture i of a batch is 7i + 3y + 5x + 11c modulo 256."""
    path = pathlib.Path(folder)
    path.mkdir(exist_ok=True)
    y, x, c = np.meshgrid(np.arange(32), np.arange(32), np.arange(3), indexing="ij")
    for name, labels in batches.items():
        records = []
        for i, label in enumerate(labels):
            image = ((7 * i + 3 * y + 5 * x + 11 * c) % 256).astype("u1")       # (H, W, C)
            head = [label // 5, label][-label_bytes:]
            records.append(np.concatenate([np.array(head, "u1"), np.moveaxis(image, -1, 0).reshape(-1)]))
        np.concatenate(records).tofile(path / name)
    (path / names_file).write_text("".join(f"{name}\n" for name in names) + "\n")


def numpy_files():
    x, labels = values((10, 5, 4)).astype("u1"), np.arange(10) % 3
    np.savez("images.npz", x_train=x, y_train=labels, x_test=values((4, 5, 4), 200).astype("u1"),
             y_test=np.array([2, 1, 0, 2]))
    np.savez_compressed("color.npz", test_labels=labels[:4, None].astype("u1"), train_labels=labels[:, None].astype("u1"),
                        train_images=values((10, 5, 4, 3)).astype("u1"), test_images=values((4, 5, 4, 3), 600).astype("u1"),
                        val_images=values((3, 5, 4, 3), 840).astype("u1"), val_labels=labels[:3, None].astype("u1"))
    np.savez("features.npz", X=values((6, 4)) / 8, y=np.eye(3)[[0, 2, 1, 1, 0, 2]])     # float64, one-hot
    np.savez_compressed("sequences.npz", data=(values((6, 3, 2)) / 8).astype("f4"), targets=np.array([0, 1, 1, 0, 1, 0.0]))
    np.savez("tokens.npz", tokens=values((6, 4)), labels=np.array([0, 1, 0, 1, 1, 0], "i4"))      # int64
    np.savez("bytes_as_features.npz", x=values((6, 4)).astype("u1"), y=np.array([0, 1, 0, 1, 1, 0]))
    np.savez("float_images.npz", images=(values((6, 3, 2, 2)) / 8).astype("f4"), labels=np.array([0, 1, 0, 1, 1, 0]))
    np.savez("gray.npz", x_train=values((3, 8, 8)).astype("u1"), x_test=values((5, 8, 8), 192).astype("u1"),
             y_train=np.arange(3))      # data to be labeled: x_test has no labels

    def savez(file, **arrays):
        np.savez(file, **arrays)

    savez("bad_objects.npz", x=np.array([[1, 2], [3]], dtype=object), y=np.arange(2))
    savez("bad_label_objects.npz", x=x, y=np.array(["a"] * 10, dtype=object))
    savez("bad_texts.npz", x=x, y=np.array(["cat", "dog"] * 5))
    savez("bad_type.npz", x=x.astype("f2"), y=labels)
    savez("bad_order.npz", x=np.asfortranarray(x), y=labels)
    savez("bad_count.npz", x_train=x, y_train=labels[:9])
    savez("bad_rank.npz", x=np.arange(10, dtype="u1"), y=labels)
    savez("bad_whole_images.npz", x=x.astype("i4"), y=labels)
    savez("bad_channels_first.npz", x=values((4, 3, 5, 8)).astype("u1"), y=labels[:4])
    savez("bad_label_rank.npz", x=x, y=labels.reshape(10, 1, 1))
    savez("bad_twice.npz", x_train=x, train_images=x, y_train=labels)
    savez("bad_no_labels.npz", x_train=x, x_test=x, y_train=labels)
    savez("bad_no_samples.npz", y_train=labels)
    savez("bad_names.npz", first=x, second=labels)
    savez("bad_one_class.npz", x=x, y=np.ones(10, "i4"))
    savez("bad_shapes.npz", x_train=x, y_train=labels, x_test=x[:, :4], y_test=labels)
    # Faults of single samples.
    savez("fault_labels.npz", x=x, y=np.array([0, 1, -1, 1, 0, 1, 0, 2**40, 0, 1]))
    savez("fault_label_numbers.npz", x=x, y=np.array([0, 1, 0.5, 1, 0, 1, 0, np.nan, 0, 1]))
    savez("fault_one_hot.npz", x=x[:4], y=np.array([[0, 1], [1, 1], [1, 0], [0, 0]]))
    savez("fault_tokens.npz", x=np.array([[0, 5], [-1, 2], [7, 7], [2**31, 0]]), y=np.array([0, 1, 1, 0]))
    savez("fault_values.npz", x=np.array([[0, 5], [np.nan, 2], [7, 1e300], [1, 1]]), y=np.array([0, 1, 1, 0]))
    # zip64, as if the archive were large, and a packing method that zlib does not have.
    limits = zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT
    zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = 10, 1
    np.savez("zip64.npz", x=x, y=labels)
    zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = limits
    with zipfile.ZipFile("images.npz") as source, zipfile.ZipFile("bad_method.npz", "w", zipfile.ZIP_LZMA) as out:
        for name in source.namelist():
            out.writestr(name, source.read(name))


if __name__ == "__main__":
    ten = {f"data_batch_{b}.bin": [b, (b + 4) % 10] for b in range(1, 6)} | {"test_batch.bin": [9, 0, 3]}
    cifar("cifar10", ten, 1, [f"class {i}" for i in range(10)], "batches.meta.txt")
    cifar("cifar100", {"train.bin": [99, 0, 41], "test.bin": [7, 12]}, 2, [f"fine {i}" for i in range(100)],
          "fine_label_names.txt")
    numpy_files()
