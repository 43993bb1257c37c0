"""The rules for an audit bundle, and for seals from elsewhere that are held against it."""

import hashlib

import ed25519
import jcs
import log
import merkle
import notes

LONGEST_LINE = 64 * 1024 * 1024
BOM = b"\xef\xbb\xbf"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
CATEGORIES = ("prompts", "answers", "tools", "output", "details")
UNOPENED = ("erased", "missing_key", "changed")
CATEGORIES_OF = {
    **dict.fromkeys(("TaskCreated", "TaskUpdated", "TaskForked", "TaskCreatedToCompare",
                     "AlternativeAdded", "MessageQueued", "MessageEdited", "QuestionAnswered"),
                    ("prompts",)),
    "TaskCreatedFromTurn": ("prompts", "answers"),
    **dict.fromkeys(("TaskCreatedFromIssue", "FeedbackSent"), ("prompts", "details")),
    "FeedbackReceived": ("prompts", "output", "details"),
    "PullRequestRequested": ("prompts", "answers", "details"),
    **dict.fromkeys(("MessagePosted", "MessageTextRecorded", "ThinkingRecorded", "SubagentSaid"),
                    ("answers",)),
    "QuestionAsked": ("answers", "tools"),
    **dict.fromkeys(("McpServersReported", "ToolStarted", "ToolFinished", "ArtifactKept"), ("tools",)),
    **dict.fromkeys(("CommandOutputRecorded", "TerminalOutputRecorded", "ShellOutputRecorded"),
                    ("output",)),
    **dict.fromkeys(("ProjectEnvironmentPrepared", "ProjectEnvironmentFailed"), ("output", "details")),
}


class OtherFormat(ValueError):
    """The bundle is of another version of the format."""


class Broken(ValueError):
    """Nothing further can be checked: the fault is the message."""


def _is_base64(length=None):
    def test(value):
        try:
            return isinstance(value, str) and notes.unbase64(value, length) is not None
        except notes.NoteError:
            return False
    return test


def _list_of(test):
    return lambda value: isinstance(value, list) and all(map(test, value))


def _shape(members):
    return lambda value: not jcs.misshapen(value, members)


def _once(test):
    """A test for a list of different values of a kind."""
    return lambda value: _list_of(test)(value) and len(set(value)) == len(value)


LINES = {
    "header": {
        "format": jcs.among("flightdeck-audit"), "version": jcs.is_positive, "logId": jcs.is_text,
        "epoch": jcs.is_positive, "taskId": jcs.is_text, "keys": _once(jcs.is_text),
        "links": _list_of(jcs.is_text), "checkpoint": jcs.is_text, "heads": jcs.is_text},
    "event": {"event": jcs.is_object, "content": jcs.is_object},
    "proof": {"stream": jcs.is_text, "revision": jcs.is_count, "proof": jcs.is_text},
    "end": {"stream": jcs.is_text, "revision": jcs.is_count, "proof": jcs.is_text},
    "seal": {"size": jcs.is_positive, "root": _is_base64(32), "proof": _list_of(_is_base64(32))},
    "manifest": {
        "payloadType": jcs.among(PAYLOAD_TYPE), "payload": _is_base64(),
        "signatures": lambda value: _list_of(_shape(
            {"keyid": jcs.is_text, "sig": _is_base64(64)}))(value) and len(value) == 1},
}
CONTENTS = {
    "none": {}, "disclosed": {"text": lambda value: isinstance(value, str)},
    "withheld": {"category": jcs.among(*CATEGORIES)}, "erased": {}, "missing_key": {}, "changed": {},
}
STATEMENT = {
    "_type": jcs.among("https://in-toto.io/Statement/v1"),
    "subject": _list_of(_shape(
        {"name": jcs.is_text, "digest": _shape({"sha256": jcs.is_sha256})})),
    "predicateType": jcs.among("https://flightdeck.dev/audit-manifest/v2"),
    "predicate": jcs.is_object,
}
PREDICATE = {
    "header": jcs.is_sha256,
    "heads": lambda value: jcs.is_object(value) and all(map(jcs.is_count, value.values())),
    "withheld": _once(jcs.among(*CATEGORIES)),
    "unopened": _list_of(_shape({"stream": jcs.is_text, "first": jcs.is_count,
                                 "last": jcs.is_count, "kind": jcs.among(*UNOPENED)})),
    "blobs": _list_of(_shape({
        "hash": jcs.is_sha256, "state": jcs.among("kept", "changed", "erased", "missing")})),
    "seals": _shape({"from": jcs.is_count, "sizes": _once(jcs.is_positive),
                     "asked": _once(jcs.is_positive)}),
}


def _kinded(value, shapes):
    """What is wrong with an object whose members depend on its `kind`, as words, or None."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in shapes:
        return "has no known kind"
    return jcs.misshapen(value, {"kind": jcs.is_text, **shapes[kind]})


def _parse_proof(text):
    """The index, the hashes and the note of a tlog-proof."""
    head, empty, note = text.partition("\n\n")
    lines = head.split("\n")
    if not empty or lines.pop(0) != "c2sp.org/tlog-proof@v1":
        raise notes.NoteError("no tlog-proof")
    if lines and lines[0].startswith("extra "):
        notes.unbase64(lines.pop(0)[len("extra "):])
    if not lines or not lines[0].startswith("index "):
        raise notes.NoteError("a tlog-proof without its index")
    index = notes.decimal(lines.pop(0)[len("index "):])
    return index, [notes.unbase64(line, 32) for line in lines], note


class BundleCheck:
    """Checks one bundle, from its lines to the seals that the reader has."""

    def __init__(self):
        self.report = log.Report()
        self.streams = {}
        self.contents = {}
        self.proofs = {"proof": {}, "end": {}}
        self.earlier = {}
        self.last_index = -1
        self.compared_size = 0

    def fault(self, reason, stream=None, revision=None):
        self.report.fault(stream, revision, reason)

    # Lines

    def read(self, raw):
        """Takes in the lines; raises Broken where nothing more can be said."""
        lines = raw.split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        if not lines:
            raise Broken("removed: the bundle is empty")
        if raw.startswith(BOM):
            raise Broken("changed: a byte order mark")
        values = [self._read_line(number, line) for number, line in enumerate(lines, 1)]
        self._read_header(lines[0], values[0])
        if len(values) < 2 or values[-1] is None or values[-1]["kind"] != "manifest":
            raise Broken("cut at the manifest")
        self.manifest = values[-1]
        chains = log.Chains(self.report)
        for number, value in enumerate(values[1:-1], 2):
            kind = value and value["kind"]
            if kind in ("header", "manifest"):
                self.fault(f"added: line {number} is a second {kind}")
            elif kind == "event":
                self._take_event(value["event"], value["content"], chains)
            elif kind in ("proof", "end"):
                place = value["stream"], value["revision"]
                if self.proofs[kind].setdefault(place, value["proof"]) is not value["proof"]:
                    self.fault(f"added: a second {kind}", *place)
            elif kind == "seal":
                if self.earlier.setdefault(value["size"], value) is not value:
                    self.fault(f"added: a second seal line of size {value['size']}")

    def _read_line(self, number, line):
        problem = None
        if line == b"":
            problem = "it is empty"
        elif line.endswith(b"\r"):
            problem = "it ends with CR"
        elif len(line) > LONGEST_LINE:
            problem = "it is too long"
        else:
            try:
                value = jcs.parse_bytes(line)
                if number == 1 and isinstance(value, dict) and value.get("kind") == "header" \
                        and jcs.is_count(value.get("version")) and value["version"] != 2:
                    raise OtherFormat("newer format" if value["version"] > 2 else "older format")
                problem = _kinded(value, LINES)
            except jcs.JsonError as error:
                problem = str(error)
        if problem:
            self.fault(f"changed: line {number}: {problem}")
            return None
        return value

    def _read_header(self, line, header):
        if header is None or header["kind"] != "header":
            raise Broken("removed: the bundle does not begin with a header")
        self.header, self.header_digest = header, hashlib.sha256(line).hexdigest()
        self.origin = notes.origin(header["logId"], header["epoch"])
        try:
            self.keys = dict(notes.parse_verifier(text)[::-1] for text in header["keys"])
            self.checkpoint = notes.parse_checkpoint(header["checkpoint"])
            self.heads = notes.parse_checkpoint(header["heads"])
        except notes.NoteError as error:
            raise Broken(f"changed: the header: {error}") from None
        if not self.keys or set(self.keys.values()) != {self.origin}:
            raise Broken("changed: a key of the header is not under the log's origin")

    def _take_event(self, event, content, chains):
        place = event.get("stream"), event.get("revision")
        problem = log.event_problem(event)
        if problem:
            self.fault(problem, *place)
            return
        if event["stream"] not in (f"task-{self.header['taskId']}",
                                   f"terminal-{self.header['taskId']}"):
            self.fault("added: an event of another stream", *place)
            return
        problem = _kinded(content, CONTENTS)
        if problem:
            self.fault(f"changed: its content {problem}", *place)
        chains.follow(event)
        self.streams.setdefault(event["stream"], {}).setdefault(event["revision"], event)
        self.contents[place] = None if problem else content

    # The manifest, the keys and the checkpoints

    def check_manifest(self, given):
        """Who signed the manifest, and what it says about the header."""
        statement = notes.unbase64(self.manifest["payload"])
        signature = self.manifest["signatures"][0]
        if signature["keyid"] not in self.header["keys"]:
            raise Broken("unsigned: the manifest's keyid is none of the header's keys")
        key = notes.parse_verifier(signature["keyid"])[1]
        signed = b"DSSEv1 %d %s %d %s" % (
            len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(statement), statement)
        if not ed25519.verify(key, signed, notes.unbase64(signature["sig"])):
            raise Broken("unsigned: the key did not sign the manifest")
        if not given:
            self.report.remarks.append("nothing shows whose key signed it")
        elif key not in self._known(given):
            self.report.unknown_keys.append(signature["keyid"])
        try:
            value = jcs.parse_bytes(statement)
        except jcs.JsonError as error:
            raise Broken(f"changed: the manifest: {error}") from None
        problem = jcs.misshapen(value, STATEMENT) or jcs.misshapen(value["predicate"], PREDICATE)
        if problem:
            raise Broken(f"changed: the manifest {problem}")
        self.statement, self.predicate = value, value["predicate"]
        if self.predicate["header"] != self.header_digest:
            self.fault("changed: the header is not the one that the manifest names")

    def _known(self, given):
        """The keys that the reader knows, and those that these name in links."""
        prints, known = notes.known_keys(given)
        known |= {key for key in self.keys if notes.fingerprint(key) in prints}
        links = [notes.parse_link(text, self.header["logId"]) for text in self.header["links"]]
        for _ in links:
            for note, key in filter(None, links):
                if notes.fingerprint(key) in prints or any(map(note.signed_by, known)):
                    known.add(key)
        return known

    def check_checkpoints(self):
        """The two checkpoints of the header."""
        for part, origin in ((self.checkpoint, self.origin),
                             (self.heads, f"{self.origin}/heads/{self.checkpoint.size}")):
            if part.origin != origin or part.size == 0:
                self.fault("changed: a checkpoint of the header has another origin or no size")
        if not any(self.checkpoint.note.signed_by(key, self.origin)
                   and self.heads.note.signed_by(key, self.origin) for key in self.keys):
            self.fault("unsigned: none of the header's keys signed both checkpoints")

    # Events and their contents

    def check_streams(self):
        """The ends of the streams, their order, and their contents and blobs."""
        task, terminal = (f"{kind}-{self.header['taskId']}" for kind in ("task", "terminal"))
        log.check_order(self.report, self.streams.get(task, {}), self.streams.get(terminal, {}),
                        lambda a, b: True)
        if task not in self.streams:
            self.fault("removed: the task has no event", task, 0)
        heads = self.predicate["heads"]
        for stream in heads.keys() - self.streams.keys():
            self.fault("removed: the manifest names this stream", stream, heads[stream])
        ends = {}
        for stream, events in self.streams.items():
            last = max(events)
            ends[stream] = events[last]["meta"]["hash"]
            if stream not in heads:
                self.fault("added: the manifest does not name this stream", stream, 0)
            elif last != heads[stream]:
                self.fault("removed: the stream ended later" if last < heads[stream] else
                           "added: the stream ended earlier", stream, last)
            self._check_proofs(events[last])
        subject = {item["name"]: item["digest"]["sha256"] for item in self.statement["subject"]}
        if subject != ends or len(subject) != len(self.statement["subject"]):
            self.fault("changed: the manifest's subject is not the ends of the streams")
        for kind, proofs in self.proofs.items():
            for stream, revision in proofs:
                if revision != max(self.streams.get(stream, {-1: None})):
                    self.fault(f"added: a {kind} of what is no last event", stream, revision)
        self._check_contents()
        self._check_blobs()

    def _check_proofs(self, event):
        stream, revision, digest = event["stream"], event["revision"], event["meta"]["hash"]
        end = f"{stream}\n{revision}\n{digest}\n".encode("utf-8", "surrogatepass")
        for kind, root, leaf in (("proof", self.checkpoint, bytes.fromhex(digest)),
                                 ("end", self.heads, end)):
            text = self.proofs[kind].get((stream, revision))
            if text is None:
                self.fault(f"unproven: it has no {kind}", stream, revision)
                continue
            try:
                index, steps, note = _parse_proof(text)
            except notes.NoteError as error:
                self.fault(f"unproven: {kind}: {error}", stream, revision)
                continue
            if kind == "proof":
                self.last_index = max(self.last_index, index)
            if note != root.note.raw:
                self.fault(f"unproven: {kind} leads to another checkpoint", stream, revision)
            elif not merkle.includes(index, root.size, leaf, steps, root.root):
                self.fault(f"unproven: {kind} does not lead to the root", stream, revision)

    def _unopened(self):
        """The kind that the manifest gives for each revision that has a content not opened; the first counts."""
        kinds = {}
        for item in self.predicate["unopened"]:
            stream, first, last = item["stream"], item["first"], item["last"]
            for revision in self.streams.get(stream, {}):
                if first <= revision <= last:
                    kinds.setdefault((stream, revision), item["kind"])
        return kinds

    def _check_contents(self):
        unopened, withheld = self._unopened(), self.predicate["withheld"]
        for stream, events in self.streams.items():
            for revision, event in events.items():
                problem = self._content_problem(
                    event, self.contents[stream, revision], withheld,
                    unopened.get((stream, revision), "disclosed"))
                if problem:
                    self.fault(problem, stream, revision)

    @staticmethod
    def _content_problem(event, content, withheld, kind):
        """What is wrong with what became of a content, as words, or None."""
        digests = event["meta"]["content"]
        if content is None:
            return None
        if digests is None:
            return None if content["kind"] == "none" else "added: the event has no content"
        categories = CATEGORIES_OF.get(event["type"], ("details",))
        category = next((name for name in categories if name in withheld), None)
        if content["kind"] == "changed":
            return "changed: its content was changed in the log"
        if content["kind"] == "disclosed":
            text = content["text"].encode("utf-8", "surrogatepass")
            if hashlib.sha256(text).hexdigest() != digests["commitment"]:
                return "changed: its content is not the one that was committed to"
        expected = {"kind": "withheld", "category": category} if category else {"kind": kind}
        allowed = content["kind"] == "disclosed" and (category or kind == "disclosed")
        if not allowed and content != expected:
            return f"removed: its content is {content['kind']}, and the manifest does not say so"
        return None

    def _check_blobs(self):
        named = {}
        for events in self.streams.values():
            for event in events.values():
                for digest, _ in log.blobs_in(event["data"]):
                    named.setdefault(digest, (event["stream"], event["revision"]))
        listed = set()
        for blob in self.predicate["blobs"]:
            place = named.get(blob["hash"], (None, None))
            if blob["hash"] in listed or place[0] is None:
                self.fault(f"added: the manifest lists the blob {blob['hash']}", *place)
            if blob["state"] == "changed":
                self.fault(f"changed: the blob {blob['hash']}", *place)
            listed.add(blob["hash"])
        for digest in named.keys() - listed:
            self.fault(f"removed: the manifest lacks the blob {digest}", *named[digest])

    # Seals

    def check_earlier(self):
        """The seal lines, against what the manifest lists."""
        listed = self.predicate["seals"]
        size, root = self.checkpoint.size, self.checkpoint.root
        if any(not listed["from"] <= item < size for item in listed["sizes"]):
            self.fault("changed: the manifest lists a seal that is not between from and its size")
        sizes = {*listed["sizes"], *listed["asked"]}
        for old in sorted(sizes - self.earlier.keys()):
            self.fault(f"removed: the seal line of size {old}")
        for old in sorted(self.earlier.keys() - sizes):
            self.fault(f"added: a seal line of size {old}")
        for old, seal in self.earlier.items():
            steps = [notes.unbase64(step, 32) for step in seal["proof"]]
            if not merkle.is_consistent(old, size, notes.unbase64(seal["root"]), root, steps):
                self.fault(f"unproven: the seal line of size {old} does not lead to the checkpoint")

    def compare(self, seals):
        """Holds seals from elsewhere against the bundle."""
        seals = [seal for seal in seals if seal.log_id == self.header["logId"]]
        roots = {}
        for seal in seals:
            problem = self._unsigned(seal)
            if not problem and seal.epoch == self.header["epoch"]:
                problem = self._contradiction(seal)
            first = roots.setdefault((seal.epoch, seal.checkpoint.size), seal.checkpoint.root)
            if first != seal.checkpoint.root:
                problem = problem or "two seals of one size have different roots"
            if problem:
                self.fault(f"contradiction: the seal of epoch {seal.epoch} and size "
                           f"{seal.checkpoint.size}: {problem}")
        self._check_gap([seal for seal in seals if seal.epoch == self.header["epoch"]])

    def _unsigned(self, seal):
        name = notes.origin(seal.log_id, seal.epoch)
        if not any(seal.checkpoint.note.signed_by(key, name) for key in self.keys):
            return "none of the header's keys signed it"
        if "heads" not in seal.members:
            return None
        try:
            heads = notes.parse_checkpoint(seal.members["heads"])
        except notes.NoteError as error:
            return f"heads: {error}"
        if heads.origin != f"{name}/heads/{seal.checkpoint.size}" \
                or not any(heads.note.signed_by(key, name) for key in self.keys):
            return "none of the header's keys signed its heads"
        return None

    def _contradiction(self, seal):
        size, listed = seal.checkpoint.size, self.predicate["seals"]
        if size > self.checkpoint.size:
            return None
        if size == self.checkpoint.size:
            self.compared_size = size
            if seal.checkpoint.root != self.checkpoint.root:
                return "it has another root than the bundle"
            if "heads" in seal.members \
                    and notes.parse_checkpoint(seal.members["heads"]).root != self.heads.root:
                return "it has other heads than the bundle"
            return None
        line = self.earlier.get(size)
        if line is not None:
            self.compared_size = max(self.compared_size, size)
            if notes.unbase64(line["root"]) != seal.checkpoint.root:
                return "it has another root than the bundle proves"
        if size >= listed["from"] and size not in listed["sizes"]:
            return "the bundle does not list it"
        return None

    def _check_gap(self, seals):
        """Whether seals go past the bundle's own, without it."""
        by_size = lambda seal: seal.checkpoint.size
        smaller = [seal for seal in seals if seal.checkpoint.size < self.checkpoint.size]
        larger = [seal for seal in seals if seal.checkpoint.size > self.checkpoint.size]
        if not larger:
            return
        after = min(larger, key=by_size).members.get("revision")
        before = max(smaller, key=by_size).members.get("revision") if smaller else None
        revisions = [seal.members.get("revision") for seal in larger]
        if any(jcs.is_count(revision) and revision == 0 for revision in revisions) or (
                jcs.is_count(after) and jcs.is_count(before) and after == before + 1):
            self.fault("contradiction: the bundle's own seal was left out of the file of seals")


def check_bundle(path, keys=(), seals=()):
    """The report of a check of a bundle, and whether a seal from elsewhere bears it out."""
    notes.known_keys(keys)
    elsewhere = [seal for file in seals for seal in notes.read_seals(file)]
    with open(path, "rb") as file:
        raw = file.read()
    check = BundleCheck()
    try:
        check.read(raw)
        check.check_manifest(keys)
        check.check_checkpoints()
        check.check_streams()
        check.check_earlier()
        check.compare(elsewhere)
    except Broken as error:
        check.fault(str(error))
    return check.report, check.compared_size > check.last_index
