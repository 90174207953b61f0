import { streamParts } from "./streamParts.ts";

type Piece = string | Uint8Array;

/** The library's methods of a list, which an array lacks. */
const methods = {
  first(this: Piece[]): Piece | undefined {
    return this[0];
  },
  clear(this: Piece[]): void {
    this.length = 0;
  },
  concat(this: Piece[]): Piece {
    return joinPieces(this, false);
  },
  /** Takes so many bytes or characters. */
  consume(this: Piece[], count: number, hasStrings: boolean): Piece {
    const [first] = this;
    if (first?.length === count) return this.shift() as Piece;
    const taken: Piece[] = [];
    for (let left = count; left > 0;) {
      const piece = this.shift() as Piece;
      if (piece.length > left) this.unshift(piece.slice(left));
      taken.push(piece.length > left ? piece.slice(0, left) : piece);
      left -= piece.length;
    }
    return taken.length === 1 ? (taken[0] as Piece) : joinPieces(taken, hasStrings);
  },
};

function joinPieces(pieces: readonly Piece[], hasStrings: boolean): Piece {
  if (hasStrings) return pieces.join("");
  const { Buffer } = streamParts["buffer"] as { Buffer: { concat(pieces: unknown): Uint8Array } };
  return Buffer.concat(pieces);
}

/** What a stream has read and not yet passed on: an array, as in Node 24, where the library has a linked list. */
export function PieceList(): Piece[] {
  const list: Piece[] = [];
  for (const [name, value] of Object.entries(methods)) Object.defineProperty(list, name, { value });
  return list;
}
