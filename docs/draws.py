"""Computes what Tyche's presets give for a random word. Needs Python 3.8 and nothing else.

    python3 docs/draws.py coinflip 0x5a…
    python3 docs/draws.py range    0x5a… MIN MAX
    python3 docs/draws.py nDice    0x5a… NUM_FACES NUM_DICE
    python3 docs/draws.py lotto    0x5a… NUMBER_OF_WINNERS ENTRY…

The word is in hex after 0x, or in decimal.
"""
import struct
import sys


def chacha20_block(key, counter):
    """RFC 8439, section 2.3: 64 bytes of the key stream. The nonce is 12 zero bytes."""
    start = struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<I", counter) + bytes(12))
    x = list(start)
    columns = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]
    diagonals = [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]
    for a, b, c, d in (columns + diagonals) * 10:
        for shift in (16, 12, 8, 7):
            x[a] = (x[a] + x[b]) % 2**32
            x[d] ^= x[a]
            x[d] = (x[d] << shift | x[d] >> (32 - shift)) % 2**32
            a, b, c, d = c, d, a, b
    return struct.pack("<16I", *((p + q) % 2**32 for p, q in zip(x, start)))


def create_draw(word):
    pool, size, blocks = word, 2**256, 0  # The pool is uniform in [0, size).

    def draw(n):
        nonlocal pool, size, blocks
        while True:
            if size < n:
                block = chacha20_block(word.to_bytes(32, "big"), blocks)
                pool, size, blocks = pool * 2**512 + int.from_bytes(block, "big"), size * 2**512, blocks + 1
            whole = size - size % n
            if pool < whole:
                drawn, pool, size = pool % n, pool // n, whole // n
                return drawn
            pool, size = pool - whole, size - whole

    return draw


def coinflip(word):
    return str(word % 2)


def range_(word, low, high):
    return str(low + create_draw(word)(high - low + 1))


def n_dice(word, faces, dice):
    draw = create_draw(word)
    return "[" + ",".join(str(1 + draw(faces)) for _ in range(dice)) + "]"


def lotto(word, winners, entries):
    draw, entries = create_draw(word), list(entries)
    for i in range(winners):
        j = i + draw(len(entries) - i)
        entries[i], entries[j] = entries[j], entries[i]
    return "Winners: " + ", ".join(entries[:winners])


if __name__ == "__main__":
    preset, word, *rest = sys.argv[1:]
    if preset == "lotto":
        print(lotto(int(word, 0), int(rest[0]), rest[1:]))
    else:
        print({"coinflip": coinflip, "range": range_, "nDice": n_dice}[preset](int(word, 0), *map(int, rest)))
