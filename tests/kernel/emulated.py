#!/usr/bin/env python3
"""Runs the timers of perf_kernel.h on an emulator of AMD's RDNA3, instruction by instruction.

emulated.py TINYGRAD CODE HOST

TINYGRAD: a source folder of tinygrad, whose tests have the emulator (test/mockgpu/amd/emu.py).
CODE: the code object of emulated.hip for gfx1100.  HOST: emulated.c as a shared library, which says what
to run, with which arguments, and what must have come of it.  emulated.sh builds both.
"""
import ctypes
import os
import struct
import sys
from types import SimpleNamespace

STEP, UNIT = 7, 37              # as in emulated.c: the clock's step, and the place of every warp
REALTIME = 131                  # the message that asks for the common clock (s_sendmsg_rtn)
HW_ID1 = 23                     # the hardware register that has the place, from bit 10 up


class Job(ctypes.Structure):
    _fields_ = [("kernel", ctypes.c_char_p), ("blocks", ctypes.c_uint), ("threads", ctypes.c_uint),
                ("arguments", ctypes.c_void_p)]


class Code:
    """A code object in memory, as the loader of a device would lay it."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        segments_at, sections_at = struct.unpack_from("<QQ", data, 32)
        segment_size, segments, section_size, sections = struct.unpack_from("<HHHH", data, 54)
        loaded = []
        for i in range(segments):
            kind, _, offset, address, _, size, room = struct.unpack_from("<IIQQQQQ", data, segments_at + i * segment_size)
            if kind == 1:                                # PT_LOAD
                loaded.append((offset, address, size, room))
        self.memory = ctypes.create_string_buffer(max(a + room for _, a, _, room in loaded) + 256)
        for offset, address, size, _ in loaded:
            ctypes.memmove(ctypes.addressof(self.memory) + address, data[offset:offset + size], size)
        self.symbols = {}
        for i in range(sections):
            _, kind, _, _, offset, size, link, _, _, each = struct.unpack_from("<IIQQQQIIQQ", data, sections_at + i * section_size)
            if kind == 11:                               # SHT_DYNSYM
                text, = struct.unpack_from("<Q", data, sections_at + link * section_size + 24)
                for k in range(size // each):
                    name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, offset + k * each)
                    self.symbols[data[text + name:data.index(b"\0", text + name)].decode()] = value

    def kernel(self, name):
        """Address of its first instruction, rsrc2, and which registers its arguments come in."""
        descriptor = self.symbols[name + ".kd"]
        entry, = struct.unpack_from("<q", self.memory, descriptor + 16)
        rsrc2, properties = struct.unpack_from("<IH", self.memory, descriptor + 52)
        return ctypes.addressof(self.memory) + descriptor + entry, rsrc2, properties


def user_registers(properties, arguments):
    """What the hardware puts into the first scalar registers, in the order of the ABI (LLVM, AMDGPU Usage,
    "Initial Kernel Execution State")."""
    registers = []
    for bit, count in enumerate((4, 2, 2, 2, 2, 2, 1)):
        if properties >> bit & 1:
            registers += [arguments & 0xffffffff, arguments >> 32] if bit == 3 else [0] * count
    return registers


def load_emulator(folder):
    sys.path.insert(0, folder)
    os.environ.setdefault("DEV", "CPU")
    from test.mockgpu.amd import emu                     # noqa: E402  (the path is set only now)
    return emu


def install_clock(emu):
    """The two instructions that the emulator lacks: the clock's message, and the register of the place."""
    decode, now = emu._decode_at, [1 << 33]

    def write(state, register, value):
        ctypes.c_uint32.from_address(state + 4 * register).value = value & 0xffffffff

    def clock(to, wide):
        def run(state):
            now[0] += STEP
            write(state, to, now[0])
            if wide:
                write(state, to + 1, now[0] >> 32)
        return run

    def place(to, first, bits):
        def run(state):
            write(state, to, (UNIT << 10 >> first) & ((1 << bits) - 1))
        return run

    def ours(pc):
        word, = struct.unpack("<I", ctypes.string_at(pc, 4))
        if word >> 23 == 0b101111101 and word >> 8 & 0xff in (0x4c, 0x4d):    # SOP1: s_sendmsg_rtn_b32, _b64
            if word & 0xff != REALTIME:
                raise RuntimeError(f"message {word & 0xff}")
            return clock(word >> 16 & 0x7f, word >> 8 & 1)
        if word >> 23 == 0b101110001:                                         # SOPK: s_getreg_b32
            if word & 0x3f != HW_ID1:
                raise RuntimeError(f"hardware register {word & 0x3f}")
            return place(word >> 16 & 0x7f, word >> 6 & 0x1f, (word >> 11 & 0x1f) + 1)
        return None

    def decode_at(pc, arch):
        run = ours(pc)
        if not run:
            return decode(pc, arch)

        def step(state):
            run(state.value)
            write(state.value, emu.PC_LO_IDX, pc + 4)
            write(state.value, emu.PC_HI_IDX, pc + 4 >> 32)
        program = SimpleNamespace(arg=SimpleNamespace(globals=[0]))           # it is given the scalar registers
        return (program, SimpleNamespace(fxn=step)), SimpleNamespace()

    emu._decode_at = decode_at


def main():
    emu = load_emulator(sys.argv[1])
    install_clock(emu)
    code = Code(sys.argv[2])
    host = ctypes.CDLL(os.path.abspath(sys.argv[3]))
    host.emulated_start.restype = Job
    for i in range(1000):
        job = host.emulated_start(i)
        if not job.kernel:
            break
        entry, rsrc2, properties = code.kernel(job.kernel.decode())
        emu.run_asm(entry, len(code.memory), job.blocks, 1, 1, job.threads, 1, 1, job.arguments, rsrc2,
                    arch="rdna3", user_data=user_registers(properties, job.arguments))
        host.emulated_check(i)
        print(f"{job.kernel.decode()}: ran")
    return host.emulated_end()


if __name__ == "__main__":
    sys.exit(main())
