#!/usr/bin/env python3
"""Checks hashtape/1 transcripts. Written from docs/format.md alone, to be a second opinion.

    python3 verify.py [--count N] [--head HEX] [--allow-open] FILE...

Prints one JSON verdict a line. Exit status: 0 every file holds, 1 a fault was found, 2 a file could
not be read or the arguments were wrong. Needs Python 3.8 and nothing else.

The `json` module reads too much and too little for this: it takes NaN, lets the last of two equal keys
win in silence, forgets how a number was spelled, refuses integers over 4,300 digits, and recurses. So
the reader below is its own: iterative, keeps numbers as text, and tells of duplicates by their spelling.
"""

import argparse
import hashlib
import json
import re
import sys

GENESIS = "0" * 64
MAX_LINE = 64 * 1024 * 1024
MAX_READ = 256 * 1024  # a longer line that isn't canonical JSON is only called that (section 5)
MAX_DEPTH = 1000000  # of containers that have members
FIELDS = ("hash", "kind", "payload", "prev", "seq")
HEX64 = re.compile(r"[0-9a-f]{64}")
SPACE = re.compile(r"[ \t\n\r]*")
NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")
STRING = re.compile(
    r'"([^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*)"'
)
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
SHORT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
LITERALS = {"null": None, "true": True, "false": False}
END = object()
encode = json.JSONEncoder(ensure_ascii=False).encode


class Fault(Exception):
    def __init__(self, reason, detail, expected=None):
        super().__init__(reason)
        self.reason, self.detail, self.expected = reason, detail, expected


class Number:
    """A number in its canonical spelling (section 3.2)."""

    def __init__(self, integer, fraction):
        self.is_integer = fraction == ""
        self.overflows = False
        if self.is_integer:
            self.text = "0" if integer == "-0" else integer
        else:
            value = float(integer + fraction)
            self.overflows = value in (float("inf"), float("-inf"))
            self.text = repr(value)


class Reader:
    """Reads one JSON text (RFC 8259) without recursion, so that nesting of any depth is judged.

    If `strict`, it refuses what is not canonical, and keeps only what the outermost object says of a record:
    the five members and a few others, without what their containers hold. So its memory is near the line's.
    """

    def __init__(self, text, strict=False):
        self.text, self.at, self.overflow, self.strict = text, 0, False, strict

    def document(self):
        open_containers, keys = [], []
        while True:
            start = self.at
            value = self.value()
            if value is END:  # a container with members was entered
                is_array = self.text[self.at - 1] == "["
                self.require(self.at == start + 1 and len(keys) < MAX_DEPTH)
                open_containers.append([] if is_array else {})
                keys.append(None if is_array else self.key())
                continue
            self.require_spelling(value, "", start)
            while open_containers:
                container = open_containers[-1]
                if self.strict and not (len(keys) == 1 and (keys[0] in FIELDS or len(container) < 16)):
                    pass
                elif keys[-1] is None:
                    container.append(value)
                else:
                    container[keys[-1]] = value
                mark = self.mark()
                if mark == ",":
                    if keys[-1] is not None:
                        last, keys[-1] = keys[-1], self.key()
                        self.require(last < keys[-1])
                    break
                if mark != ("]" if keys[-1] is None else "}"):
                    self.fail("expected , or the end of a container")
                value = open_containers.pop()
                keys.pop()
            else:
                start = self.at
                self.space()
                self.require(self.at == start)
                if self.at != len(self.text):
                    self.fail("data after the end")
                return value

    def value(self):
        """A scalar or an empty container; END, with its bracket just read, for any other container."""
        self.space()
        text, at = self.text, self.at
        first = text[at : at + 1]
        if first == '"':
            return self.string()
        if first in ("{", "["):
            inner = SPACE.match(text, at + 1).end()
            if text[inner : inner + 1] == ("}" if first == "{" else "]"):
                self.at = inner + 1
                return {} if first == "{" else []
            self.at = at + 1
            return END
        for word, value in LITERALS.items():
            if text.startswith(word, at):
                self.at = at + len(word)
                return value
        match = NUMBER.match(text, at)
        if match is None:
            self.fail("expected a value")
        self.at = match.end()
        number = Number(match.group(1), match.group(2))
        self.overflow = self.overflow or number.overflows
        return number

    def string(self):
        match = STRING.match(self.text, self.at)
        if match is None:
            self.fail("expected a string that ends well")
        self.at = match.end()
        raw = match.group(1)
        if "\\" not in raw:
            return raw
        plain = ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else SHORT[m[2]], raw)
        # Two escapes can make one astral character; a lone surrogate stays what it is.
        return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")

    def key(self):
        start = self.at
        self.space()
        key = self.string()
        if self.mark() != ":":
            self.fail("expected :")
        self.require_spelling(key, ":", start)
        return key

    def mark(self):
        start = self.at
        self.space()
        self.require(self.at == start)
        self.at += 1
        return self.text[self.at - 1 : self.at]

    def space(self):
        self.at = SPACE.match(self.text, self.at).end()

    def require(self, holds):
        if self.strict and not holds:
            self.fail("not canonical")

    def require_spelling(self, value, mark, start):
        if self.strict and spelled(value) + mark != self.text[start : self.at]:
            self.fail("not canonical")

    def fail(self, problem):
        raise Fault("bad_json", "column %d: %s" % (self.at + 1, problem))


def spelled(value):
    """The canonical spelling of a scalar or an empty container."""
    return value.text if isinstance(value, Number) else encode(value)


def canonical(value):
    """Canonical JSON (section 3), without recursion."""
    out, work = [], [value]
    while work:
        item = work.pop()
        if isinstance(item, tuple):  # text that is ready
            out.append(item[0])
        elif isinstance(item, dict):
            work.append(("}",))
            for i, key in enumerate(sorted(item, reverse=True)):
                comma = "" if i == len(item) - 1 else ","
                work += [item[key], (comma + encode(key) + ":",)]
            out.append("{")
        elif isinstance(item, list):
            work.append(("]",))
            for i in range(len(item) - 1, -1, -1):
                work += [item[i], ("," if i else "",)]
            out.append("[")
        else:
            out.append(spelled(item))
    return "".join(out)


def shape(record):
    if not isinstance(record, dict):
        raise Fault("not_an_object", "the line is not an object")
    missing = [field for field in FIELDS if field not in record]
    if missing:
        raise Fault("missing_fields", ", ".join(missing))
    extra = [key for key in record if key not in FIELDS]
    if extra:
        raise Fault("extra_fields", ", ".join(extra)[:200])
    seq = record["seq"]
    well_formed = {
        "hash": isinstance(record["hash"], str) and HEX64.fullmatch(record["hash"]),
        "kind": isinstance(record["kind"], str),
        "payload": isinstance(record["payload"], (dict, list)),
        "prev": isinstance(record["prev"], str) and HEX64.fullmatch(record["prev"]),
        "seq": isinstance(seq, Number) and seq.is_integer,
    }
    for field in FIELDS:
        if not well_formed[field]:
            raise Fault("malformed_record", "the field %s is of the wrong form" % field)


def check_place(record, count, head):
    if record["seq"].text != str(count):
        raise Fault("seq_gap", "seq is " + record["seq"].text[:40], str(count))
    if record["prev"] != head:
        raise Fault("prev_mismatch", "prev is " + record["prev"], head)


def check_long_line(line, count, head):
    """A canonical record's hash is that of the line's own bytes without their `"hash":"...",` (section 4)."""
    if b"\0" in line:
        raise Fault("bad_json", "a NUL byte")
    try:
        record = Reader(line.decode("utf-8"), strict=True).document()
    except (UnicodeDecodeError, Fault):
        raise Fault("not_canonical", "a line over %d bytes that is not canonical JSON" % MAX_READ)
    shape(record)
    check_place(record, count, head)
    digest = hashlib.sha256(b"{" + line[75:]).hexdigest()
    if digest != record["hash"]:
        raise Fault("hash_mismatch", "hash is " + record["hash"], digest)
    return digest, record["kind"]


def check_line(line, count, head):
    """Checks one line (without its newline) in the order of section 5; returns its hash and kind."""
    if len(line) > MAX_LINE:
        raise Fault("malformed_record", "a line over %d bytes" % MAX_LINE)
    if len(line) > MAX_READ:
        return check_long_line(line, count, head)
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise Fault("bad_utf8", "the line is not valid UTF-8")
    if text.strip(" \t\r") == "":
        raise Fault("not_canonical", "a blank line")
    reader = Reader(text[1:] if text[0] == "\ufeff" else text)
    record = reader.document()
    shape(record)
    check_place(record, count, head)
    if reader.overflow:
        raise Fault("hash_mismatch", "a number beyond the range of a double has no canonical form")
    content = canonical({key: record[key] for key in ("kind", "payload", "prev", "seq")})
    try:
        digest = hashlib.sha256(content.encode("utf-8")).hexdigest()
    except UnicodeEncodeError:
        raise Fault("hash_mismatch", "a lone surrogate has no canonical form")
    if digest != record["hash"]:
        raise Fault("hash_mismatch", "hash is " + record["hash"], digest)
    if canonical(record) != text:
        raise Fault("not_canonical", "the same content in another spelling")
    return digest, record["kind"]


def verify(file, options):
    count, head, sealed, number, fault = 0, GENESIS, False, 1, None
    try:
        with open(file, "rb") as stream:
            line = stream.readline(MAX_LINE + 2)
            while line:
                following = b""
                if not line.endswith(b"\n"):
                    if len(line) == MAX_LINE + 2:
                        raise Fault("malformed_record", "a line over %d bytes" % MAX_LINE)
                    raise Fault("torn_tail", "the last line has no newline")
                try:
                    following = stream.readline(MAX_LINE + 2)
                    head, kind = check_line(line[:-1], count, head)
                except Fault as found:
                    if found.reason in ("bad_json", "bad_utf8") and not following:
                        raise Fault("torn_tail", "the last line is cut: " + found.detail)
                    raise
                count, number, sealed, line = count + 1, number + 1, kind == "final", following
        if not sealed and not options.allow_open:
            raise Fault("not_sealed", "%d records and no final one after them" % count)
        if options.count not in (None, count):
            raise Fault("count_mismatch", "%d records" % count, str(options.count))
        if options.head not in (None, head):
            raise Fault("head_mismatch", "the head is " + head, options.head)
    except Fault as found:
        fault = found
    except OSError as error:
        count, head, sealed, number, fault = 0, GENESIS, False, 1, Fault("unreadable", str(error))
    verdict = {"file": file, "ok": fault is None, "count": count, "head": head, "sealed": sealed}
    if fault is not None:
        found = {"seq": count, "line": number, "reason": fault.reason, "detail": fault.detail}
        verdict["fault"] = found if fault.expected is None else dict(found, expected=fault.expected)
    return verdict


def whole_number(text):
    if not re.fullmatch(r"[0-9]+(_[0-9]+)*", text):
        raise argparse.ArgumentTypeError("it must be a whole number of at least 0")
    return int(text)


def head_hash(text):
    if not HEX64.fullmatch(text.lower()):
        raise argparse.ArgumentTypeError("it must be the 64 hexadecimal digits of a SHA-256")
    return text.lower()


def main():
    parser = argparse.ArgumentParser(description="Checks hashtape/1 transcripts.")
    parser.add_argument("--count", type=whole_number, help="how many records there must be")
    parser.add_argument("--head", type=head_hash, help="the hash that the last record must have")
    parser.add_argument("--allow-open", action="store_true", help="accept a run without its final record")
    parser.add_argument("files", nargs="+", metavar="FILE")
    options = parser.parse_args()
    status = 0
    for file in options.files:
        verdict = verify(file, options)
        print(json.dumps(verdict), flush=True)
        if not verdict["ok"]:
            status = max(status, 2 if verdict["fault"]["reason"] == "unreadable" else 1)
    return status


if __name__ == "__main__":
    sys.exit(main())
