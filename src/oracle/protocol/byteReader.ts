/** Bytes are malformed. The message is for the log; their sender is told nothing. */
export class MalformedMessageError extends Error {}

/** Reads bytes from front to end; each read throws {@link MalformedMessageError} if too few are left. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#position === this.#bytes.length;
  }

  /** Returns a view of the next bytes. */
  bytes(length: number): Uint8Array {
    const end = this.#position + length;
    if (length < 0 || end > this.#bytes.length) throw new MalformedMessageError("it is too short");
    const read = this.#bytes.subarray(this.#position, end);
    this.#position = end;
    return read;
  }

  /** Reads a big-endian integer below 2⁵³. */
  uint(length: number): number {
    let value = 0;
    for (const byte of this.bytes(length)) value = value * 256 + byte;
    if (!Number.isSafeInteger(value)) throw new MalformedMessageError("a number in it is too large");
    return value;
  }

  flag(): boolean {
    const value = this.uint(1);
    if (value > 1) throw new MalformedMessageError("a flag in it is neither 0 nor 1");
    return value === 1;
  }

  rest(maxBytes: number): Uint8Array {
    const left = this.#bytes.length - this.#position;
    if (left > maxBytes) throw new MalformedMessageError("something in it is too long");
    return this.bytes(left);
  }

  end(): void {
    if (!this.isAtEnd) throw new MalformedMessageError("it is too long");
  }
}

/** Writes a big-endian integer. */
export function uintBytes(value: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let index = length - 1, left = value; index >= 0; index -= 1, left = Math.floor(left / 256))
    bytes[index] = left % 256;
  return bytes;
}
