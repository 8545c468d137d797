"""PTX for what looks across boxes: hand-written LLVM IR of small kernels over whole arrays. Needs neither a GPU nor CuPy.

They move 64-bit words, count, and compare; nothing is rounded. No thread waits for another, and what threads do together,
counting into bins, is an integer sum: so no order of threads shows in any result. Order is made by a scan: each thread looks at a
run of `RUN` numbers, the counts of all runs are added up in levels of `RUN`, and each thread then knows where its finds belong.

**Keys.** The bits of a double, all flipped if it is negative and else the sign alone, are a whole number that orders as doubles
do; -0 is taken for 0. NaN lies beyond the infinities. The `count` lowest are found by the digits of their keys, the highest
first: a pass counts the digits of the keys that begin with what is known, the next pass reads off which digit the last one wanted
has. A digit has 6 bits, so that a thread holds all 64 counts in 16 registers: in memory of its own they took two to three times
as long.
"""

from infimum.target.ptx import REGISTERS, THREAD

RUN = 64
BINS, DIGITS = 64, 11  # the first digit has the 4 bits that the ten others leave
MOST = 1 << 16         # numbers that a thread may count
LOWEST_KEY, ENDLESS = 0x000FFFFFFFFFFFFF, 0xFFF0000000000000  # of the infinities
_SIGN = -(1 << 63)

_HEAD = """
{registers}
declare double @llvm.nvvm.add.rp.d(double, double)
{functions}
define ptx_kernel void @work({parameters}, i64 %total) #0 {{
entry:
{stacks}
{thread}
  %some = icmp slt i64 %thread, %total
  br i1 %some, label %item, label %finish
item:
  %k = phi i64 [ %thread, %entry ], [ %after, %next ]
{body}
  br label %next
next:
  %after = add i64 %k, %width
  %again = icmp slt i64 %after, %total
  br i1 %again, label %item, label %finish
finish:
  ret void
}}
attributes #0 = {{ noinline nounwind }}
attributes #1 = {{ alwaysinline nounwind }}
"""


def _kernel(parameters: str, body: str, stacks: str = "", functions: str = "") -> str:
    """A kernel whose body is done for each number %k below %total. `parameters`: names, of pointers with a star."""
    listed = ", ".join(f"ptr %{p[1:]}" if p.startswith("*") else f"i64 %{p}" for p in parameters.split())
    return _HEAD.format(registers=REGISTERS, thread=THREAD, parameters=listed, body=body.strip("\n"), stacks=stacks,
                        functions=functions)


def _loop(name: str, first: str, last: str, step: str, body: str, carried: str = "") -> str:
    """for %name = first; %name < last; %name += step. `carried`: lines 'x type start end', values that go from turn to turn."""
    rows = [row.split() for row in carried.strip().splitlines()]
    phis = "\n".join(f"  %{x} = phi {t} [ {a}, %{name}.before ], [ {z}, %{name}.more ]" for x, t, a, z in rows)
    return f"""
  br label %{name}.before
{name}.before:
  br label %{name}.head
{name}.head:
  %{name} = phi i64 [ {first}, %{name}.before ], [ %{name}.step, %{name}.more ]
{phis}
  %{name}.goes = icmp slt i64 %{name}, {last}
  br i1 %{name}.goes, label %{name}.body, label %{name}.done
{name}.body:
{body.strip(chr(10))}
  br label %{name}.more
{name}.more:
  %{name}.step = add i64 %{name}, {step}
  br label %{name}.head
{name}.done:
"""


def _at(result: str, array: str, place: str) -> str:
    """%result: the address of a word of an array."""
    return f"  %{result} = getelementptr inbounds i64, ptr %{array}, i64 {place}"


def _key(x: str, place: str) -> str:
    """%x.key and %x.allowed, whether it counts: not NaN, and below the limit."""
    return f"""{_at(x + ".at", "row", place)}
  %{x}.bits = load i64, ptr %{x}.at
  %{x}.zero = icmp eq i64 %{x}.bits, {_SIGN}
  %{x}.plain = select i1 %{x}.zero, i64 0, i64 %{x}.bits
  %{x}.sign = ashr i64 %{x}.plain, 63
  %{x}.flip = or i64 %{x}.sign, {_SIGN}
  %{x}.key = xor i64 %{x}.plain, %{x}.flip
  %{x}.least = icmp uge i64 %{x}.key, {LOWEST_KEY}
  %{x}.below = icmp ult i64 %{x}.key, %limit
  %{x}.allowed = and i1 %{x}.least, %{x}.below
"""


def _run(length: str = "count") -> str:
    """%from and %to of the run of this thread."""
    return f"""
  %from = mul i64 %run, {RUN}
  %whole = add i64 %from, {RUN}
  %short = icmp slt i64 %whole, %{length}
  %to = select i1 %short, i64 %whole, i64 %{length}
"""


# columns: rows of `rows` words, of arrays whose rows begin so many words apart
def _move(column: str, to: str = "%k") -> str:
    """Moves a column of the source to a column of the target."""
    return _loop("r", "0", "%rows", "1", f"""
  %a = mul i64 %r, %from.next
  %b = add i64 %a, {column}
{_at("x", "source", "%b")}
  %word = load i64, ptr %x
  %c = mul i64 %r, %to.next
  %d = add i64 %c, {to}
{_at("y", "target", "%d")}
  store i64 %word, ptr %y
""")


COPY = _kernel("*source from.next *target to.next rows", _move("%k"))

GATHER = _kernel("*source from.next *index *target to.next rows", f"""
{_at("i", "index", "%k")}
  %column = load i64, ptr %i
""" + _move("%column"))

SCATTER = _kernel("*source from.next *index *target to.next rows", f"""
{_at("i", "index", "%k")}
  %column = load i64, ptr %i
""" + _move("%k", "%column"))

NUMBERS = _kernel("*row", f"""
{_at("y", "row", "%k")}
  store i64 %k, ptr %y
""")

FILL = _kernel("*row *index word", f"""
{_at("i", "index", "%k")}
  %column = load i64, ptr %i
{_at("y", "row", "%column")}
  store i64 %word, ptr %y
""")

STORE = _kernel("*row word", f"""
{_at("y", "row", "%k")}
  store i64 %word, ptr %y
""")

# thread k finds the least of the numbers k, k + total, …, and the first place that has it; `places` is null where a number's
# place is its own
_LEAST = """
  %v.bits = bitcast double {value} to i64
  %is.less = fcmp olt double {value}, %best
  %is.equal = fcmp oeq double {value}, %best
  %is.before = icmp slt i64 {place}, %first
  %is.tie = and i1 %is.equal, %is.before
  %is.better = or i1 %is.less, %is.tie
  %best.bits = bitcast double %best to i64
  %chosen = select i1 %is.better, i64 %v.bits, i64 %best.bits
  %best.next = bitcast i64 %chosen to double
  %first.next = select i1 %is.better, i64 {place}, i64 %first
"""
_CARRIED = "best double 0x7FF0000000000000 %best.next\nfirst i64 0 %first.next"  # infinite numbers stand nowhere: 0
_FOUND = f"""
{_at("to.number", "numbers", "%k")}
{_at("to.place", "places", "%k")}
  store double %best, ptr %to.number
  store i64 %first, ptr %to.place
"""
LEAST = _kernel("*row count *numbers *places", _loop("e", "%k", "%count", "%total", f"""
{_at("x", "row", "%e")}
  %value = load double, ptr %x
""" + _LEAST.format(value="%value", place="%e"), _CARRIED) + _FOUND)
LEAST_AGAIN = _kernel("*row *rowplaces count *numbers *places", _loop("e", "%k", "%count", "%total", f"""
{_at("x", "row", "%e")}
  %value = load double, ptr %x
{_at("y", "rowplaces", "%e")}
  %place = load i64, ptr %y
""" + _LEAST.format(value="%value", place="%place"), _CARRIED) + _FOUND)

# scans: SUMS adds up runs; SPREAD turns the numbers of a run of `length` into what stands before each, beginning with `offsets`
SUMS = _kernel("*numbers count *sums", "  %run = add i64 %k, 0" + _run() + _loop("e", "%from", "%to", "1", f"""
{_at("x", "numbers", "%e")}
  %word = load i64, ptr %x
  %sum.next = add i64 %sum, %word
""", "sum i64 0 %sum.next") + f"""
{_at("y", "sums", "%k")}
  store i64 %sum, ptr %y
""")
SPREAD = _kernel("*numbers count length *offsets", f"""
  %from = mul i64 %k, %length
  %whole = add i64 %from, %length
  %short = icmp slt i64 %whole, %count
  %to = select i1 %short, i64 %whole, i64 %count
{_at("o", "offsets", "%k")}
  %offset = load i64, ptr %o
""" + _loop("e", "%from", "%to", "1", f"""
{_at("x", "numbers", "%e")}
  %word = load i64, ptr %x
  store i64 %sum, ptr %x
  %sum.next = add i64 %sum, %word
""", "sum i64 %offset %sum.next"))

SCAN = _kernel("*numbers count", _loop("e", "0", "%count", "1", f"""
{_at("x", "numbers", "%e")}
  %word = load i64, ptr %x
  store i64 %sum, ptr %x
  %sum.next = add i64 %sum, %word
""", "sum i64 0 %sum.next"))  # by one thread

# thread (kind, run) counts the numbers of one kind in one run, and, when the counts are scanned, writes where they stand
_KIND = f"""
  %kind = sdiv i64 %k, %runs
  %runs.before = mul i64 %kind, %runs
  %run = sub i64 %k, %runs.before
{_run()}"""
_IS_KIND = f"""
{_at("x", "row", "%e")}
  %number = load double, ptr %x
  %shifted = call double @llvm.nvvm.add.rp.d(double %number, double 0x4330000000000000)
  %shifted.bits = bitcast double %shifted to i64
  %mine = and i64 %shifted.bits, 255
  %is.mine = icmp eq i64 %mine, %kind
  %one = zext i1 %is.mine to i64
  %sum.next = add i64 %sum, %one
"""
_COUNTS = f"""
{_at("y", "counts", "%k")}
  store i64 %sum, ptr %y
  %is.one = icmp eq i64 %k, 0
  br i1 %is.one, label %end, label %ended
end:
{_at("z", "counts", "%total")}
  store i64 0, ptr %z
  br label %ended
ended:
"""  # and a zero behind them, which the scan makes their sum
COUNT_KINDS = _kernel("*row count runs *counts", _KIND + _loop("e", "%from", "%to", "1", _IS_KIND, "sum i64 0 %sum.next")
                      + _COUNTS)
WRITE_KINDS = _kernel("*row count runs *offsets *index *totals", _KIND + f"""
{_at("o", "offsets", "%k")}
  %offset = load i64, ptr %o
""" + _loop("e", "%from", "%to", "1", _IS_KIND + f"""
  br i1 %is.mine, label %put, label %skip
put:
{_at("y", "index", "%sum")}
  store i64 %e, ptr %y
  br label %skip
skip:
""", "sum i64 %offset %sum.next") + f"""
  %is.first = icmp eq i64 %run, 0
  br i1 %is.first, label %tell, label %told
tell:
  %behind = add i64 %k, %runs
{_at("p", "offsets", "%behind")}
  %ending = load i64, ptr %p
  %held = sub i64 %ending, %offset
{_at("t", "totals", "%kind")}
  store i64 %held, ptr %t
  br label %told
told:
""")

# DIGIT: a pass; `known` holds (key so far, how many of the keys that begin with it are wanted), one pair a pass.
# Every thread reads off the digit of the pass before, the first thread writes it down; then keys are counted, here and in `bins`.
# The first pass has nothing to read off: `begin` is how many are wanted, in other passes it is 0.
_FIELDS = 4  # counts in a register


def _read_off() -> str:
    """%digit, and %passed, how many have a lower one; the highest and all, and %found false, if there are too few."""
    loads = [f"{_at(f'h{b}', 'digits', str(b))}\n  %n{b} = load i64, ptr %h{b}" for b in range(BINS)]
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
{_at(f"bin{b}", "bins", str(b))}
  %unused{b} = atomicrmw add ptr %bin{b}, i64 %m{b} monotonic
  br label %told{b}
told{b}:""")
    return "\n".join(rows)


DIGIT = _kernel("*row count limit *known *digits *bins begin up down", f"""
  %is.first = icmp ne i64 %begin, 0
  br i1 %is.first, label %first, label %later
later:
  %prefix = load i64, ptr %known
{_at("w", "known", "1")}
  %wanted = load i64, ptr %w
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
  %is.one = icmp eq i64 %k, 0
  br i1 %is.one, label %note, label %noted
note:
{_at("n", "known", "2")}
{_at("m", "known", "3")}
  store i64 %key, ptr %n
  store i64 %left, ptr %m
  br label %noted
noted:
""" + _loop("e", "%k", "%count", "%total", _key("x", "%e") + f"""
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
COUNT_LOWEST = _kernel("*row count limit *known *counts", "  %run = add i64 %k, 0" + _run() + _loop(
    "e", "%from", "%to", "1", _key("x", "%e") + _SELECT + """
  %high.one = shl i64 %same.one, 32
  %both = or i64 %low.one, %high.one
  %sum.next = add i64 %sum, %both
""", "sum i64 0 %sum.next") + _COUNTS)
# `ties`: 1 if all that equal the border count, else 0; `told`: how many there are, and the border's key
WRITE_LOWEST = _kernel("*row count limit *known ties *offsets *index *told", f"""
  %run = add i64 %k, 0
{_run()}
{_at("w", "known", "1")}
  %wanted = load i64, ptr %w
  %all = icmp ne i64 %ties, 0
  %quota = select i1 %all, i64 {1 << 62}, i64 %wanted
{_at("o", "offsets", "%k")}
  %offset = load i64, ptr %o
""" + _loop("e", "%from", "%to", "1", _key("x", "%e") + _SELECT + f"""
  %lows = and i64 %sum, {(1 << 32) - 1}
  %sames = lshr i64 %sum, 32
  %in.quota = icmp ult i64 %sames, %quota
  %capped = select i1 %in.quota, i64 %sames, i64 %quota
  %same.counts = and i1 %is.same, %in.quota
  %is.chosen = or i1 %is.low, %same.counts
  br i1 %is.chosen, label %put, label %skip
put:
  %at = add i64 %lows, %capped
{_at("y", "index", "%at")}
  store i64 %e, ptr %y
  br label %skip
skip:
  %high.one = shl i64 %same.one, 32
  %both = or i64 %low.one, %high.one
  %sum.next = add i64 %sum, %both
""", "sum i64 %offset %sum.next") + f"""
  %is.one = icmp eq i64 %k, 0
  br i1 %is.one, label %tell, label %told.all
tell:
{_at("p", "offsets", "%total")}
  %ending = load i64, ptr %p
  %all.lows = and i64 %ending, {(1 << 32) - 1}
  %all.sames = lshr i64 %ending, 32
  %fit = icmp ult i64 %all.sames, %quota
  %last = select i1 %fit, i64 %all.sames, i64 %quota
  %held = add i64 %all.lows, %last
  store i64 %held, ptr %told
{_at("t", "told", "1")}
  %key = load i64, ptr %known
  store i64 %key, ptr %t
  br label %told.all
told.all:
""")

KERNELS = {"copy": COPY, "gather": GATHER, "scatter": SCATTER, "numbers": NUMBERS, "fill": FILL, "store": STORE,
           "least": LEAST, "least_again": LEAST_AGAIN, "sums": SUMS, "spread": SPREAD, "scan": SCAN,
           "count_kinds": COUNT_KINDS, "write_kinds": WRITE_KINDS, "digit": DIGIT, "count_lowest": COUNT_LOWEST,
           "write_lowest": WRITE_LOWEST}
