"""Makes augment.h5: what other libraries make of two small images. Run once with each of them:
    python make_augment.py keras        Keras 3.15 (legacy.preprocessing.image), SciPy 1.17, Pillow
    python make_augment.py torchvision  torchvision 0.29 (transforms.v2.functional)"""
import os
import sys

import h5py
import numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))
MODES = ("nearest", "constant", "reflect", "wrap")
# theta, tx, ty, shear, zx, zy
TRANSFORMS = np.array([[0, 0, 0, 0, 1, 1], [30, 0, 0, 0, 1, 1], [-17, 2.5, -1.25, 0, 1, 1], [0, 3, -2, 0, 1, 1],
                       [0, 0, 0, 25, 1, 1], [0, 0, 0, 0, 0.7, 1.6], [200, -1.5, 4.2, -12, 1.3, 0.8],
                       [5, 40, -33, 0, 1, 1]])


def images():
    """Makes a smooth image with noise, so that a wrong place or neighbor shows."""
    rng = np.random.default_rng(9)
    y, x = np.mgrid[0:12, 0:12]
    square = np.stack([128 + 90 * np.sin(y / 3 + x / 4), 20 * y, 255 - 18 * x], -1) + rng.normal(0, 9, (12, 12, 3))
    y, x = np.mgrid[0:9, 0:14]
    wide = (15 * x + 5 * y)[..., None] + rng.normal(0, 9, (9, 14, 1))
    return [np.clip(image, 0, 255).astype("uint8") for image in (square, wide)]


def keras():
    import scipy.ndimage
    from keras.src.legacy.preprocessing import image as K
    square, wide = images()
    result = {"square": square, "wide": wide, "transforms": TRANSFORMS}
    for mode in MODES:
        result[f"affine/{mode}"] = np.stack([
            K.apply_affine_transform(square.astype("float32"), *t, row_axis=0, col_axis=1, channel_axis=2,
                                     fill_mode=mode, cval=37.0, order=1) for t in TRANSFORMS])
        # Keras takes a wrong center for images that are not square, so this calls SciPy itself with the right
        # matrix.
        result[f"affine_wide/{mode}"] = np.stack([scipy_affine(scipy.ndimage, wide, t, mode) for t in TRANSFORMS])
    result["brightness"] = np.stack([K.apply_brightness_shift(square.astype("float32"), b, scale=False)
                                     for b in (0.5, 0.9, 1.7)])
    result["channel_shift"] = np.stack([K.apply_channel_shift(square.astype("float32"), s, 2) for s in (-60.0, 25.5)])
    return result


def scipy_affine(ndimage, image, transform, mode):
    theta, tx, ty, shear, zx, zy = transform
    t, s = np.deg2rad(theta), np.deg2rad(shear)
    matrix = (np.array([[np.cos(t), -np.sin(t), 0], [np.sin(t), np.cos(t), 0], [0, 0, 1]])
              @ np.array([[1, 0, tx], [0, 1, ty], [0, 0, 1]])
              @ np.array([[1, -np.sin(s), 0], [0, np.cos(s), 0], [0, 0, 1]]) @ np.diag([zx, zy, 1]))
    h, w = image.shape[:2]
    center = np.array([[1, 0, w / 2 - 0.5], [0, 1, h / 2 - 0.5], [0, 0, 1]])
    matrix = (center @ matrix @ np.linalg.inv(center))[[1, 0, 2]][:, [1, 0, 2]]  # of (row, column)
    return ndimage.affine_transform(image[..., 0].astype("float32"), matrix[:2, :2], matrix[:2, 2], order=1, mode=mode,
                                    cval=37.0)[..., None]


def torchvision():
    import torch
    from torchvision.transforms.v2 import functional as F
    square = torch.from_numpy(images()[0]).permute(2, 0, 1)
    floats = square.float() / 255
    made = {
        "contrast": [F.adjust_contrast(floats, a) * 255 for a in (0.3, 1.8)],
        "saturation": [F.adjust_saturation(floats, a) * 255 for a in (0.0, 0.4, 1.9)],
        "hue": [F.adjust_hue(floats, a) * 255 for a in (-0.5, -0.13, 0.3, 0.5)],
        "sharpness": [F.adjust_sharpness(floats, a) * 255 for a in (0.1, 1.9)],
        "posterize": [F.posterize(square, b) for b in (4, 6)],
        "solarize": [F.solarize(square, 100), F.solarize(square, 250)],
        "autocontrast": [F.autocontrast(floats) * 255],
        "equalize": [F.equalize(square)],
        # A stretched part of the image: rows 3..9, columns 2..7 (its border takes neighbors from within the
        # part).
        "resized_crop": [F.resized_crop(square.float(), 3, 2, 6, 5, [12, 12], antialias=False)]}
    return {name: np.stack([image.permute(1, 2, 0).float().numpy() for image in list]) for name, list in made.items()}


with h5py.File("augment.h5", "a") as f:
    for name, values in globals()[sys.argv[1]]().items():
        if name in f:
            del f[name]
        f.create_dataset(name, data=values if values.dtype == np.uint8 else values.astype("float32"))
