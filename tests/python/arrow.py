"""A small producer of Arrow's C data interface, for there is no pyarrow in Debian."""

import ctypes
import struct

_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Schema(ctypes.Structure):
    pass


class Data(ctypes.Structure):
    pass


class StreamOf(ctypes.Structure):
    pass


_free_schema = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
_free_data = ctypes.CFUNCTYPE(None, ctypes.POINTER(Data))
_free_stream = ctypes.CFUNCTYPE(None, ctypes.POINTER(StreamOf))
_get_schema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(StreamOf), ctypes.POINTER(Schema))
_get_data = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(StreamOf), ctypes.POINTER(Data))
_get_error = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(StreamOf))

Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                   ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p),
                   ("dictionary", ctypes.c_void_p), ("release", _free_schema), ("private", ctypes.c_void_p)]
Data._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                 ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                 ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.c_void_p),
                 ("dictionary", ctypes.c_void_p), ("release", _free_data), ("private", ctypes.c_void_p)]
StreamOf._fields_ = [("get_schema", _get_schema), ("get_next", _get_data), ("get_last_error", _get_error),
                     ("release", _free_stream), ("private", ctypes.c_void_p)]


class Values:
    """An array: its format, its buffers (validity first), and how many values of it are given."""

    def __init__(self, format, buffers, length, null_count, offset):
        self.format, self.buffers, self.length = format, buffers, length
        self.null_count, self.offset = null_count, offset
        self.given = self.returned = 0
        self.format_bytes = format.encode()  # a schema points to it
        self.dictionary = None  # Values
        self.pointers = (ctypes.c_void_p * len(buffers))(
            *(buffer if buffer is None else ctypes.addressof(buffer) for buffer in buffers))
        # Kept, since a consumer calls them.
        self.free_schema = _free_schema(lambda schema: setattr(schema.contents, "release", _free_schema()))
        self.free_data = _free_data(self._free)

    def _free(self, data):
        self.returned += 1
        data.contents.release = _free_data()

    def schema(self):
        self.kept = self.dictionary and self.dictionary.schema()
        return Schema(self.format_bytes, b"", None, 2, 0, None, self.kept and ctypes.addressof(self.kept),
                      self.free_schema, None)

    def data(self):
        self.given += 1
        return Data(self.length, self.null_count, self.offset, len(self.buffers), 0, self.pointers, None, None,
                    self.free_data, None)

    def released(self):
        """Whether a consumer has let go of all that a stream gave it; an array is its producer's to release."""
        return self.returned in (0, self.given)


def _valid(values):
    bits = bytearray((len(values) + 7) // 8)
    for i, value in enumerate(values):
        bits[i // 8] |= (value is not None) << i % 8
    return _buffer(bits)


def _buffer(content):
    return (ctypes.c_char * max(1, len(content))).from_buffer_copy(bytes(content) or b"\0")


def _made(format, buffers, values, offset):
    return Values(format, [_valid(values), *buffers], len(values) - offset, -1, offset)


def strings(words, large, binary, offset):
    offsets, joined = [0], b""
    for word in words:
        joined += (word or "").encode()
        offsets.append(len(joined))
    number = ctypes.c_int64 if large else ctypes.c_int32
    return _made(("Z" if large else "z") if binary else ("U" if large else "u"),
                 [(number * len(offsets))(*offsets), _buffer(joined)], words, offset)


def views(words, binary, offset, shift=0):
    """In two buffers by turns; `shift` is added to the places of all that does not fit into a view."""
    joined, content = [b"--", b"++"], b""
    for i, word in enumerate(words):
        text = (word or "").encode()
        if len(text) <= 12:
            content += struct.pack("<i12s", len(text), text)
        else:
            content += struct.pack("<i4sii", len(text), text[:4], i % 2, len(joined[i % 2]) + shift)
            joined[i % 2] += text
    sizes = (ctypes.c_int64 * 2)(*map(len, joined))
    return _made("vz" if binary else "vu", [_buffer(content), *map(_buffer, joined), sizes], words, offset)


def integers(values, offset):
    return _made("l", [(ctypes.c_int64 * len(values))(*(value or 0 for value in values))], values, offset)


def fixed(values, offset):
    width = max(len(value) for value in values if value)
    return _made(f"w:{width}", [_buffer(b"".join(value or bytes(width) for value in values))], values, offset)


class Array:
    def __init__(self, values):
        self.values = values

    def __arrow_c_array__(self, requested_schema=None):
        self.kept = self.values.schema(), self.values.data()
        return (_new(ctypes.addressof(self.kept[0]), b"arrow_schema", None),
                _new(ctypes.addressof(self.kept[1]), b"arrow_array", None))


class Stream:
    """`failing` is a function of the stream that fails, and `text` what it then says."""

    def __init__(self, arrays, failing=None, text=""):
        self.arrays, self.failing, self.text = arrays, failing, text.encode()

    def __arrow_c_stream__(self, requested_schema=None):
        left = list(self.arrays)

        def get_schema(_, out):
            if self.failing == "get_schema":
                return 5
            ctypes.memmove(out, ctypes.byref(self.arrays[0].schema()), ctypes.sizeof(Schema))
            return 0

        def get_next(_, out):
            if self.failing == "get_next":
                return 5
            data = left.pop(0).data() if left else Data()
            ctypes.memmove(out, ctypes.byref(data), ctypes.sizeof(Data))
            return 0

        said = self.said = ctypes.create_string_buffer(self.text)
        self.kept = StreamOf(_get_schema(get_schema), _get_data(get_next), _get_error(lambda _: ctypes.addressof(said)),
                             _free_stream(lambda _: None), None)
        return _new(ctypes.addressof(self.kept), b"arrow_array_stream", None)
