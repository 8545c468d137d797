"""PTX for what looks across boxes: see `ptx_words` for how it is written. Needs neither a GPU nor CuPy.

These kernels move 64-bit words, count, and compare; nothing is rounded. Threads of a block meet at barriers, those of different
blocks never, so no order of threads shows in any result. Order is made by a scan: each thread looks at a run of `RUN` numbers,
the counts of all runs are added up, and each thread then knows where its finds belong.
"""

from infimum.backend.cuda.ptx_lowest import COUNT_LOWEST, DIGIT, WRITE_LOWEST
from infimum.backend.ptx_words import BARRIER, block_kernel, counts_and_zero, kernel, load, loop, only_if, run_of, store


# columns: rows of `rows` words, of arrays with a given distance between rows, in words
def _move(column: str, to: str = "%k") -> str:
    """Moves a column of the source to a column of the target."""
    return loop("r", "0", "%rows", "1", f"""
  %a = mul i64 %r, %from.next
  %b = add i64 %a, {column}
{load("word", "source", "%b")}
  %c = mul i64 %r, %to.next
  %d = add i64 %c, {to}
{store("y", "%word", "target", "%d")}""")


COPY = kernel("*source from.next *target to.next rows", _move("%k"))
GATHER = kernel("*source from.next *index *target to.next rows", load("column", "index", "%k") + _move("%column"))
SCATTER = kernel("*source from.next *index *target to.next rows", load("column", "index", "%k") + _move("%k", "%column"))
NUMBERS = kernel("*row", store("y", "%k", "row", "%k"))
FILL = kernel("*row *index word", load("column", "index", "%k") + store("y", "%word", "row", "%column"))
STORE = kernel("*row word", store("y", "%word", "row", "%k"))

# the least number and the first place that has it; infinite numbers stand nowhere: 0
def _better(best: str, first: str, value: str, place: str) -> str:
    """%best.next and %first.next: of two numbers and their places the better."""
    return f"""
  %{best}.less = fcmp olt double %{value}, %{best}
  %{best}.equal = fcmp oeq double %{value}, %{best}
  %{best}.before = icmp slt i64 %{place}, %{first}
  %{best}.tie = and i1 %{best}.equal, %{best}.before
  %{best}.better = or i1 %{best}.less, %{best}.tie
  %{value}.bits = bitcast double %{value} to i64
  %{best}.bits = bitcast double %{best} to i64
  %{best}.chosen = select i1 %{best}.better, i64 %{value}.bits, i64 %{best}.bits
  %{best}.next = bitcast i64 %{best}.chosen to double
  %{first}.next = select i1 %{best}.better, i64 %{place}, i64 %{first}
"""


_BEST = "best double 0x7FF0000000000000 %best.next\nfirst i64 0 %first.next"
_OF_ROW = load("value", "row", "%e", "double") + _better("best", "first", "value", "e")
_OF_FOUND = load("value", "row", "%e", "double") + load("place", "rowplaces", "%e") + _better("best", "first", "value", "place")
_FOUND = store("to.number", "%best", "numbers", "%k", "double") + store("to.place", "%first", "places", "%k")
# thread k looks at the numbers k, k + total, …
LEAST = kernel("*row count *numbers *places", loop("e", "%k", "%count", "%total", _OF_ROW, _BEST) + _FOUND)
LEAST_AGAIN = kernel("*row *rowplaces count *numbers *places", loop("e", "%k", "%count", "%total", _OF_FOUND, _BEST) + _FOUND)
# one block: `work` has a number a thread and behind them their places; in the end `pair` has the least one and its place, and if
# there are rows the target has that number, and behind it the column that stands at its place
_PAIR = f"""{BARRIER}
  %twice = add i64 %d, %d
  %odd = srem i64 %in.block, %twice
  %is.even = icmp eq i64 %odd, 0
  %other = add i64 %in.block, %d
  %is.there = icmp slt i64 %other, %threads
  %meets = and i1 %is.even, %is.there
""" + only_if("%meets", "pair", f"""
  %its.place.at = add i64 %threads, %other
{load("mine", "work", "%in.block", "double")}{load("mine.first", "work", "%behind")}
{load("its", "work", "%other", "double")}{load("its.first", "work", "%its.place.at")}
{_better("mine", "mine.first", "its", "its.first")}
{store("to.mine", "%mine.next", "work", "%in.block", "double")}{store("to.mine.first", "%mine.first.next", "work", "%behind")}""")
LEAST_OF_ALL = block_kernel("*row *rowplaces count *work *pair *source from.next rows *target", loop(
    "e", "%in.block", "%count", "%threads", _OF_FOUND, _BEST) + f"""
  %behind = add i64 %threads, %in.block
{store("to.best", "%best", "work", "%in.block", "double")}{store("to.first", "%first", "work", "%behind")}
""" + loop("d", "1", "%threads", "%d", _PAIR) + BARRIER + load("least", "work", "0") + load("column", "work", "%threads") + """
  %is.first = icmp eq i64 %in.block, 0
  %is.asked = icmp sgt i64 %rows, 0
  %tells = and i1 %is.first, %is.asked
""" + only_if("%is.first", "pair.of", store("v", "%least", "pair", "0") + store("w", "%column", "pair", "1")) + only_if(
    "%tells", "tell", store("y", "%least", "target", "0")) + loop("r", "%in.block", "%rows", "%threads", f"""
  %a = mul i64 %r, %from.next
  %b = add i64 %a, %column
{load("word", "source", "%b")}
  %c = add i64 %r, 1
{store("z", "%word", "target", "%c")}"""))

# scans turn each number into the sum of those before it
_SUM = loop("p", "%from", "%to", "1", load("part", "numbers", "%p") + "  %own.next = add i64 %own, %part\n",
            "own i64 0 %own.next")
_SCAN = load("word", "numbers", "%e") + "  store i64 %sum, ptr %word.at\n  %sum.next = add i64 %sum, %word\n"
# SUMS adds up runs, whose sums are scanned; SPREAD then goes through the runs
SUMS = kernel("*numbers count *sums", run_of("%k") + _SUM + store("y", "%own", "sums", "%k"))
SPREAD = kernel("*numbers count *offsets", run_of("%k") + load("offset", "offsets", "%k")
                + loop("e", "%from", "%to", "1", _SCAN, "sum i64 %offset %sum.next"))
# one block: each thread adds up a part; the sums of the d threads up to each, twice as many in each turn, go to and fro between
# the halves of `sums`
SCAN = block_kernel("*numbers count *sums", """
  %up = add i64 %count, %threads
  %up.less = sub i64 %up, 1
  %length = sdiv i64 %up.less, %threads
""" + run_of("%in.block", "%length") + _SUM + store("y", "%own", "sums", "%in.block") + loop(
    "d", "1", "%threads", "%d", f"""{BARRIER}
  %other = sub i64 %threads, %half
  %back = sub i64 %in.block, %d
  %is.there = icmp sge i64 %back, 0
  %near = select i1 %is.there, i64 %back, i64 %in.block
  %here = add i64 %half, %in.block
  %there = add i64 %half, %near
{load("mine", "sums", "%here")}{load("its", "sums", "%there")}
  %more = select i1 %is.there, i64 %its, i64 0
  %both = add i64 %mine, %more
  %to.here = add i64 %other, %in.block
{store("z", "%both", "sums", "%to.here")}""", "half i64 0 %other") + BARRIER + """
  %is.first = icmp eq i64 %in.block, 0
  %earlier = sub i64 %in.block, 1
  %last = select i1 %is.first, i64 0, i64 %earlier
  %at.last = add i64 %half, %last
""" + load("until", "sums", "%at.last") + "  %offset = select i1 %is.first, i64 0, i64 %until\n"
    + loop("e", "%from", "%to", "1", _SCAN, "sum i64 %offset %sum.next"))

# thread (kind, run) counts the numbers of one kind in one run, and, when the counts are scanned, writes where they stand
_KIND = f"""
  %kind = sdiv i64 %k, %runs
  %runs.before = mul i64 %kind, %runs
  %run = sub i64 %k, %runs.before
{run_of("%run")}"""
_IS_KIND = load("number", "row", "%e", "double") + """
  %shifted = call double @llvm.nvvm.add.rp.d(double %number, double 0x4330000000000000)
  %shifted.bits = bitcast double %shifted to i64
  %mine = and i64 %shifted.bits, 255
  %is.mine = icmp eq i64 %mine, %kind
  %one = zext i1 %is.mine to i64
  %sum.next = add i64 %sum, %one
"""
COUNT_KINDS = kernel("*row count runs *counts", _KIND + loop("e", "%from", "%to", "1", _IS_KIND, "sum i64 0 %sum.next")
                     + counts_and_zero("%sum"))
WRITE_KINDS = kernel("*row count runs *offsets *index *totals", _KIND + load("offset", "offsets", "%k") + loop(
    "e", "%from", "%to", "1", _IS_KIND + only_if("%is.mine", "put", store("y", "%e", "index", "%sum")),
    "sum i64 %offset %sum.next") + "  %is.first = icmp eq i64 %run, 0\n" + only_if("%is.first", "tell", f"""
  %behind = add i64 %k, %runs
{load("ending", "offsets", "%behind")}
  %held = sub i64 %ending, %offset
{store("t", "%held", "totals", "%kind")}"""))

KERNELS = {"copy": COPY, "gather": GATHER, "scatter": SCATTER, "numbers": NUMBERS, "fill": FILL, "store": STORE,
           "least": LEAST, "least_again": LEAST_AGAIN, "least_of_all": LEAST_OF_ALL, "sums": SUMS, "spread": SPREAD, "scan": SCAN,
           "count_kinds": COUNT_KINDS, "write_kinds": WRITE_KINDS, "digit": DIGIT, "count_lowest": COUNT_LOWEST,
           "write_lowest": WRITE_LOWEST}
