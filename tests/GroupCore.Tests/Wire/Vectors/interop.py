"""Two-way proof that Ida's wire encoding is MessagePack: the side of Python (Debian's python3-msgpack).

Reads ida.json (bytes that Ida wrote, each with the value that they mean, made by InteropTests with IDA_ACCEPT_WIRE=1) from this folder and
prints python.json:
  values     values packed by Python, which Ida must read as that value and write as the same bytes
  reencoded  every entry of ida.json, unpacked by Python, compared with its meaning, and packed again, for Ida to read back
  checked    SHA-256 of the ida.json that was checked
It fails when Python understands anything of ida.json differently.

The committed python.json was made by   apt-get install python3-msgpack && /usr/bin/python3 interop.py > python.json   (version inside).
InteropTests runs the script again wherever the library is installed, and otherwise checks the committed file.
"""
import hashlib
import json
import pathlib
import struct
import sys

import msgpack

FOLDER = pathlib.Path(__file__).parent
BIG = (1 << 64) - 1


def tag(value):
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return {"int": str(value)}
    if isinstance(value, float):
        return {"float": struct.pack(">d", value).hex()}
    if isinstance(value, str):
        return {"str": value}
    if isinstance(value, bytes):
        return {"bin": value.hex()}
    if isinstance(value, msgpack.Timestamp):
        return {"time": [str(value.seconds), value.nanoseconds]}
    if isinstance(value, (list, tuple)):
        return {"array": [tag(item) for item in value]}
    return {"map": [[tag(key), tag(item)] for key, item in value.items()]}


def samples():
    yield from (None, True, False, "", "a", "ä€🍎", "x" * 31, "x" * 32, "x" * 255, "x" * 256, "x" * 65536, b"", b"\x00\xff", b"b" * 256, b"b" * 65536)
    for bits in (5, 7, 8, 15, 16, 31, 32, 63, 64):
        for near in (-1, 0, 1):
            for value in ((1 << bits) + near, -(1 << bits) + near):
                if -(1 << 63) <= value <= BIG:
                    yield value
    yield from (0.0, -0.0, 1.0, 0.1, -1e300, 5e-324, float("inf"), float("-inf"))
    yield from ([], [1, [2, [3, []]]], list(range(16)), [None] * 65536, {}, {"a": 1}, {i: str(i) for i in range(16)}, {"nested": {"list": [1.5, {"x": b"y"}]}})
    yield from (msgpack.Timestamp(0), msgpack.Timestamp(1 << 32), msgpack.Timestamp(1, 1), msgpack.Timestamp((1 << 34) - 1, 999999999),
                msgpack.Timestamp(1 << 34), msgpack.Timestamp(-1, 500))


def main():
    raw = (FOLDER / "ida.json").read_bytes()
    reencoded = {}
    for entry in json.loads(raw):
        value = msgpack.unpackb(bytes.fromhex(entry["hex"]), strict_map_key=False, use_list=False)
        if tag(value) != entry["value"]:
            sys.exit(f"{entry['name']}: Python reads {tag(value)}, Ida means {entry['value']}")
        reencoded[entry["name"]] = msgpack.packb(value).hex()
    made = [{"value": tag(value), "hex": msgpack.packb(value).hex()} for value in samples() if not isinstance(value, (str, bytes, list)) or len(value) < 60000]
    large = [{"of": kind, "count": 65536, "sha256": hashlib.sha256(msgpack.packb(value)).hexdigest()}
             for kind, value in (("str", "x" * 65536), ("bin", b"b" * 65536), ("array", [None] * 65536))]
    json.dump({"library": "python3-msgpack " + ".".join(map(str, msgpack.version)), "checked": hashlib.sha256(raw).hexdigest(),
               "values": made, "large": large, "reencoded": reencoded}, sys.stdout, indent=0, ensure_ascii=True)
    print()


main()
