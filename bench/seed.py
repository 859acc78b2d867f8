"""The Python seed's jobs, as a worker process: the protocol of worker.mjs.

The first argument is the folder that holds the seed as seed_transcript.py.
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


JOBS = {"verify": verify, "append": append}

for line in sys.stdin:
    request = json.loads(line)
    try:
        reply = {"seconds": JOBS[request["job"]](request)}
    except Exception as error:  # told to the harness, which stops the row
        reply = {"error": repr(error)}
    print("=> " + json.dumps(reply), flush=True)
