"""Signed notes, verifier keys, checkpoints, links and seals, after C2SP and the log's pages."""

import base64
import hashlib
import re
from dataclasses import dataclass

import ed25519
import jcs

ORIGIN = re.compile(r"flightdeck\.dev/log/([^/\s+]+)/([1-9][0-9]*)")
DECIMAL = re.compile("0|[1-9][0-9]{0,15}")
SIGNATURE = re.compile("\u2014 ([^\\s+]+) ([A-Za-z0-9+/]+=*)")


class NoteError(ValueError):
    """A note, a key or a checkpoint cannot be read."""


def unbase64(text, length=None):
    """The bytes of canonical standard base64, of this length if one is named."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (ValueError, TypeError):
        raise NoteError("no base64") from None
    if base64.b64encode(raw).decode() != text or length not in (None, len(raw)):
        raise NoteError("no base64 of the right form")
    return raw


def decimal(text):
    """A number in decimal without leading zeros."""
    if not DECIMAL.fullmatch(text):
        raise NoteError("no decimal number")
    return int(text)


def origin(log_id, epoch):
    return f"flightdeck.dev/log/{log_id}/{epoch}"


def key_id(name, key):
    """The signed-note key id of an Ed25519 key."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass") + b"\n\x01" + key).digest()[:4]


def fingerprint(key):
    """The fingerprint of a key: 32 hex digits, without the spaces that people read."""
    return hashlib.sha256(key).hexdigest()[:32]


def parse_verifier(text):
    """The name and the 32 bytes of a verifier key."""
    parts = text.split("+", 2) if isinstance(text, str) else []
    if len(parts) != 3 or not re.fullmatch(r"\S+", parts[0]):
        raise NoteError("no verifier key")
    raw = unbase64(parts[2], 33)
    if raw[0] != 1 or key_id(parts[0], raw[1:]).hex() != parts[1]:
        raise NoteError("no Ed25519 verifier key with its own key id")
    return parts[0], raw[1:]


def known_keys(texts):
    """What a reader gave: fingerprints, and keys of 32 bytes."""
    prints, keys = set(), set()
    for text in texts:
        plain = re.sub(r"[\s:]", "", text).lower()
        if re.fullmatch("[0-9a-f]{32}", plain):
            prints.add(plain)
        else:
            key = parse_verifier(text.strip())[1]
            keys.add(key)
            prints.add(fingerprint(key))
    return prints, keys


@dataclass(frozen=True)
class Note:
    """A signed note: its text, and its signatures as (name, key id, signature)."""
    raw: str
    text: str
    signatures: tuple

    def signed_by(self, key, name=None):
        """Whether the key signed it, under this name or under that of the signature's line."""
        return any(
            (name is None or line_name == name) and id_ == key_id(line_name, key)
            and ed25519.verify(key, self.text.encode("utf-8"), signature)
            for line_name, id_, signature in self.signatures)


def parse_note(raw):
    """Reads a signed note."""
    if not isinstance(raw, str) or not raw.endswith("\n"):
        raise NoteError("no signed note")
    try:
        raw.encode("utf-8")
    except UnicodeEncodeError:
        raise NoteError("no UTF-8") from None
    if re.search("[\x00-\x09\x0b-\x1f]", raw):
        raise NoteError("a control character")
    text, empty, lines = raw.rpartition("\n\n")
    if not empty:
        raise NoteError("no signed note")
    signatures = []
    for line in lines[:-1].split("\n"):
        match = SIGNATURE.fullmatch(line)
        if not match:
            raise NoteError("a line of signatures cannot be read")
        blob = unbase64(match[2])
        if len(blob) < 5:
            raise NoteError("a signature is too short")
        signatures.append((match[1], blob[:4], blob[4:]))
    return Note(raw, text + "\n", tuple(signatures))


@dataclass(frozen=True)
class Checkpoint:
    """A signed statement about a tree."""
    note: Note
    origin: str
    size: int
    root: bytes


def parse_checkpoint(raw):
    """Reads a signed note whose text is a checkpoint of three lines."""
    note = parse_note(raw)
    lines = note.text.split("\n")
    if len(lines) != 4 or not lines[0]:
        raise NoteError("no checkpoint of three lines")
    return Checkpoint(note, lines[0], decimal(lines[1]), unbase64(lines[2], 32))


def parse_link(raw, log_id):
    """The note and the next key of a link of this log, or None."""
    try:
        note = parse_note(raw)
        lines = note.text.split("\n")
        if len(lines) != 3 or lines[0] != f"flightdeck.dev/log/{log_id}/next-key":
            return None
        return note, unbase64(lines[1], 32)
    except NoteError:
        return None


@dataclass(frozen=True)
class Seal:
    """A line of the file of seals; `members` are those of its object."""
    members: dict
    log_id: str
    epoch: int
    checkpoint: Checkpoint


def parse_seal(members):
    """The seal that an object is; raises NoteError if it is none."""
    if not isinstance(members, dict) or "kind" in members:
        raise NoteError("no seal")
    checkpoint = parse_checkpoint(members.get("checkpoint"))
    match = ORIGIN.fullmatch(checkpoint.origin)
    if not match:
        raise NoteError("no checkpoint of a log")
    return Seal(members, match[1], decimal(match[2]), checkpoint)


def read_seals(path):
    """The seals in a file that has any; lines that are none say nothing."""
    seals = []
    with open(path, "rb") as file:
        for line in file.read().split(b"\n"):
            try:
                seals.append(parse_seal(jcs.parse_bytes(line)))
            except (jcs.JsonError, NoteError):
                continue
    if not seals:
        raise NoteError(f"{path} has no seal")
    return seals
