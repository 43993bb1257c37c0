"""Ed25519 verification after RFC 8032, section 5.1.7, in extended coordinates."""

import hashlib
from functools import lru_cache

P = 2 ** 255 - 19
L = 2 ** 252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
D2 = 2 * D % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
IDENTITY = (0, 1, 1, 0)


def _add(a, b):
    x1, y1, z1, t1 = a
    x2, y2, z2, t2 = b
    p = (y1 - x1) * (y2 - x2) % P
    q = (y1 + x1) * (y2 + x2) % P
    r = t1 * D2 * t2 % P
    s = 2 * z1 * z2 % P
    e, f, g, h = q - p, s - r, s + r, q + p
    return e * f % P, g * h % P, f * g % P, e * h % P


def _double(a):
    x, y, z, _ = a
    p, q = x * x % P, y * y % P
    h = p + q
    e = h - (x + y) * (x + y) % P
    g = p - q
    f = 2 * z * z + g
    return e * f % P, g * h % P, f * g % P, e * h % P


def _decode(raw):
    """The point that 32 bytes encode, or None."""
    number = int.from_bytes(raw, "little")
    y, sign = number & (2 ** 255 - 1), number >> 255
    if y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if (v * x * x - u) % P:
        x = x * ROOT_OF_MINUS_ONE % P
        if (v * x * x - u) % P:
            return None
    if x == 0 and sign:
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def _encode(point):
    x, y, z, _ = point
    inverse = pow(z, P - 2, P)
    x, y = x * inverse % P, y * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _multiples(point):
    """The 16 multiples of a point that a window of four bits needs."""
    table = [IDENTITY]
    for _ in range(15):
        table.append(_add(table[-1], point))
    return table


BASE = _multiples(_decode((4 * pow(5, P - 2, P) % P).to_bytes(32, "little")))


@lru_cache(maxsize=1024)
def _key_multiples(key):
    """The multiples of the negated public key, or None if it is no point."""
    point = _decode(key)
    return point and _multiples((P - point[0], point[1], 1, P - point[3]))


@lru_cache(maxsize=65536)
def verify(key, message, signature):
    """Whether a signature of 64 bytes over the message was made by this key of 32 bytes."""
    if len(key) != 32 or len(signature) != 64:
        return False
    table = _key_multiples(key)
    s = int.from_bytes(signature[32:], "little")
    if table is None or s >= L:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    sum_ = IDENTITY
    for shift in range(252, -1, -4):
        sum_ = _double(_double(_double(_double(sum_))))
        sum_ = _add(_add(sum_, BASE[s >> shift & 15]), table[k >> shift & 15])
    return _encode(sum_) == signature[:32]
