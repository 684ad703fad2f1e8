"""Pictures that are opened, whatever their name."""

import numpy as np

_CHANNELS = {"L": (), "RGB": (3,)}


class Picture:
    def __init__(self, mode="RGB", size=(48, 40)):
        self.mode, self.size = mode, size

    def convert(self, mode):
        return Picture(mode, self.size)

    def resize(self, size):
        return Picture(self.mode, size)

    def __array__(self, dtype=None, copy=None):
        width, height = self.size
        return np.zeros((height, width, *_CHANNELS[self.mode]), dtype=dtype or np.uint8)


def open(path):  # as Pillow calls it
    return Picture()
