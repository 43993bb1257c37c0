"""The rules for events and for a whole log in SQLite, with its seals, restores, blobs and file of seals."""

import base64
import hashlib
import itertools
import json
import os
import re
import sqlite3
from pathlib import Path

import ed25519
import jcs
import merkle
import notes

KINDS = ("log", "user", "identity", "project", "task", "terminal", "image", "usage", "audit",
         "delivery", "request", "seal")
WITHOUT_CONTENT = ("log", "audit", "seal")
ENDS_OF_EXECUTIONS = ("ExecutionCompleted", "ExecutionFailed", "ExecutionCancelled")
ENDS_OF_STREAMS = {"task": "TaskDeleted", "image": "ImageDiscarded"}
COLUMNS = ("id", "stream", "revision", "type", "version", "at", "data", "content", "meta")
CIPHERTEXT_HEAD = 1 + 12 + 16
DEEPEST = 100

_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", re.ASCII)


class Report:
    """What a check found: faults, remarks, and whether a key was not among the known ones."""

    def __init__(self):
        self.faults = []
        self.remarks = []
        self.unknown_keys = []

    def fault(self, stream, revision, reason):
        self.faults.append({"stream": stream, "revision": revision, "reason": reason})

    def verdict(self):
        if self.unknown_keys:
            return "unknown_key"
        return "not_whole" if self.faults else "whole"


# Events

def kind_of(stream):
    return stream.partition("-")[0]


def _is_uuid(value):
    return isinstance(value, str) and _UUID.fullmatch(value) is not None


def _is_time(value):
    return isinstance(value, str) and _TIME.fullmatch(value) is not None


def _is_stream(value):
    kind, _, name = value.partition("-") if isinstance(value, str) else ("", "", "")
    return kind in KINDS and name != "" and (kind != "log" or name == "main")


def _is_actor(value):
    member = {"user": "userId", "system": "service"}.get(
        value.get("kind") if isinstance(value, dict) and jcs.is_text(value.get("kind")) else None)
    return member is not None and not jcs.misshapen(
        value, {"kind": jcs.is_text, member: jcs.is_text})


def _is_digests(value):
    return not jcs.misshapen(value, {"sealed": jcs.is_sha256, "commitment": jcs.is_sha256})


META = {
    "actor": _is_actor, "commandId": jcs.is_text, "correlationId": jcs.is_text,
    "causationId": jcs.or_null(jcs.is_text), "follows": jcs.or_null(jcs.is_count),
    "content": jcs.or_null(_is_digests), "prev": lambda value: value == "" or jcs.is_sha256(value),
    "hash": jcs.is_sha256,
}
EVENT = {
    "id": _is_uuid, "stream": _is_stream, "revision": jcs.is_count, "type": jcs.is_text,
    "version": jcs.is_positive, "at": _is_time, "data": jcs.is_object, "meta": jcs.is_object,
}


def event_problem(event):
    """What is wrong with the members of an event without its `content`, as words, or None."""
    problem = jcs.misshapen(event, EVENT)
    if problem:
        return f"changed: the event {problem}"
    problem = jcs.misshapen(event["meta"], META)
    if problem:
        return f"changed: meta {problem}"
    kind = kind_of(event["stream"])
    if (event["meta"]["follows"] is not None) != (kind == "terminal"):
        return "changed: meta.follows is there in terminals, and nowhere else"
    if kind in WITHOUT_CONTENT and event["meta"]["content"] is not None:
        return "changed: a stream of this kind has no content"
    return None


def event_hash(event):
    """The hash of an event; raises JsonError where it cannot be written."""
    hashed = {name: event[name] for name in EVENT}
    hashed["scheme"] = 1
    hashed["meta"] = {name: value for name, value in event["meta"].items() if name != "hash"}
    return hashlib.sha256(jcs.canonical(hashed)).hexdigest()


class Chains:
    """Follows the chain of each stream, event by event; a gap is named by what is missing, or by what stands after it."""

    def __init__(self, report, names_what_is_after=False):
        self.report = report
        self.names_what_is_after = names_what_is_after
        self.ends = {}

    def follow(self, event):
        stream, revision, meta = event["stream"], event["revision"], event["meta"]
        expected, prev = self.ends.get(stream, (0, ""))
        if revision > expected:
            named = revision if self.names_what_is_after else expected
            self.report.fault(stream, named, "removed: a revision is missing")
        elif revision < expected:
            self.report.fault(stream, revision, "moved: it does not come after the event before it")
        elif meta["prev"] != prev:
            self.report.fault(stream, revision, "changed: meta.prev is not the hash before it")
        try:
            if event_hash(event) != meta["hash"]:
                self.report.fault(stream, revision, "changed: meta.hash is not the event's")
        except jcs.JsonError as error:
            self.report.fault(stream, revision, f"changed: {error}")
        self.ends[stream] = (revision + 1, meta["hash"])


def check_order(report, task, terminal, earlier):
    """The order of a task's two streams, each {revision: event}; `earlier(a, b)` compares places."""
    last = -1
    for revision in sorted(terminal):
        event = terminal[revision]
        follows = event["meta"]["follows"]
        if follows < last:
            report.fault(event["stream"], revision, "moved: it follows less than the one before it")
        if follows not in task or not earlier(task[follows], event):
            report.fault(event["stream"], revision, "moved: it follows what did not exist yet")
        last = max(last, follows)
    for revision, event in task.items():
        if event["type"] not in ENDS_OF_EXECUTIONS:
            continue
        anchor = event["data"].get("terminal", "missing")
        if anchor is None:
            continue
        if jcs.misshapen(anchor, {"revision": jcs.is_count, "hash": jcs.is_sha256}):
            report.fault(event["stream"], revision, "changed: it has no data.terminal")
            continue
        named = terminal.get(anchor["revision"])
        if named is None:
            report.fault(event["stream"], revision, "removed: the end of its terminal is not there")
        elif named["meta"]["hash"] != anchor["hash"]:
            report.fault(event["stream"], revision, "changed: its terminal has another event there")
        elif not earlier(named, event) or named["meta"]["follows"] >= revision:
            report.fault(event["stream"], revision, "moved: it names a later event of its terminal")


def blobs_in(value):
    """Each (hash, size) of a blob that is named at any depth."""
    if isinstance(value, dict):
        if not jcs.misshapen(value, {"hash": jcs.is_sha256, "size": jcs.is_count}):
            yield value["hash"], value["size"]
        else:
            for item in value.values():
                yield from blobs_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from blobs_in(item)


# Reading

def _read_row(row):
    """An event of a row without its content, and its content; raises JsonError."""
    stored = dict(zip(COLUMNS, row))
    for name, value in stored.items():
        if isinstance(value, str) and re.search("[\ud800-\udfff]", value):
            raise jcs.JsonError(f"{name} is no UTF-8")
    event = {name: stored[name] for name in EVENT}
    for name in ("data", "meta"):
        if not isinstance(stored[name], str):
            raise jcs.JsonError(f"{name} is no text")
        try:
            event[name] = jcs.parse(stored[name], DEEPEST)
        except jcs.JsonError as error:
            raise jcs.JsonError(f"{name}: {error}") from None
    return event, stored["content"]


def _rows(path):
    if not os.path.isfile(path):
        raise OSError(f"{path} is no file")
    database = sqlite3.connect(Path(path).absolute().as_uri() + "?mode=ro", uri=True)
    database.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    try:
        yield from database.execute(f"SELECT {', '.join(COLUMNS)} FROM events ORDER BY position")
    finally:
        database.close()


def _content_problem(event, content):
    """What is wrong with the sealed bytes of a stored event, as words, or None."""
    digests = event["meta"]["content"]
    if (content is None) != (digests is None):
        return "changed: content and meta.content are not both there" if content is not None \
            else "removed: its content is missing"
    if content is None:
        return None
    try:
        sealed = notes.unbase64(content)
    except notes.NoteError:
        return "changed: its content is no base64"
    if hashlib.sha256(sealed).hexdigest() != digests["sealed"]:
        return "changed: its content is not what was sealed"
    return None


# Seals and restores

SEAL = {
    "epoch": jcs.is_positive, "size": jcs.is_positive, "root": jcs.is_sha256,
    "signature": jcs.is_hex(64), "heads": jcs.is_object, "keyId": jcs.is_hex(4),
}
HEADS = {"streams": jcs.is_positive, "root": jcs.is_sha256, "signature": jcs.is_hex(64)}
TREE = {
    "size": jcs.is_positive, "root": jcs.is_sha256, "signature": jcs.is_hex(64),
    "keyId": jcs.is_hex(4),
}


def _text(origin, size, root):
    return f"{origin}\n{size}\n{base64.b64encode(bytes.fromhex(root)).decode()}\n"


def _note(text, name, key_id, signature):
    blob = base64.b64encode(bytes.fromhex(key_id + signature)).decode()
    return f"{text}\n\u2014 {name} {blob}\n"


class LogCheck:
    """Checks a log from its first event to its last."""

    def __init__(self, keys):
        self.report = Report()
        self.keys = keys
        self.chains = Chains(self.report, names_what_is_after=True)
        self.tree, self.heads = merkle.Tree(), merkle.Tree()
        self.roots, self.heads_at = [], []
        self.stream_places = {}
        self.places = {}
        self.tasks = {}
        self.blobs = {}
        self.ended = set()
        self.log_id, self.epoch = None, 1
        self.seals, self.sealed_size = {}, 0
        self.restores = []
        self.unvouched = []
        self.unchecked = 0

    def read(self, path):
        """Takes in each row of the database, in the order of the log, and checks it."""
        for index, row in enumerate(_rows(path)):
            try:
                event, content = _read_row(row)
                problem = event_problem(event)
            except jcs.JsonError as error:
                problem = f"changed: {error}"
            if problem:
                self.report.fault(str(row[1]), row[2] if isinstance(row[2], int) else None, problem)
                self._grow(bytes(32))
            else:
                self._take(index, event, content)
        if not self.roots:
            self.report.fault("log-main", 0, "removed: the log has no event")
        for place in self.unvouched:
            self.report.fault(*place, "unsigned: nobody vouches for this restore")
        earlier = lambda a, b: (self.places[a["stream"], a["revision"]]
                                < self.places[b["stream"], b["revision"]])
        for name in {stream.partition("-")[2]: None for stream in self.tasks}:
            check_order(self.report, self.tasks.get(f"task-{name}", {}),
                        self.tasks.get(f"terminal-{name}", {}), earlier)
        if self.unchecked:
            self.report.remarks.append(
                f"{self.unchecked} signatures were not checked: no verifier key was given")

    def _take(self, index, event, content):
        stream, revision, kind = event["stream"], event["revision"], kind_of(event["stream"])
        problem = _content_problem(event, content)
        if problem:
            self.report.fault(stream, revision, problem)
        self._check_type(index, event)
        for owner in self._owners(event):
            if owner not in self.stream_places:
                self.report.fault(stream, revision, f"removed: {owner} is not there before it")
        self.chains.follow(event)
        self.places[stream, revision] = index
        if kind in ("task", "terminal"):
            self.tasks.setdefault(stream, {})[revision] = event
        for blob in blobs_in(event["data"]):
            self.blobs.setdefault(blob, []).append((stream, revision))
        if event["type"] == ENDS_OF_STREAMS.get(kind):
            self.ended.update((stream, "terminal-" + stream.partition("-")[2]))
        leaf = f"{stream}\n{revision}\n{event['meta']['hash']}\n"
        place = self.stream_places.setdefault(stream, len(self.heads))
        self.heads.set(place, leaf.encode("utf-8", "surrogatepass"))
        self._grow(bytes.fromhex(event["meta"]["hash"]))

    def _grow(self, leaf):
        self.tree.set(len(self.tree), leaf)
        self.roots.append(self.tree.root())
        self.heads_at.append((len(self.heads), self.heads.root()))

    @staticmethod
    def _owners(event):
        """The streams that must be older than this event."""
        needed = {"ProjectCreated": ["owner"], "TaskCreated": ["owner", "project"]}
        streams = {"owner": "user", "project": "project"}
        for member in needed.get(event["type"], []):
            yield f"{streams[member]}-{event['data'].get(member + 'Id')}"

    def _check_type(self, index, event):
        """The events that have a meaning for the whole log."""
        stream, revision, type_ = event["stream"], event["revision"], event["type"]
        problem = None
        if (type_ == "LogBegun") != (index == 0):
            problem = "moved: the log begins with LogBegun, and nothing else does"
        elif type_ in ("LogBegun", "LogRestored") and stream != "log-main":
            problem = f"moved: {type_} stands in log-main"
        elif (type_ == "LogSealed") != (kind_of(stream) == "seal"):
            problem = "moved: seals stand in the streams of seals, and nothing else does"
        elif type_ == "LogBegun":
            shape = jcs.misshapen(event["data"], {"logId": jcs.is_text})
            problem = shape and f"changed: LogBegun {shape}"
            self.log_id = event["data"].get("logId")
        elif type_ == "LogRestored":
            problem = self._restore_problem(index, event)
        elif type_ == "LogSealed":
            problem = self._seal_problem(index, event)
        if problem:
            self.report.fault(stream, revision, problem)

    def _is_signed(self, name, key_id, text, signature):
        """Whether a known key signed the text; without any keys it passes, and is counted."""
        if not self.keys:
            self.unchecked += 1
            return True
        for key in self.keys:
            if notes.key_id(name, key).hex() == key_id:
                return ed25519.verify(key, text.encode("utf-8", "replace"), bytes.fromhex(signature))
        return False

    def _restore_problem(self, index, event):
        data, place = event["data"], (event["stream"], event["revision"])
        members = {1: {"epoch": jcs.is_positive},
                   2: {"epoch": jcs.is_positive, "tree": jcs.or_null(jcs.is_object)}}
        if event["version"] not in members:
            return "changed: no known version of LogRestored"
        problem = jcs.misshapen(data, members[event["version"]])
        if problem:
            return f"changed: the restore {problem}"
        if data["epoch"] <= self.epoch:
            return "changed: the epoch of a restore is not higher than the one before it"
        self.epoch, self.sealed_size = data["epoch"], 0
        self.restores.append((self.epoch, index))
        tree = data.get("tree")
        if tree is None:
            self.unvouched.append(place)
            return None
        problem = jcs.misshapen(tree, TREE)
        if problem:
            return f"changed: the tree of the restore {problem}"
        name = notes.origin(self.log_id, self.epoch)
        text = _text(f"{name}/restored", tree["size"], tree["root"])
        if not self._is_signed(name, tree["keyId"], text, tree["signature"]):
            return "unsigned: the key did not sign this restore"
        if tree["size"] != index or tree["root"] != self.tree.root().hex():
            return "changed: the log before the restore is not the one that was signed"
        self.unvouched.clear()
        return None

    def _seal_problem(self, index, event):
        data = event["data"]
        problem = jcs.misshapen(data, SEAL) or jcs.misshapen(data["heads"], HEADS)
        if problem:
            return f"changed: the seal {problem}"
        if data["epoch"] != self.epoch or event["stream"] != f"seal-{self.epoch}":
            return "moved: a seal of another epoch"
        seals = self.seals.setdefault(self.epoch, {})
        name, size, heads = notes.origin(self.log_id, self.epoch), data["size"], data["heads"]
        text = _text(name, size, data["root"])
        heads_text = _text(f"{name}/heads/{size}", heads["streams"], heads["root"])
        older, self.sealed_size = self.sealed_size, size
        seals[event["revision"]] = {
            "revision": event["revision"], "at": event["at"],
            "checkpoint": _note(text, name, data["keyId"], data["signature"]),
            "heads": _note(heads_text, name, data["keyId"], heads["signature"])}
        for signed, signature in ((text, data["signature"]), (heads_text, heads["signature"])):
            if not self._is_signed(name, data["keyId"], signed, signature):
                return "unsigned: the key did not sign this seal"
        if not older <= size <= index:
            return "moved: the size of the seal does not fit its place"
        if data["root"] != self.roots[size - 1].hex():
            return "changed: what is older than this seal is not what was sealed"
        if (heads["streams"], bytes.fromhex(heads["root"])) != self.heads_at[size - 1]:
            return "changed: the ends of the streams are not what was sealed"
        return None

    # The file of seals

    def check_file(self, path):
        """Holds a file of seals against the log."""
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
        seen, last = {}, (0, -1)
        for number, line in enumerate(lines, 1):
            if line == b"":
                continue
            try:
                seal = self._read_line(line)
            except (jcs.JsonError, notes.NoteError) as error:
                if not _breaks_off(line):
                    self.report.fault("seals.ndjson", number, f"added: it is no seal: {error}")
                continue
            revision = seal.members["revision"]
            problem = self._line_problem(seal, revision)
            revisions = seen.setdefault(seal.epoch, set())
            if revision not in revisions and (seal.epoch, revision) < last:
                problem = problem or "moved: it stands behind a later seal"
            last = max(last, (seal.epoch, revision))
            revisions.add(revision)
            if problem:
                self.report.fault(f"seal-{seal.epoch}", revision, f"file of seals: {problem}")
        newest = max(self.seals.get(self.epoch, {0: None}))
        seen.setdefault(self.epoch, set())
        for epoch, revisions in seen.items():
            end = max(*revisions, newest - 1, -1) + 1 if epoch == self.epoch else max(revisions) + 1
            missing = (revision for revision in range(end) if revision not in revisions)
            for revision in itertools.islice(missing, 100):
                self.report.fault(f"seal-{epoch}", revision, "file of seals: removed: it is missing")

    def _read_line(self, line):
        members = jcs.parse_bytes(line)
        problem = jcs.misshapen(members, {"revision": jcs.is_count, "at": _is_time,
                                          "checkpoint": jcs.is_text, "heads": jcs.is_text})
        if problem:
            raise notes.NoteError(f"it {problem}")
        seal = notes.parse_seal(members)
        if seal.log_id != self.log_id:
            raise notes.NoteError("it is of another log")
        ordered = {name: members[name] for name in ("revision", "at", "checkpoint", "heads")}
        if json.dumps(ordered, ensure_ascii=False, separators=(",", ":")).encode() != line:
            raise notes.NoteError("it is not written as seals are")
        return seal

    def _line_problem(self, seal, revision):
        """What is wrong with a line of the file, against the log, as words, or None."""
        expected = self.seals.get(seal.epoch, {}).get(revision)
        if expected:
            same = all(seal.members[name] == expected[name] for name in ("revision", "at", "heads"))
            if same and seal.members["checkpoint"].startswith(expected["checkpoint"]):
                return None
            return "changed: it is not the seal of the log"
        if seal.epoch >= self.epoch:
            return "removed: the log lacks this seal"
        # An epoch that the log does not know was cut off as a whole, its own restore included.
        restored = next(size for epoch, size in self.restores if epoch > seal.epoch)
        if seal.epoch > 1 and seal.epoch not in dict(self.restores):
            restored = 0
        name = notes.origin(self.log_id, seal.epoch)
        try:
            heads = notes.parse_checkpoint(seal.members["heads"])
        except notes.NoteError as error:
            return f"changed: heads: {error}"
        size, root = seal.checkpoint.size, seal.checkpoint.root
        if heads.origin != f"{name}/heads/{size}":
            return "changed: heads has another origin"
        for part in (seal.checkpoint, heads):
            line_name, key_id, signature = part.note.signatures[0]
            if line_name != name or not self._is_signed(
                    name, key_id.hex(), part.note.text, signature.hex()):
                return "unsigned: the key did not sign this seal"
        if size <= restored and (size == 0 or self.roots[size - 1] != root):
            return "removed: the log lacks this seal, and no restore cut it off"
        return None

    # Blobs

    def check_blobs(self, folder):
        """Holds each blob that a stream names, which has not come to its end, against its file."""
        for (name, size), places in self.blobs.items():
            place = next((place for place in places if place[0] not in self.ended), None)
            if place is None:
                continue
            path = os.path.join(folder, name[:2], name[2:4], name)
            if not os.path.isfile(path):
                self.report.fault(*place, f"removed: the blob {name} is missing")
                continue
            with open(path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest != name or os.path.getsize(path) != size + CIPHERTEXT_HEAD:
                self.report.fault(*place, f"changed: the blob {name} is not what was stored")


def _beginnings():
    """A pattern for what a line of the file of seals is when it breaks off anywhere."""
    string = r'(?:[^"\\]|\\.)*\\?'
    parts = [*'{"revision":', r"\d*", *',"at":"', string, *'","checkpoint":"', string,
             *'","heads":"', string, *'"}']
    pattern = ""
    for part in reversed(parts):
        pattern = f"(?:{re.escape(part) if len(part) == 1 else part}{pattern})?"
    return re.compile(pattern)


BEGINNING = _beginnings()


def _breaks_off(line):
    """Whether a line that is no seal is the beginning of one."""
    text = line.decode("utf-8", "replace")
    return text != "" and not text.endswith("}") and BEGINNING.fullmatch(text) is not None


def check_log(path, keys=(), seals=(), blobs=None):
    """The report of a check of a log, held against its files of seals and its folder of blobs."""
    prints, known = notes.known_keys(keys)
    check = LogCheck(known)
    if len(prints) > len(known):
        check.report.remarks.append("a fingerprint alone cannot check a log: give the verifier key")
    check.read(path)
    for file in seals:
        check.check_file(file)
    if blobs is not None:
        check.check_blobs(blobs)
    return check.report
