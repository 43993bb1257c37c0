"""Strict JSON: parsing without ambiguity, shapes of objects, and RFC 8785 canonicalisation."""

import json
import math
import re

EXACT = 2 ** 53
DEEPEST = 500
_BRACKET_OR_STRING = re.compile(r'[\[\]{}]|"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonError(ValueError):
    """A text is not JSON, or not JSON that every parser reads alike."""


def _number(text):
    """The number as a JavaScript double, as an int where it is a whole one that is exact."""
    value = float(text)
    if not math.isfinite(value):
        raise JsonError("a number is out of range")
    return int(value) if value.is_integer() and abs(value) <= EXACT else value


def _constant(text):
    raise JsonError(f"{text} is no JSON")


def _object(pairs):
    value = dict(pairs)
    if len(value) != len(pairs):
        raise JsonError("a name occurs twice in an object")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_number, parse_float=_number, parse_constant=_constant)


def _is_too_deep(text, deepest):
    depth = 0
    for match in _BRACKET_OR_STRING.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if depth > deepest:
            return True
    return False


def parse(text, deepest=DEEPEST):
    """Parses a text that is one JSON value; raises JsonError for everything else."""
    if text.count("[") + text.count("{") > deepest and _is_too_deep(text, deepest):
        raise JsonError("nested too deeply")
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise JsonError(f"no JSON: {error.msg}") from None


def parse_bytes(raw):
    """Parses UTF-8 that is one JSON value."""
    try:
        return parse(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise JsonError("no UTF-8") from None


def _format_float(value):
    """Number::toString of ECMAScript; Python's repr has the same shortest digits."""
    sign, value = ("-", -value) if value < 0 else ("", value)
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(exponent or 0)
    digits = whole + fraction
    point -= len(digits) - len(digits.lstrip("0"))
    digits = digits.strip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    digits = digits[0] + ("." + digits[1:] if count > 1 else "")
    return f"{sign}{digits}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def _string(value):
    text = json.encoder.encode_basestring(value)
    if text.isascii():
        return text
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _write(value, out):
    if value is None or value is True or value is False:
        out.append({None: "null", True: "true", False: "false"}[value])
    elif isinstance(value, str):
        out.append(_string(value))
    elif isinstance(value, int):
        out.append(str(value))
    elif isinstance(value, float):
        out.append(_format_float(value))
    elif isinstance(value, list):
        out.append("[")
        for index, item in enumerate(value):
            if index:
                out.append(",")
            _write(item, out)
        out.append("]")
    else:
        out.append("{")
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        for index, name in enumerate(names):
            out.append(("," if index else "") + _string(name) + ":")
            _write(value[name], out)
        out.append("}")


def canonical(value):
    """The RFC 8785 form of a value that `parse` gave, as UTF-8."""
    out = []
    _write(value, out)
    return "".join(out).encode("utf-8")


# What a member may be. Each answers whether a value is of that kind.

def is_text(value):
    return isinstance(value, str) and value != ""


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_positive(value):
    return is_count(value) and value > 0


def is_object(value):
    return isinstance(value, dict)


def is_sha256(value):
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def is_hex(length):
    """A test for lower-case hex of so many bytes."""
    pattern = re.compile(f"[0-9a-f]{{{2 * length}}}")
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def among(*values):
    """A test for one of these strings."""
    return lambda value: isinstance(value, str) and value in values


def or_null(test):
    """A test that also lets null pass."""
    return lambda value: value is None or test(value)


def misshapen(value, members):
    """What is wrong with the members of an object, as words, or None."""
    if not isinstance(value, dict):
        return "is no object"
    for name in value:
        if name not in members:
            return f"has an unknown member {name!r}"
    for name, test in members.items():
        if name not in value:
            return f"lacks the member {name!r}"
        if not test(value[name]):
            return f"has a wrong member {name!r}"
    return None
