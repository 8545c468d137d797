"""PTX that finds the `count` lowest numbers of a row: see `ptx_words` for how it is written.

**Keys.** The bits of a double, all flipped if it is negative and else the sign alone, are a whole number that orders as doubles
do; -0 is taken for 0. NaN lies beyond the infinities. The `count` lowest are found by the digits of their keys, the highest
first: a pass counts the digits of the keys that begin with what is known, the next pass reads off which digit the last one wanted
has. What threads do together, counting into bins, is an integer sum, so that no order of threads shows. A digit has 6 bits, so
that a thread holds all 64 counts in 16 registers: in memory of its own they took two to three times as long.
"""

from infimum.backend.ptx_words import at, counts_and_zero, kernel, load, loop, only_if, run_of, store

BINS, DIGITS = 64, 11                                         # the first digit has the 4 bits that the ten others leave
MOST_COUNTED = 1 << 16                                        # numbers that a thread may count
LOWEST_KEY, ENDLESS = 0x000FFFFFFFFFFFFF, 0xFFF0000000000000  # of the infinities
_SIGN = -(1 << 63)


def _key(x: str, place: str) -> str:
    """%x.key and %x.allowed, whether it counts: not NaN, and below the limit."""
    return load(f"{x}.bits", "row", place) + f"""
  %{x}.zero = icmp eq i64 %{x}.bits, {_SIGN}
  %{x}.plain = select i1 %{x}.zero, i64 0, i64 %{x}.bits
  %{x}.sign = ashr i64 %{x}.plain, 63
  %{x}.flip = or i64 %{x}.sign, {_SIGN}
  %{x}.key = xor i64 %{x}.plain, %{x}.flip
  %{x}.least = icmp uge i64 %{x}.key, {LOWEST_KEY}
  %{x}.below = icmp ult i64 %{x}.key, %limit
  %{x}.allowed = and i1 %{x}.least, %{x}.below
"""


# DIGIT: a pass; `known` holds (key so far, how many of the keys that begin with it are wanted), one pair a pass.
# Every thread reads off the digit of the pass before, the first thread writes it down; then keys are counted, here and in `bins`.
# The first pass has nothing to read off: `begin` is how many are wanted, in other passes it is 0.
_FIELDS = 4  # counts in a register


def _read_off() -> str:
    """%digit, and %passed, how many have a lower one; the highest and all, and %found false, if there are too few."""
    loads = [load(f"n{b}", "digits", str(b)) for b in range(BINS)]
    chain = ["  %s0 = add i64 0, 0", "  %f0 = icmp ult i64 %wanted, 0", f"  %d0 = add i64 {BINS - 1}, 0"]
    for b in range(BINS):
        chain += [f"  %t{b} = add i64 %s{b}, %n{b}", f"  %r{b} = icmp uge i64 %t{b}, %wanted",
                  f"  %f{b + 1} = or i1 %f{b}, %r{b}",
                  f"  %s{b + 1} = select i1 %f{b + 1}, i64 %s{b}, i64 %t{b}", f"  %w{b} = xor i1 %f{b + 1}, %f{b}",
                  f"  %d{b + 1} = select i1 %w{b}, i64 {b}, i64 %d{b}"]
    return "\n".join(loads + chain)


def _counted() -> str:
    """One more in the field of %x.digit, if it counts."""
    rows = [f"  %x.field = and i64 %x.digit, {_FIELDS - 1}", "  %x.place = shl i64 %x.field, 4",
            "  %x.one = zext i1 %x.counts to i64", "  %x.more = shl i64 %x.one, %x.place",
            f"  %x.register = lshr i64 %x.digit, {_FIELDS.bit_length() - 1}"]
    for r in range(BINS // _FIELDS):
        rows += [f"  %is{r} = icmp eq i64 %x.register, {r}", f"  %add{r} = select i1 %is{r}, i64 %x.more, i64 0",
                 f"  %c{r}.next = add i64 %c{r}, %add{r}"]
    return "\n".join(rows)


def _told() -> str:
    """Adds what was counted to the bins."""
    rows = []
    for b in range(BINS):
        rows.append(f"""
  %l{b} = lshr i64 %c{b // _FIELDS}, {16 * (b % _FIELDS)}
  %m{b} = and i64 %l{b}, 65535
  %any{b} = icmp ne i64 %m{b}, 0
  br i1 %any{b}, label %tell{b}, label %told{b}
tell{b}:
{at(f"bin{b}", "bins", str(b))}
  %unused{b} = atomicrmw add ptr %bin{b}, i64 %m{b} monotonic
  br label %told{b}
told{b}:""")
    return "\n".join(rows)


DIGIT = kernel("*row count limit *known *digits *bins begin up down", f"""
  %is.first = icmp ne i64 %begin, 0
  br i1 %is.first, label %first, label %later
later:
  %prefix = load i64, ptr %known
{load("wanted", "known", "1")}
{_read_off()}
  %longer = shl i64 %prefix, 6
  %read = or i64 %longer, %d{BINS}
  %fewer = sub i64 %wanted, %s{BINS}
  %rest = select i1 %f{BINS}, i64 %fewer, i64 {1 << 62}
  br label %ready
first:
  br label %ready
ready:
  %key = phi i64 [ %read, %later ], [ 0, %first ]
  %left = phi i64 [ %rest, %later ], [ %begin, %first ]
  %leads = icmp eq i64 %k, 0
""" + only_if("%leads", "note", store("n", "%key", "known", "2") + store("m", "%left", "known", "3")) + loop(
    "e", "%k", "%count", "%total", _key("x", "%e") + f"""
  %x.half = lshr i64 %x.key, %up
  %x.begin = lshr i64 %x.half, %up
  %x.same = icmp eq i64 %x.begin, %key
  %x.counts = and i1 %x.same, %x.allowed
  %x.down = lshr i64 %x.key, %down
  %x.digit = and i64 %x.down, {BINS - 1}
{_counted()}
""", "\n".join(f"c{r} i64 0 %c{r}.next" for r in range(BINS // _FIELDS))) + _told())

_SELECT = """
  %border = load i64, ptr %known
  %low = icmp ult i64 %x.key, %border
  %same = icmp eq i64 %x.key, %border
  %is.low = and i1 %low, %x.allowed
  %is.same = and i1 %same, %x.allowed
  %low.one = zext i1 %is.low to i64
  %same.one = zext i1 %is.same to i64
"""
COUNT_LOWEST = kernel("*row count limit *known *counts", run_of("%k") + loop(
    "e", "%from", "%to", "1", _key("x", "%e") + _SELECT + """
  %high.one = shl i64 %same.one, 32
  %both = or i64 %low.one, %high.one
  %sum.next = add i64 %sum, %both
""", "sum i64 0 %sum.next") + counts_and_zero("%sum"))
# `ties`: 1 if all that equal the border count, else 0; `told`: how many there are, and the border's key
WRITE_LOWEST = kernel("*row count limit *known ties *offsets *index *told", run_of("%k") + load("wanted", "known", "1") + f"""
  %all = icmp ne i64 %ties, 0
  %quota = select i1 %all, i64 {1 << 62}, i64 %wanted
""" + load("offset", "offsets", "%k") + loop("e", "%from", "%to", "1", _key("x", "%e") + _SELECT + f"""
  %lows = and i64 %sum, {(1 << 32) - 1}
  %sames = lshr i64 %sum, 32
  %in.quota = icmp ult i64 %sames, %quota
  %capped = select i1 %in.quota, i64 %sames, i64 %quota
  %same.counts = and i1 %is.same, %in.quota
  %is.chosen = or i1 %is.low, %same.counts
  %at = add i64 %lows, %capped
{only_if("%is.chosen", "put", store("y", "%e", "index", "%at"))}
  %high.one = shl i64 %same.one, 32
  %both = or i64 %low.one, %high.one
  %sum.next = add i64 %sum, %both
""", "sum i64 %offset %sum.next") + "  %leads = icmp eq i64 %k, 0\n" + only_if("%leads", "tell", f"""
{load("ending", "offsets", "%total")}
  %all.lows = and i64 %ending, {(1 << 32) - 1}
  %all.sames = lshr i64 %ending, 32
  %fit = icmp ult i64 %all.sames, %quota
  %last = select i1 %fit, i64 %all.sames, i64 %quota
  %held = add i64 %all.lows, %last
{store("s", "%held", "told", "0")}{load("key", "known", "0")}{store("t", "%key", "told", "1")}"""))
