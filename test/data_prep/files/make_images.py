"""Makes rgb.png, rgb.bmp and alpha.png (Pillow 13), whose pixels pictures/decode_test.cpp expects."""
import numpy as np
from PIL import Image

y, x = np.mgrid[0:6, 0:8]
rgb = np.stack([20 * x + 10 * y, 255 - 20 * x, (x * y * 7) % 256], axis=-1).astype("u1")
Image.fromarray(rgb).save("rgb.png")
Image.fromarray(rgb).save("rgb.bmp")
alpha = np.dstack([rgb, np.full((6, 8), 100, "u1")])
Image.fromarray(alpha).save("alpha.png")
