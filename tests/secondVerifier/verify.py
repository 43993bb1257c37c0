"""A second verifier, written from docs/log-format.md and docs/audit-bundle.md alone, without the product's code.

The command line: checks a bundle or a log, or a batch of them from standard input.
"""

import argparse
import json
import os
import sys

import bundle
import log

EXIT_CODES = {"whole": 0, "not_whole": 1, "unknown_key": 1, "unreadable": 2}


def _keys(arguments):
    """The keys that are named: each as it is, or one per line of a file."""
    for argument in arguments:
        if os.path.isfile(argument):
            with open(argument, encoding="utf-8") as file:
                yield from filter(None, map(str.strip, file))
        else:
            yield argument


def check(kind, file, keys=(), seals=(), blobs=None):
    """The verdict of a check, its first line in words, its faults and its remarks."""
    keys = list(_keys(keys))
    if kind == "bundle":
        report, witnessed = bundle.check_bundle(file, keys, seals)
    elif kind == "log":
        report, witnessed = log.check_log(file, keys, seals, blobs), True
    else:
        raise ValueError(f"no such kind: {kind!r}")
    verdict = report.verdict()
    whole = "whole" if witnessed else "whole, not witnessed"
    words = {"whole": whole if keys or kind == "log" else "intact, no key was given",
             "not_whole": "not whole", "unknown_key": "unknown key"}[verdict]
    remarks = report.remarks + [f"unknown key: {key}" for key in dict.fromkeys(report.unknown_keys)]
    return verdict, words, report.faults, remarks


def _safely(**request):
    """A check at which whatever goes wrong makes the input unreadable."""
    try:
        return check(**request)
    except bundle.OtherFormat as error:
        return "unreadable", str(error), [], []
    except Exception as error:  # the boundary: one bad input must not stop a batch
        return "unreadable", f"cannot be read: {error or type(error).__name__}", [], []


def _batch():
    for line in sys.stdin.buffer:
        try:
            request = json.loads(line)
            verdict, words, faults, remarks = _safely(**request)
        except Exception as error:  # the same boundary: the request itself
            verdict, words, faults, remarks = "unreadable", f"no request: {error}", [], []
        print(json.dumps({"verdict": verdict, "faults": faults, "words": words,
                          "remarks": remarks}), flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description="Checks a bundle or a log.")
    parser.add_argument("--batch", action="store_true", help="read requests as lines of JSON")
    kinds = parser.add_subparsers(dest="kind")
    for kind in ("bundle", "log"):
        command = kinds.add_parser(kind)
        command.add_argument("file")
        command.add_argument("--key", dest="keys", action="append", default=[])
        command.add_argument("--seal", "--seals", dest="seals", action="append", default=[])
        if kind == "log":
            command.add_argument("--blobs")
    options = vars(parser.parse_args())
    if options.pop("batch"):
        return _batch()
    if options["kind"] is None:
        parser.error("name a bundle or a log")
    sys.stdout.reconfigure(errors="backslashreplace")
    verdict, words, faults, remarks = _safely(**options)
    print(words)
    for fault in faults:
        place = "" if fault["stream"] is None else f"{fault['stream']}@{fault['revision']}: "
        print(place + fault["reason"])
    for remark in remarks:
        print(f"({remark})")
    return EXIT_CODES[verdict]


if __name__ == "__main__":
    sys.exit(main())
