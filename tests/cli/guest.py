# SPDX-License-Identifier: MIT
"""Tiny guests made on the fly: an encoder for a few instructions, and an ELF writer."""

import struct

CODE = 0x10000
DATA = 0x20000
EXECUTABLE, WRITABLE, READABLE = 1, 2, 4
ZERO, RA, SP, T0, A0, A1, A2, A7 = 0, 1, 2, 5, 10, 11, 12, 17

EXIT, WRITE, READ, WRITEV, FSTAT, BRK = 93, 64, 63, 66, 80, 214
VM_VERSION, CURRENT_CYCLES, DEBUG_PRINT = 2041, 2042, 2177


def word(bits):
    return struct.pack("<I", bits & 0xFFFFFFFF)


def addi(rd, rs1, imm):
    return word((imm & 0xFFF) << 20 | rs1 << 15 | rd << 7 | 0x13)


def lui(rd, upper):
    return word((upper & 0xFFFFF) << 12 | rd << 7 | 0x37)


def load(rd, offset, rs1, width=3):
    return word((offset & 0xFFF) << 20 | rs1 << 15 | width << 12 | rd << 7 | 0x03)


def store(rs2, offset, rs1, width=3):
    offset &= 0xFFF
    return word((offset >> 5) << 25 | rs2 << 20 | rs1 << 15 | width << 12 | (offset & 31) << 7 | 0x23)


def add(rd, rs1, rs2):
    return word(rs2 << 20 | rs1 << 15 | rd << 7 | 0x33)


def mulhu(rd, rs1, rs2):
    return word(1 << 25 | rs2 << 20 | rs1 << 15 | 3 << 12 | rd << 7 | 0x33)


def mul(rd, rs1, rs2):
    return word(1 << 25 | rs2 << 20 | rs1 << 15 | rd << 7 | 0x33)


def jal(rd, offset):
    imm = offset & 0x1FFFFF
    bits = (imm >> 20) << 31 | (imm >> 1 & 0x3FF) << 21 | (imm >> 11 & 1) << 20 | (imm >> 12 & 0xFF) << 12
    return word(bits | rd << 7 | 0x6F)


def bne(rs1, rs2, offset):
    imm = offset & 0x1FFF
    bits = (imm >> 12) << 31 | (imm >> 5 & 0x3F) << 25 | (imm >> 1 & 15) << 8 | (imm >> 11 & 1) << 7
    return word(bits | rs2 << 20 | rs1 << 15 | 1 << 12 | 0x63)


ECALL = word(0x73)


def li(rd, value):
    """Any value from -2^31 to 2^31 - 2049."""
    low = (value & 0xFFF) - (value & 0x800) * 2
    if value == low:
        return addi(rd, ZERO, low)
    return lui(rd, (value - low) >> 12) + addi(rd, rd, low)


def call(number, *arguments):
    """A system call; an argument that is None keeps its register."""
    code = b"".join(li(A0 + i, value) for i, value in enumerate(arguments) if value is not None)
    return code + li(A7, number) + ECALL


def exit_with(code):
    return call(EXIT, code)


EXIT_A0 = call(EXIT, None)


def elf(code, data=b"", symbols=(), bss=0, entry=CODE, machine=243, segments=None):
    """An ELF file: `code` at CODE, and `data` and `bss` zero bytes at DATA. Symbols are (name, address, size).
    `segments` are (address, flags, bytes, bytes in memory) in place of those."""
    if segments is None:
        segments = [(CODE, READABLE | EXECUTABLE, code, len(code))]
        if data or bss:
            segments.append((DATA, READABLE | WRITABLE, data, len(data) + bss))
    offset = 64 + 56 * len(segments)
    headers, bodies = b"", b""
    for address, flags, content, size in segments:
        headers += struct.pack("<IIQQQQQQ", 1, flags, offset + len(bodies), address, address, len(content), size, 4096)
        bodies += content
    table = b""
    section_offset = 0
    if symbols:
        strings, entries = b"\0", bytes(24)
        for name, address, size in symbols:
            entries += struct.pack("<IBBHQQ", len(strings), 0x12, 0, 1, address, size)
            strings += name + b"\0"
        bodies += bytes(-(offset + len(bodies)) % 8)
        at = offset + len(bodies)
        bodies += entries + strings
        bodies += bytes(-(offset + len(bodies)) % 8)
        section_offset = offset + len(bodies)
        table = bytes(64)
        table += struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, at, len(entries), 2, 1, 8, 24)
        table += struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, at + len(entries), len(strings), 0, 0, 1, 0)
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    head = ident + struct.pack(
        "<HHIQQQIHHHHHH", 2, machine, 1, entry, 64, section_offset, 0, 64, 56, len(segments), 64,
        3 if symbols else 0, 0)
    return head + headers + bodies + table
