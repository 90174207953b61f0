"""Verifies ed25519 signatures (RFC 8032, section 5.1.7) with integers alone. All inputs are public, so time tells nothing."""

from __future__ import annotations

import hashlib

__all__ = ["is_signature"]

_P = 2**255 - 19
# The order of the base point.
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT_OF_MINUS_ONE = pow(2, (_P - 1) // 4, _P)

# Extended homogeneous coordinates (X, Y, Z, T): x = X/Z, y = Y/Z, x*y = T/Z.
_Point = tuple[int, int, int, int]


def _add(a: _Point, b: _Point) -> _Point:
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % _P, (a[1] + a[0]) * (b[1] + b[0]) % _P
    c, d = 2 * a[3] * b[3] * _D % _P, 2 * a[2] * b[2] % _P
    e, f, g, h = f - e, d - c, d + c, f + e
    return (e * f % _P, g * h % _P, f * g % _P, e * h % _P)


def _multiply(scalar: int, point: _Point) -> _Point:
    product: _Point = (0, 1, 1, 0)
    while scalar > 0:
        if scalar & 1:
            product = _add(product, point)
        point = _add(point, point)
        scalar >>= 1
    return product


def _decode(text: bytes) -> _Point | None:
    """Returns the point, or None for bytes that are none (section 5.1.3)."""
    y = int.from_bytes(text, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if y >= _P:
        return None
    xx = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(xx, (_P + 3) // 8, _P)
    if x * x % _P != xx:
        x = x * _ROOT_OF_MINUS_ONE % _P
    if x * x % _P != xx or (x == 0 and sign == 1):
        return None
    if x & 1 != sign:
        x = _P - x
    return (x, y, 1, x * y % _P)


_BASE = _decode((4 * pow(5, -1, _P) % _P).to_bytes(32, "little"))


def is_signature(signature: bytes, message: bytes, public_key: bytes) -> bool:
    """Whether `signature` (64 bytes) is that of `message` under `public_key` (32 bytes)."""
    if len(signature) != 64 or len(public_key) != 32:
        return False
    key, r = _decode(public_key), _decode(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if key is None or r is None or _BASE is None or s >= _L:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public_key + message).digest(), "little") % _L
    left, right = _multiply(s, _BASE), _add(r, _multiply(k, key))
    return all((left[i] * right[2] - right[i] * left[2]) % _P == 0 for i in (0, 1))
