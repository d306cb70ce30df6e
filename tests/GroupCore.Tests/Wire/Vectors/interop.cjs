// Two-way proof that Ida's wire encoding is MessagePack: the side of JavaScript (npm's @msgpack/msgpack).
//
// Reads ida.json (bytes that Ida wrote, each with the value that they mean, made by InteropTests with IDA_ACCEPT_WIRE=1) from this folder
// and prints javascript.json, with the same parts as interop.py prints:
//   values     values encoded by JavaScript, which Ida must read as that value; "shortest" where the library takes the shortest form,
//              so that Ida must also write the same bytes (it writes a BigInt in 9 bytes always)
//   reencoded  every entry of ida.json, decoded by JavaScript, compared with its meaning, and encoded again, for Ida to read back
//   checked    SHA-256 of the ida.json that was checked
// With useBigInt64 that library writes numbers above 32 bits as floating point, so the option is on for BigInts only.
// It fails when JavaScript understands anything of ida.json differently. Numbers have one type there: 1.0 and 1 are the same, and 1.0 is encoded as 1.
//
// The committed javascript.json was made by   npm install @msgpack/msgpack && node interop.cjs > javascript.json   with node_modules in this
// folder or NODE_PATH (version inside). InteropTests runs the script again wherever node finds the library, and otherwise checks the committed file.
"use strict";
const { createHash } = require("node:crypto");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const msgpack = require("@msgpack/msgpack");

class Time {
  constructor(sec, nsec) { this.sec = sec; this.nsec = nsec; }
}

const extensionCodec = new msgpack.ExtensionCodec();
extensionCodec.register({
  type: -1,
  encode: (value) => (value instanceof Time ? msgpack.encodeTimeSpecToTimestamp(value) : null),
  decode: (data) => {
    const spec = msgpack.decodeTimestampToTimeSpec(data);
    return new Time(spec.sec, spec.nsec);
  },
});
const options = { extensionCodec, useBigInt64: true };
const hex = (bytes) => Buffer.from(bytes).toString("hex");

function bits(value) {
  const buffer = Buffer.alloc(8);
  buffer.writeDoubleBE(value);
  return buffer.toString("hex");
}

function tag(value) {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "bigint") return { int: value.toString() };
  if (typeof value === "number") return Number.isSafeInteger(value) && !Object.is(value, -0) ? { int: value.toString() } : { float: bits(value) };
  if (typeof value === "string") return { str: value };
  if (value instanceof Uint8Array) return { bin: hex(value) };
  if (value instanceof Time) return { time: [value.sec.toString(), value.nsec] };
  if (Array.isArray(value)) return { array: value.map(tag) };
  return { map: Object.entries(value).map(([key, item]) => [{ str: key }, tag(item)]) };
}

// What JavaScript cannot tell apart is made equal on both sides: whole floats are integers, all keys of objects are text.
function seen(tagged, isKey = false) {
  if (tagged === null || typeof tagged === "boolean") return tagged;
  if (tagged.float !== undefined) {
    const value = Buffer.from(tagged.float, "hex").readDoubleBE();
    return Number.isSafeInteger(value) && !Object.is(value, -0) ? { int: value.toString() } : tagged;
  }
  if (tagged.int !== undefined && isKey) return { str: tagged.int };
  if (tagged.array) return { array: tagged.array.map((item) => seen(item)) };
  if (tagged.map) return { map: tagged.map.map(([key, item]) => [seen(key, true), seen(item)]) };
  return tagged;
}

const samples = [
  null, true, false, "", "a", "ä€🍎", "x".repeat(31), "x".repeat(32), "x".repeat(255), "x".repeat(256), new Uint8Array(0), new Uint8Array([0, 255]), new Uint8Array(256),
  0, 1, 127, 128, 255, 256, 65535, 65536, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER, -1, -32, -33, -128, -129, -32768, -32769, -(2 ** 31), -(2 ** 31) - 1, Number.MIN_SAFE_INTEGER,
  0n, -1n, 2n ** 63n, 2n ** 64n - 1n, -(2n ** 63n), 0.1, -1.5, 5e-324, 1.5e300, Infinity, -Infinity,
  [], [1, [2, [3, []]]], Array.from({ length: 16 }, (_, i) => i), {}, { a: 1 }, { nested: { list: [1.5, { x: new Uint8Array([1]) }] } },
  new Time(0, 0), new Time(2 ** 32, 0), new Time(1, 1), new Time(2 ** 34 - 1, 999999999), new Time(2 ** 34, 0), new Time(-1, 500),
];

const raw = readFileSync(join(__dirname, "ida.json"));
const reencoded = {};
for (const entry of JSON.parse(raw)) {
  const value = msgpack.decode(Buffer.from(entry.hex, "hex"), options);
  const [read, meant] = [JSON.stringify(seen(tag(value))), JSON.stringify(seen(entry.value))];
  if (read !== meant) {
    console.error(`${entry.name}: JavaScript reads ${read}, Ida means ${meant}`);
    process.exit(1);
  }
  reencoded[entry.name] = hex(msgpack.encode(value, options));
}
const values = samples.map((value) => ({ value: tag(value), shortest: typeof value !== "bigint", hex: hex(msgpack.encode(value, { extensionCodec, useBigInt64: typeof value === "bigint" })) }));
console.log(JSON.stringify({
  library: "@msgpack/msgpack " + require("@msgpack/msgpack/package.json").version,
  checked: createHash("sha256").update(raw).digest("hex"), values, reencoded,
}, null, 0).replace(/\},\{/g, "},\n{").replace(/","/g, '",\n"'));
