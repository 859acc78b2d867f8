"""The Python seeds' jobs, as a worker process: the protocol of worker.mjs.

The first argument is the folder that holds them: seed_transcript.py, and tiny_computer_agent/audit.py.
"""
import json
import os
import sys
import time

sys.path.insert(0, sys.argv[1])
import seed_transcript  # noqa: E402


def verify(request):
    start = time.perf_counter()
    ok, violations, count = seed_transcript.verify_file(request["path"])
    seconds = time.perf_counter() - start
    assert ok and count == request["count"], (violations, count)
    return seconds


def append(request):
    with open(request["payloads"], encoding="utf-8") as file:
        payloads = json.load(file)
    kind, count, path = request["kind"], request["count"], request["path"]
    transcript = seed_transcript.Transcript(path)
    start = time.perf_counter()
    for i in range(count):
        transcript.append(kind, payloads[i % len(payloads)])
    seconds = time.perf_counter() - start
    if path:
        os.remove(path)
    return seconds


def audit_verify(request):
    from tiny_computer_agent.audit import verify_audit

    start = time.perf_counter()
    ok, detail = verify_audit(request["path"])
    seconds = time.perf_counter() - start
    assert ok and detail == "%d entries, chain intact" % request["count"], detail
    return seconds


def audit_append(request):
    from tiny_computer_agent.audit import AuditLog

    with open(request["steps"], encoding="utf-8") as file:
        steps = json.load(file)
    log = AuditLog(request["path"])
    start = time.perf_counter()
    for i in range(request["count"]):
        # What `append` does once it has digested the screen.
        log._write("step", **steps[i % len(steps)])
    seconds = time.perf_counter() - start
    os.remove(request["path"])
    return seconds


JOBS = {
    "verify": verify,
    "append": append,
    "audit-verify": audit_verify,
    "audit-append": audit_append,
}

for line in sys.stdin:
    request = json.loads(line)
    try:
        reply = {"seconds": JOBS[request["job"]](request)}
    except Exception as error:  # told to the harness, which stops the row
        reply = {"error": repr(error)}
    print("=> " + json.dumps(reply), flush=True)
