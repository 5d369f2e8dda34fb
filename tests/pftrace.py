"""Reads and writes Perfetto's protobuf with nothing but Python: as much of it as the tests need.

    processes(path)     {pid: (name, [labels])}
    slices(path)        [(pid, tid, name, begin ns, end ns)], by begin
    packet(...), field(number, value)     bytes of a packet, of a field
"""


def varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def packet(*fields):
    return field(1, b"".join(fields))


def fields(data):
    """[(number, int or bytes)] of a message."""
    at, found = 0, []

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = number()
        if tag & 7 == 0:
            found.append((tag >> 3, number()))
        else:
            size = {1: 8, 5: 4}.get(tag & 7)
            size = number() if size is None else size
            found.append((tag >> 3, data[at:at + size]))
            assert at + size <= len(data), "cut off"
            at += size
    return found


def packets(path):
    with open(path, "rb") as file:
        return [fields(body) for _, body in fields(file.read())]


def processes(path):
    found = {}
    for p in packets(path):
        for one in [dict(fields(v)) for k, v in p if k == 60]:
            if 3 in one:
                process = fields(one[3])
                found[dict(process)[1]] = (next((v.decode() for k, v in process if k == 6), ""),
                                           [v.decode() for k, v in process if k == 8])
    return found


def slices(path):
    names, clock, default, tracks, events = {}, {}, {}, {}, []
    for place, p in enumerate(packets(path)):
        d = dict(p)
        sequence = d.get(10)
        if 60 in d:
            one = dict(fields(d[60]))
            if 4 in one:
                thread = dict(fields(one[4]))
                tracks[one[1]] = (thread[1], thread[2])
        if 12 in d:
            for entry in [dict(fields(v)) for k, v in fields(d[12]) if k == 2]:     # 4: places in the source
                names[sequence, entry[1]] = entry[2].decode()
        if 6 in d:
            clock[sequence] = dict(fields(fields(d[6])[0][1]))[2]
        if 59 in d:
            default[sequence] = dict(fields(dict(fields(d[59]))[11]))[11]
        if 11 not in d:
            continue
        event = dict(fields(d[11]))
        if 58 in d:
            time = d[8]
        else:
            time = clock[sequence] = clock[sequence] + d.get(8, 0)
        name = event[23].decode() if 23 in event else names.get((sequence, event.get(10)), "")
        events.append((time, place, event.get(11, default.get(sequence)), event[9], name))
    found, stack = [], {}
    for time, _, track, kind, name in sorted(events):
        if track in tracks and kind == 1:
            stack.setdefault(track, []).append((name, time))
        elif track in tracks and kind == 2:
            name, begin = stack[track].pop()
            found.append((*tracks[track], name, begin, time))
    return sorted(found, key=lambda s: (s[3], -s[4]))
