/* Deflate streams made bit by bit: what RFC 1951 allows is inflated, and each thing that it does not
 * allow is seen where it stands: before a byte that depends on it.                               */
#include "lines.h"
#include "../check.h"
#include "../inside.h"

enum { HEAD = 10 };
static unsigned char     raw[200000], want[60000];
static char              text[300000];
static size_t            bits, wanted;
static hlog_source       s;

static void put(unsigned v, unsigned n)         /* the lowest bit first                           */
{
    for (; n--; v >>= 1, bits++)
        if (v & 1)
            raw[HEAD + bits / 8] |= (unsigned char)(1u << bits % 8);
}

static void code(unsigned v, unsigned n)        /* a Huffman code: the highest bit first          */
{
    while (n--)
        put(v >> n & 1, 1);
}

static void begin(void)
{
    memset(raw, 0, HEAD + bits / 8 + 64);
    bits = wanted = 0;
}

static void expect(unsigned byte, size_t n)
{
    memset(want + wanted, (int)byte, n);
    wanted += n;
}

static void fixed(unsigned symbol)
{
    if (symbol < 256) {
        code(symbol < 144 ? symbol + 0x30 : symbol - 144 + 0x190, symbol < 144 ? 8 : 9);
        expect(symbol, 1);
    } else {
        code(symbol < 280 ? symbol - 256 : symbol - 280 + 0xc0, symbol < 280 ? 7 : 8);
    }
}

/* The head of a block of type 2; every code length is a code of four bits then. */
static void dynamic(unsigned literals, unsigned distances)
{
    unsigned i;

    put(1 | 2 << 1, 3);
    put(literals - 257, 5);
    put(distances - 1, 5);
    put(15, 4);
    for (i = 0; i < 19; i++)
        put(i < 3 ? 0 : 4, 3);
}

/* Lengths 0 except for some: pairs of symbol and length. */
static void lengths(unsigned n, const unsigned *pair, unsigned pairs)
{
    unsigned i, k, length;

    for (i = 0; i < n; i++) {
        for (length = k = 0; k < pairs; k++)
            length = pair[2 * k] == i ? pair[2 * k + 1] : length;
        code(length, 4);
    }
}

/* Opens it, n bytes in all. */
static void open_line(size_t n)
{
    line_be(line_be(raw, UINT32_C(0x1c849314), 4), n - 8, 4);
    line_be(raw + 8, 0x7801, 2);
    n = line_base64(text, raw, n);
    CHECK(hlog_open(&s, text, n) == 2, "head");
}

/* With a right checksum of what is wanted, and `more` bytes behind. */
static void inflate(size_t more)
{
    size_t n = HEAD + (bits + 7) / 8;

    line_be(raw + n, hlog_checksum(want, wanted), 4);
    open_line(n + 4 + more);
}

static void good(const char *name)
{
    size_t at = 0;

    inflate(0);
    while (hlog_more(&s)) {
        CHECK(at + s.written - s.read <= wanted &&
                  !memcmp(s.window + s.read, want + at, s.written - s.read), "%s: at %zu", name, at);
        at += s.written - s.read;
    }
    CHECK(!s.in.bad && hlog_ended(&s) && at == wanted, "%s: %zu of %zu", name, at, wanted);
}

/* Bad once `wanted` bytes are there, and not because of how the stream ends. */
static void bad(const char *name)
{
    inflate(0);
    (void)hlog_more(&s);
    CHECK(s.in.bad && !hlog_ended(&s) && s.written == wanted, "%s: bad %d mode %d, %zu bytes",
          name, s.in.bad, s.mode, s.written);
}

static void matches(void)
{
    unsigned i;

    begin();
    put(3, 3);
    fixed('a');
    fixed('b');
    fixed(257);                                 /* 3 bytes, 2 back                                */
    code(1, 5);
    expect('a', 1);
    expect('b', 1);
    expect('a', 1);
    fixed(200);
    fixed(256);
    good("fixed");
    begin();
    put(3, 3);
    fixed('a');
    fixed(257);
    code(1, 5);
    fixed(256);
    bad("distance beyond what was written");
    begin();
    put(3, 3);
    fixed('a');
    fixed(286);
    code(0, 5);
    fixed(256);
    bad("length symbol 286");
    for (i = 0; i < 4; i++) {                   /* 32768 back is the most, with code 29           */
        unsigned k;
        begin();
        put(3, 3);
        fixed('a');
        for (k = 0; k < 130; k++) {
            fixed(285);
            code(0, 5);
            expect('a', 258);
        }
        fixed(257);
        code(i == 3 ? 29 : 29 + i, 5);
        put(i == 0 ? 8191 : 0, i == 1 || i == 2 ? 14 : 13);
        if (i == 0 || i == 3)
            expect('a', 3);
        fixed(256);
        if (i == 0 || i == 3)
            good("far");
        else
            bad("distance symbol 30 or 31");
    }
}

/* Ten symbols of a block with codes of its own: a to f have 3 bits, g, the end, 10 and 258 bytes 4;
 * distances 1 and 7 have one bit.                                                                */
static void seven_letters(void)
{
    static const unsigned pair[] = {'a', 3, 'b', 3, 'c', 3, 'd', 3, 'e', 3, 'f', 3, 'g', 4, 256, 4, 264, 4, 285, 4};
    static const unsigned far[] = {0, 1, 5, 1};

    dynamic(286, 6);
    lengths(286, pair, 10);
    lengths(6, far, 2);
}

static void one_of(unsigned symbol, int own)
{
    if (!own) {
        fixed(symbol);
        return;
    }
    if (symbol < 'g')
        code(symbol - 'a', 3);
    else
        code(symbol == 'g' ? 12 : symbol == 256 ? 13 : symbol == 264 ? 14 : 15, 4);
    if (symbol < 256)
        expect(symbol, 1);
}

/* Matches that end everywhere around the end of the window. */
static void window(int own)
{
    unsigned k, i;

    for (k = 0; k < 270; k++) {
        begin();
        if (own)
            seven_letters();
        else
            put(3, 3);
        for (i = 0; i <= k; i++)
            one_of('a' + i % 7, own);
        for (i = 0; i < 300; i++) {             /* 7 back: the same seven letters                 */
            size_t n;
            one_of(i % 3 ? 285 : 264, own);
            code(k < 6 ? 0 : own ? 1 : 5, own ? 1 : 5);
            if (k >= 6)
                put(0, 1);
            for (n = i % 3 ? 258 : 10; n; n--)
                expect(k < 6 ? want[wanted - 1] : want[wanted - 7], 1);
            if (own && i % 3 == 0)              /* a literal may be the one before                */
                one_of('a', own);
        }
        one_of(256, own);
        good("window");
    }
}

/* The text ends inside a symbol, a table or a stored block: no end of block is read from nothing. */
static void cut(void)
{
    unsigned n, i, kind;

    for (kind = 0; kind < 3; kind++)
        for (n = 1; n < 40; n++) {
            begin();
            if (kind == 1)
                seven_letters();
            else
                put(kind ? 1 : 3, 3);
            if (kind == 2) {
                bits = 8;
                put(1000, 16);
                put(~1000u & 0xffff, 16);
            }
            for (i = 0; i < n && kind < 2; i++)
                one_of('g', kind == 1);
            for (i = 0; i < n; i++)             /* no end of block is in these                    */
                put(kind ? 0 : 255, 8);
            open_line(HEAD + (bits + 7) / 8);
            (void)hlog_more(&s);
            CHECK(s.in.bad && !hlog_ended(&s) && s.written < 500, "cut: kind %u n %u: %zu", kind, n,
                  s.written);
        }
}

static void tables(void)
{
    static const unsigned two[] = {0, 1, 256, 1}, three[] = {0, 1, 1, 1, 256, 1}, few[] = {0, 2, 256, 2};
    static const unsigned no_end[] = {0, 1, 1, 1}, match[] = {0, 1, 256, 2, 257, 2};
    static const unsigned one[] = {0, 1}, pair[] = {0, 2, 1, 2};
    unsigned k, i;

    begin();
    dynamic(257, 1);
    lengths(257, two, 2);
    lengths(1, two, 0);
    code(0, 1);
    expect(0, 1);
    code(1, 1);
    good("two codes");
    begin();
    dynamic(257, 1);
    lengths(257, three, 3);
    lengths(1, two, 0);
    bad("too many codes");
    begin();
    dynamic(257, 1);
    lengths(257, few, 2);
    lengths(1, two, 0);
    code(0, 2);
    code(1, 2);
    bad("too few codes");
    begin();
    dynamic(257, 1);
    lengths(257, no_end, 2);
    lengths(1, two, 0);
    bad("no end of block");
    begin();
    dynamic(287, 1);
    lengths(287, two, 2);
    lengths(1, two, 0);
    code(1, 1);
    bad("287 literals");
    begin();
    dynamic(257, 31);
    lengths(257, two, 2);
    lengths(31, one, 1);
    code(1, 1);
    bad("31 distances");
    for (k = 0; k < 4; k++) {                   /* no distance code, one, its complement, two of four */
        begin();
        dynamic(258, 2);
        lengths(258, match, 3);
        lengths(2, k == 3 ? pair : one, k == 0 ? 0 : k == 3 ? 2 : 1);
        code(0, 1);
        if (k < 3)                              /* else the table is refused                      */
            expect(0, 1);
        code(3, 2);
        code(k == 2 ? 1 : 0, k == 3 ? 2 : 1);
        if (k == 1)
            expect(0, 3);
        code(2, 2);
        if (k == 1)
            good("one distance");
        else
            bad("distances");
    }
    for (k = 0; k < 3; k++) {                   /* code lengths' own codes: 1 and 16, or 1, 0 and 18 */
        begin();
        put(1 | 2 << 1, 3);
        put(0, 10);
        put(14, 4);                             /* 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1    */
        put(k == 0 ? 1 : 0, 3);
        put(0, 3);
        put(k == 0 ? 0 : k == 1 ? 1 : 3, 3);
        bits += 14 * 3;
        put(1, 3);
        for (i = 0; k == 0 && i < 43; i++) {    /* repeats the one before the first               */
            code(1, 1);
            put(3, 2);
        }
        if (k) {                                /* 1, 255 zeros, 1                                */
            code(0, 1);
            code(k == 1 ? 1 : 4, k == 1 ? 1 : 3);
            put(127, 7);
            code(k == 1 ? 1 : 4, k == 1 ? 1 : 3);
            put(255 - 138 - 11, 7);
            code(0, 1);
        }
        if (k == 1) {                           /* more zeros than are left                       */
            code(1, 1);
            put(0, 7);
        } else if (k == 2) {
            code(0, 1);
        }
        code(1, 1);
        bad(k == 0 ? "nothing to repeat" : k == 1 ? "more lengths than symbols" : "code lengths' codes");
    }
}

/* What is no base64 is not taken for an A, and a character alone is nothing. */
static void base64(size_t n)
{
    size_t i;

    for (i = 0; i <= n; i++) {
        char was = text[i];
        if (i < n && was != 'A')
            continue;
        text[i] = i < n ? '!' : 'A';
        if (hlog_open(&s, text, i < n ? n : n + 1) == 2)
            while (hlog_more(&s))
                continue;
        CHECK(s.in.bad, "character %zu of %zu", i, n);
        text[i] = was;
    }
}

static void blocks(void)
{
    size_t n, i;

    begin();
    put(1 | 3 << 1, 3);
    bad("type 3");
    begin();
    put(1, 3);
    bits = 8;
    put(1, 16);
    put(0xffff, 16);
    put('x', 8);
    bad("length and its complement");
    begin();
    put(0, 3);                                  /* stored, then an empty fixed one                */
    bits = 8;
    put(1, 16);
    put(0xfffe, 16);
    put('x', 8);
    expect('x', 1);
    put(3, 3);
    fixed('y');
    fixed('z');
    fixed(256);
    good("stored");
    for (n = 1; n < 60; n++) {
        inflate(n);
        while (hlog_more(&s))
            continue;
        CHECK(s.in.bad, "%zu bytes more", n);
    }
    for (i = 0; i < 60; i++) {
        begin();
        put(3, 3);
        for (n = 0; n < i; n++)
            fixed('y');
        fixed(256);
        inflate(0);
        n = HEAD + (bits + 7) / 8 + 4;
        if (n % 3 == 0)
            base64(n / 3 * 4);
    }
    want[0] ^= 1;
    inflate(0);
    while (hlog_more(&s))
        continue;
    CHECK(s.in.bad, "checksum");
}

/* The head of a line, each wrong alone. */
static void heads(void)
{
    static const unsigned char byte[] = {0x79, 0x01, 0x78, 0x02, 0x78, 0x20, 0x78, 0x01};
    size_t i, n = 8 + 2 + 20;

    for (i = 0; i < 4; i++) {
        memset(raw, 0, n);
        line_be(line_be(raw, UINT32_C(0x1c849314), 4), n - 8, 4);
        raw[8] = byte[2 * i];
        raw[9] = (unsigned char)byte[2 * i + 1];
        if (i == 0 || i == 2)                   /* right but for the method, or a dictionary      */
            while ((raw[8] << 8 | raw[9]) % 31 || (i == 2) != (raw[9] >> 5 & 1))
                raw[9]++;
        CHECK((hlog_open(&s, text, line_base64(text, raw, n)) == 2) == (i == 3), "head %zu", i);
    }
    line_be(raw + 4, n - 7, 4);
    CHECK(hlog_open(&s, text, line_base64(text, raw, n)) < 0, "length");
}

int main(void)
{
    matches();
    window(0);
    window(1);
    cut();
    tables();
    blocks();
    heads();
    return check_done();
}
