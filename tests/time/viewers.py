#!/usr/bin/env python3
"""Traces as their viewers see them: protobuf decoded with Perfetto's own schema, not a field unknown,
times and names resolved as its trace processor does; Chrome JSON.

    viewers.py WRITER          the program built from writer.c
"""
import html
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter

try:
    from google.protobuf.unknown_fields import UnknownFieldSet
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2
except ImportError as error:
    if os.environ.get("CI") == "true":
        sys.exit(f"failed: {error} (CI=true)")
    print(f"skipped: {error} (tests/python.txt)")
    sys.exit(77)

WRITER = os.path.abspath(sys.argv[1])
failed = 0


def check(condition, what):
    global failed
    if not condition:
        failed += 1
        print(f"FAILED: {what}")


def unknown(message, path):
    """Fails for a field that the schema does not know, at any depth."""
    check(not len(UnknownFieldSet(message)), f"unknown field in {path}")
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for one in value if field.is_repeated else [value]:
                unknown(one, f"{path}.{field.name}")


SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "writer.c")
seen = Counter()


def placed(path, name, file, line):
    """The scope and the instant that know where in the source they stand."""
    with open(SOURCE, encoding="utf-8") as text:
        want = [i for i, row in enumerate(text, 1) if f'("{name}")' in row]
    check(file.endswith("writer.c") and [line] == want, f"{path}: {name} at {file}:{line}, not {want}")
    seen[os.path.splitext(path)[1], name] += 1


TOLD = {"rows": 2.5, 'path "x"': "caf\u00e9 \\ a text that is longer than a few entries of the ring", "told": "why"}


def told(path, name, values):
    """Values and texts belong to the scope that was open, and are no events of their own."""
    check(values == (TOLD if name == "placed" else {}), f"{path}: {name} is told {values}")
    check(name not in TOLD, f"{path}: {name} is an event")
    seen[os.path.splitext(path)[1], "told"] += bool(values)


def perfetto(path):
    """{track: its events in order of time} and the descriptors, as the trace processor reads them."""
    trace = perfetto_trace_pb2.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    check(len(trace.packet) > 0, f"{path} is empty")
    names, default, clock, snapshots, tracks, events, places = {}, {}, {}, {}, {}, [], {}
    for place, packet in enumerate(trace.packet):
        unknown(packet, "packet")
        seq = packet.trusted_packet_sequence_id
        check(seq, "no sequence")
        if packet.incremental_state_cleared or packet.sequence_flags & 1:
            names[seq], default[seq] = {}, None
        for entry in packet.interned_data.event_names:
            names[seq][entry.iid] = entry.name
        for entry in packet.interned_data.source_locations:
            places[seq, entry.iid] = (entry.file_name, entry.line_number)
        if packet.HasField("trace_packet_defaults"):
            default[seq] = packet.trace_packet_defaults
        if packet.HasField("clock_snapshot"):
            first, own = packet.clock_snapshot.clocks
            check(first.clock_id == 3 and own.is_incremental and 64 <= own.clock_id < 128, "snapshot")
            key = (seq, own.clock_id)           # the trace processor refuses one that goes back
            check(snapshots.get(key, 0) <= first.timestamp, f"{path}: time of {key} goes back")
            snapshots[key] = clock[key] = first.timestamp
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        if packet.HasField("timestamp_clock_id"):
            check(packet.timestamp_clock_id == 3, "clock")
            time = packet.timestamp
        else:
            key = (seq, default[seq].timestamp_clock_id)
            clock[key] += packet.timestamp
            time = clock[key]
        track = event.track_uuid or default[seq].track_event_defaults.track_uuid
        name = event.name or (names[seq][event.name_iid] if event.name_iid else "")
        if name.startswith("placed"):
            at = event.source_location
            placed(path, name, *(places[seq, event.source_location_iid] if event.source_location_iid else
                                 (at.file_name, at.line_number)))
        if event.type in (1, 3):
            told(path, name, {a.name: a.string_value if a.HasField("string_value") else a.double_value
                              for a in event.debug_annotations})
        events.append((time, place, track, event.type, name, event.double_counter_value))
    by_track = {}
    for time, _, track, kind, name, value in sorted(events):
        by_track.setdefault(track, []).append((time, kind, name, value))
    for track in by_track:
        check(track in tracks, f"{path}: track {track} is not described")
    return by_track, tracks


def slices(path, nested=True):
    """Counter of (pid, tid, name, start, length), and whether each lies in the scope around it."""
    by_track, tracks = perfetto(path)
    found = Counter()
    kinds = Counter()
    for track, events in by_track.items():
        described = tracks[track]
        stack = []
        for time, kind, name, value in events:
            kinds[kind] += 1
            if not described.HasField("thread"):
                check(described.parent_uuid in tracks, "a track without its process")
                continue
            if kind == 1:
                if nested and name[0] == "d":
                    check(name == "d0" or (stack and stack[-1][0] == f"d{int(name[1]) - 1}"),
                          f"{path}: {name} lies in {stack[-1:]}")
                stack.append((name, time))
            elif kind == 2:
                check(stack, f"{path}: an end without a begin")
                if stack:
                    name, start = stack.pop()
                    found[described.thread.pid, described.thread.tid, name, start, time - start] += 1
        check(not stack, f"{path}: {stack} never ended")
    return found, kinds, tracks


def chrome(path):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    trace = trace if isinstance(trace, list) else trace["traceEvents"]
    found, kinds = Counter(), Counter()
    for e in trace:
        kinds[e["ph"]] += 1
        if e["name"].startswith("placed"):
            placed(path, e["name"], e["args"]["source_file"], e["args"]["source_line"])
        if e["ph"] in "Xi":
            told(path, e["name"], {k: v for k, v in e.get("args", {}).items() if not k.startswith("source_")})
        if e["ph"] == "X":
            found[e["pid"], e["tid"], e["name"], round(e["ts"] * 1000), round(e["dur"] * 1000)] += 1
    return found, kinds, trace


# The clock is calibrated anew while the program gets older: two files written one after the other agree
# to what it knew at the first, after some milliseconds 12 ppm, and each rounds from a start of its own.
def near(a, b):
    return abs(a - b) <= 1 + max(a, b) / 5000


def alike(a, b):
    """Counters of (process, thread, name, start, length)."""
    a, b = sorted(a.elements()), sorted(b.elements())
    return len(a) == len(b) and all(x[:3] == y[:3] and abs(x[3] - y[3]) <= 5000 and near(x[4], y[4])
                                    for x, y in zip(a, b))


FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"      # of libdevel-nytprof-perl


def folded(path, saved):
    """Strictly a path and a number a line; the self times add up to the outermost scopes of the trace;
    flamegraph.pl, which the format is from, draws every scope."""
    total, names, own = 0, set(), Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("placed "):
                continue
            m = re.fullmatch(r"([^;\n]+(?:;[^;\n]+)*) (\d+)\n", line)
            check(m, f"folded: {line!r}")
            if m:
                frames = m[1].split(";")
                while frames and frames[0][0] != "d":
                    frames.pop(0)               # the thread
                check(frames and all(re.fullmatch("d[0-5]", f) for f in frames), f"folded: {line!r}")
                own[frames[-1] if frames else ""] += int(m[2])
                total += int(m[2])
                names |= set(m[1].split(";"))
                depths = [int(f[1]) for f in m[1].split(";") if re.fullmatch("d[0-5]", f)]
                check(depths == list(range(len(depths))), f"folded: {line!r} skips a scope")
    deep = sum(length * n for (_, _, name, _, length), n in saved.items() if name == "d5")
    check(abs(own["d5"] - deep) <= sum(saved.values()) + deep / 5000, f"folded: {own['d5']} ns in d5, the trace has {deep}")
    outermost = sum(length * n for (_, _, name, _, length), n in saved.items() if name == "d0")
    check(abs(total - outermost) <= 2 * sum(saved.values()) + outermost / 5000, f"folded: {total} ns, the trace has {outermost}")
    if not os.path.exists(FLAMEGRAPH):
        check(os.environ.get("CI") != "true", f"{FLAMEGRAPH} is missing (libdevel-nytprof-perl)")
        print("missing: flamegraph.pl (libdevel-nytprof-perl)")
        return
    run = subprocess.run(["perl", FLAMEGRAPH, "--countname=ns", "--minwidth=0", path], capture_output=True,
                         text=True, check=False)
    check(run.returncode == 0 and "<svg" in run.stdout and not run.stderr.strip(), f"flamegraph.pl: {run.stderr}")
    drawn = {html.unescape(n) for n in re.findall(r"<title>(.*?) \([\d,]+ ns, [\d.]+%\)</title>", run.stdout)}
    check(names and names <= drawn, f"flamegraph.pl draws {sorted(drawn)[:9]}, not {sorted(names - drawn)[:9]}")
    with open(path, encoding="utf-8") as file:
        all_ns = sum(int(line.split()[-1]) for line in file)
    check(f"all ({all_ns:,} ns, 100%)" in run.stdout, f"flamegraph.pl has another total than {all_ns:,}")


def main():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    run = subprocess.run([WRITER, "."], stdout=subprocess.PIPE, check=False, text=True)
    check(run.returncode == 0, f"writer: {run.returncode} {run.stdout}")
    rounds = int(run.stdout.split()[1])

    json_saved, json_kinds, _ = chrome("saved.json")
    saved, kinds, _ = slices("saved.pftrace")
    check(sum(saved.values()) > 300 and alike(saved, json_saved),
          f"protobuf and JSON differ: {list((saved - json_saved).items())[:3]} {list((json_saved - saved).items())[:3]}")
    check(kinds[4] == json_kinds["C"] > 0 and kinds[3] == json_kinds["i"] > 0, f"{kinds} {json_kinds}")

    folded("saved.folded", saved)

    streamed, _, _ = slices("streamed.pftrace")
    check(sum(n for (_, _, name, _, _), n in streamed.items() if name == "d0") == rounds,
          f"streamed: not {rounds} rounds")

    merged, _, tracks = slices("merged.pftrace")
    check(sum(merged.values()) == 2 * sum(saved.values()) + sum(streamed.values()), "merged: scopes")
    named = {t.process.process_name: (t.process.pid, list(t.process.process_labels))
             for t in tracks.values() if t.HasField("process")}
    check(named.keys() == {"rank 0", 'rank "1"', ""} and len({pid for pid, _ in named.values()}) == 3,
          f"processes: {named}")
    check("clock moved by 12345 ns, within 99 ns" in named['rank "1"'][1], f"{named}")
    moved = Counter({(named['rank "1"'][0], tid, name, start + 12345, length): n
                     for (_, tid, name, start, length), n in saved.items()})
    check(not moved - merged, "the times of rank 1 are not moved, or not its alone")

    kill = subprocess.run([WRITER, ".", "kill"], check=False, stdout=subprocess.PIPE)
    check(kill.returncode == -signal.SIGKILL, f"killed: {kill.returncode}")
    killed, _, _ = slices("killed.pftrace", nested=False)      # what was open then is not in it
    check(sum(n for (_, _, name, _, _), n in killed.items() if name == "d0") >= 4000, "killed: rounds")

    with open("both.pftrace", "wb") as out:     # as with cat
        for name in "saved.pftrace", "killed.pftrace":
            with open(name, "rb") as file:
                out.write(file.read())
    both, _, _ = slices("both.pftrace", nested=False)
    saved, _, _ = slices("saved.pftrace")       # of the second run
    check(both == killed + saved, "concatenated files")

    check(len(seen) == 6, f"places in the source: {seen}")

    os.chdir("/")
    shutil.rmtree(folder)
    print(f"{failed} failed; {sum(streamed.values())} scopes streamed")
    sys.exit(failed != 0)


main()
