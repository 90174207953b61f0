/** Which functions of Deno's `node:buffer` differ from ours in their properties, as `shape` reads them. */
export const SHAPES: Readonly<Record<string, string>> = {
  "": "isAscii/1+ resolveObjectURL/1+ SlowBuffer/1+ transcode/3+",
  Buffer:
    "from/3+ copyBytesFrom/3+ alloc/3+ allocUnsafe/1+ allocUnsafeSlow/1+ isBuffer/1+ compare/2+ isEncoding/1+ concat/2+ byteLength/2+",
  "Buffer.prototype":
    "swap16/0+ swap32/0+ swap64/0+ toString/3+ toLocaleString/3+=toString equals/1+ inspect/2+ compare/5+ includes/4+ indexOf/4+ lastIndexOf/4+ asciiSlice/2+ asciiWrite/3+ base64Slice/2+ base64Write/3+ base64urlSlice/2+ base64urlWrite/3+ hexWrite/3+ hexSlice/2+ latin1Slice/2+ latin1Write/3+ ucs2Slice/2+ ucs2Write/3+ utf8Slice/2+ utf8Write/3+ write/4+ toJSON/0+ subarray/2+ slice/2+ readUInt8/0+ readUint8/0+=readUInt8 readUInt16BE/0+ readUint16BE/0+=readUInt16BE readUInt16LE/0+ readUint16LE/0+=readUInt16LE readUInt32LE/0+ readUint32LE/0+=readUInt32LE readUInt32BE/0+ readUint32BE/0+=readUInt32BE readInt8/0+ readInt16LE/0+ readInt16BE/0+ readInt32LE/0+ readInt32BE/0+ writeUInt8/1+ writeUint8/1+=writeUInt8 writeUInt16LE/1+ writeUint16LE/1+=writeUInt16LE writeUInt16BE/1+ writeUint16BE/1+=writeUInt16BE writeUInt32LE/1+ writeUint32LE/1+=writeUInt32LE writeUInt32BE/1+ writeUint32BE/1+=writeUInt32BE writeBigUInt64LE/1+ writeBigUint64LE/1+=writeBigUInt64LE writeBigUInt64BE/1+ writeBigUint64BE/1+=writeBigUInt64BE writeInt8/1+ writeInt16LE/1+ writeInt16BE/1+ writeInt32LE/1+ writeInt32BE/1+ writeBigInt64LE/1+ writeBigInt64BE/1+ copy/4+ fill/4+",
};

/** The order of the names of a buffer's methods. */
export const METHOD_ORDER =
  "parent offset swap16 swap32 swap64 toString toLocaleString equals inspect compare includes indexOf lastIndexOf asciiSlice asciiWrite base64Slice base64Write base64urlSlice base64urlWrite hexWrite hexSlice latin1Slice latin1Write ucs2Slice ucs2Write utf8Slice utf8Write write toJSON subarray slice readUIntLE readUintLE readUIntBE readUintBE readUInt8 readUint8 readUInt16BE readUint16BE readUInt16LE readUint16LE readUInt32LE readUint32LE readUInt32BE readUint32BE readBigUInt64LE readBigUint64LE readBigUInt64BE readBigUint64BE readIntLE readIntBE readInt8 readInt16LE readInt16BE readInt32LE readInt32BE readBigInt64LE readBigInt64BE readFloatLE readFloatBE readDoubleLE readDoubleBE writeUIntLE writeUintLE writeUIntBE writeUintBE writeUInt8 writeUint8 writeUInt16LE writeUint16LE writeUInt16BE writeUint16BE writeUInt32LE writeUint32LE writeUInt32BE writeUint32BE writeBigUInt64LE writeBigUint64LE writeBigUInt64BE writeBigUint64BE writeIntLE writeIntBE writeInt8 writeInt16LE writeInt16BE writeInt32LE writeInt32BE writeBigInt64LE writeBigInt64BE writeFloatLE writeFloatBE writeDoubleLE writeDoubleBE copy fill";

/** The order of the module's names. */
export const ORDER =
  "atob btoa Blob File Buffer constants isAscii isUtf8 utf8Write INSPECT_MAX_BYTES kMaxLength kStringMaxLength resolveObjectURL SlowBuffer transcode";
