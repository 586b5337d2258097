"""Changes bytes of a good input at random: the same seed gives the same bytes."""

TOKENS = [
    b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\\u0000", b"\\ud800", b"null", b"true", b"NaN", b"1e999", b"-0",
    b"9223372036854775808", b"-9223372036854775809", b"\x00", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf",
    b"\xf0\x9f\x98\x80", b"<", b">", b"</", b"/>", b"&", b"&a;", b"&#0;", b"<![CDATA[", b"]]>", b"<!--",
    b'<!DOCTYPE x [<!ENTITY a "&a;">]>', b'xmlns="u"', b"'", b'";DROP TABLE x;--', b"\r", b"\n", b"\x1e", b"- ", b"&x ", b"*x",
]
SWAPS = {b'"': b"'", b"[": b"{", b"]": b"}", b"{": b"[", b"}": b"]", b",": b";", b":": b"=", b"<": b"{", b">": b"}"}


def mutant(good, chance):
    """One to four changes: cut, flip, replace, delete, insert, repeat, swap."""
    data = bytearray(good)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if not data:
            break
        place = chance.randrange(len(data))
        end = min(len(data), place + chance.randrange(1, 64))
        kind = chance.randrange(10)
        if kind == 0:
            del data[place:]
        elif kind == 1:
            data[place] ^= 1 << chance.randrange(8)
        elif kind == 2:
            data[place] = chance.randrange(256)
        elif kind == 3:
            del data[place]
        elif kind == 4:
            data[place:place] = chance.choice(TOKENS)
        elif kind == 5:
            del data[place:end]
        elif kind == 6:
            data[place:place] = data[place:end]
        elif kind == 7:
            other = chance.randrange(len(data))
            piece = bytes(data[place:end])
            data[place:end] = data[other:other + len(piece)]
            data[other:other + len(piece)] = piece
        elif kind == 8:
            data[place:end] = chance.choice(TOKENS)
        else:
            data[place:place + 1] = SWAPS.get(bytes(data[place:place + 1]), bytes([chance.randrange(48, 58)]))
    return bytes(data)
