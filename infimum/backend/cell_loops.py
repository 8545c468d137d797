"""What is done with each cell of a dynamic program over intervals, apart from its terms: hand-written LLVM IR, one loop each.

A cell is a combination of slices, `ids` (k, count), in the bag with the number `bag`. It has a number, and links to entries of
a table: two that it reads (`first`, `second`) and one that it writes (`parent`). Entry NONE is read where there is no link and
holds 0; entry TOP is written by cells without a parent. All numbers are *minus* lower bounds and sums round upward, so that what
comes out is a lower bound too; -inf is a cell or an entry that nothing reaches.

A body is what happens to item %k. The text is the same wherever it runs: `host_loops` makes loops of it, `gpu_arrays` kernels.
What several items raise, each to the largest it knows, is held as *keys*, whole numbers in the order of the doubles: no order of
items or threads shows in any bit. Parameters: whole numbers, arrays with a star, and arrays that have an item for each item with
a plus.
"""

from typing import NamedTuple

from infimum.backend.ptx_words import at, load, loop, only_if, store
from infimum.kernel.cell_keys import ALONE, NONE, REST, SIGN, TOP

_INF, _LOWEST = "0x7FF0000000000000", "0xFFF0000000000000"
_FAR = "0x7830000000000000"  # 2.0**900, instead of a value where there is none


class Loop(NamedTuple):
    """A body and its parameters. `shared`: items raise the same words."""

    parameters: str
    body: str

    @property
    def shared(self) -> bool:
        return "@raise" in self.body

    @property
    def names(self) -> list[tuple[str, str]]:
        """(mark, name) of each parameter: a star or a plus for arrays, nothing for whole numbers."""
        return [(p[0], p[1:]) if p[0] in "*+" else ("", p) for p in self.parameters.split()]


# ---- words of the text
def _add_up(result: str, x: str, y: str) -> str:
    return f"  %{result} = call double @add.up(double {x}, double {y})\n"


def _flipped(result: str, word: str) -> str:
    """%result: the key of a double's bits, or the bits of a key."""
    return f"""  %{result}.sign = ashr i64 {word}, {SIGN}
  %{result}.mask = and i64 %{result}.sign, {REST}
  %{result} = xor i64 {word}, %{result}.mask
"""


def _number(result: str, array: str, place: str) -> str:
    """%result: the double whose key stands there."""
    return load(result + ".key", array, place) + _flipped(result + ".bits", f"%{result}.key") + \
        f"  %{result} = bitcast i64 %{result}.bits to double\n"


def _raise(name: str, array: str, place: str, key: str) -> str:
    """The word becomes the larger of itself and the key."""
    return f"{at(name, array, place)}\n  @raise %{name} {key}\n"


def _raise_number(name: str, array: str, place: str, value: str) -> str:
    return f"  %{name}.bits = bitcast double {value} to i64\n" + _flipped(name + ".key", f"%{name}.bits") + \
        _raise(name, array, place, f"%{name}.key")


def _row(result: str, array: str, row: str, length: str, item: str = "%k", kind: str = "i64") -> str:
    """%result: of an array with rows of that length."""
    return f"  %{result}.row = mul i64 {row}, {length}\n  %{result}.place = add i64 %{result}.row, {item}\n" + \
        load(result, array, f"%{result}.place", kind)


def _put(name: str, value: str, array: str, row: str, length: str, item: str) -> str:
    return f"  %{name}.row = mul i64 {row}, {length}\n  %{name}.place = add i64 %{name}.row, {item}\n" + \
        store(name, value, array, f"%{name}.place")


def _only_alive(body: str) -> str:
    return load("lives", "alive", "%k") + "  %is.alive = icmp ne i64 %lives, 0\n" + only_if("%is.alive", "alive.one", body)


# ---- terms: what the kernels of a kind read, and cells on which roots are cut into slices
_TAKE_SLICES = loop("p", "0", "%size", "1", _row("id", "ids", "%p", "%count") + loop(
    "t", "0", "3", "1", _row("end", "table", "%t", "%slices", "%id") + "  %the.block = mul i64 %t, %size\n"
    "  %to = add i64 %the.block, %p\n" + _put("out", "%end", "target", "%to", "%room", "%k"))) + load("b", "bag", "%k") + \
    "  %ends = mul i64 %size, 3\n" + loop("r", "0", "%rows", "1", _row("c", "constants", "%r", "%bags", "%b") +
                                         "  %under = add i64 %ends, %r\n" + _put("con", "%c", "target", "%under", "%room", "%k"))
_ROUGH = load("from.end", "from", "%k", "double") + load("low", "natural", "%k", "double") + f"""
  %no.slope = fcmp oeq double %from.end, {_LOWEST}
  %finite = fcmp olt double %low, {_INF}
  %is = and i1 %no.slope, %finite
  %mark = select i1 %is, double 0.0, double 1.0
""" + store("out", "%mark", "row", "%k", "double")
_IMPROVE = load("nlo", "found", "%k", "double") + load("e", "index", "%k") + load("low", "natural", "%e", "double") + \
    load("minus", "unshifted", "%e", "double") + """
  %bound = fneg double %nlo
  %above = fcmp ogt double %bound, %low
  %low.new = select i1 %above, double %bound, double %low
  %below = fcmp olt double %nlo, %minus
  %minus.new = select i1 %below, double %nlo, double %minus
""" + store("out", "%low.new", "natural", "%e", "double") + store("out2", "%minus.new", "unshifted", "%e", "double")

# ---- links and messages
_ENTRIES = load("b", "bag", "%k") + load("base", "table", "%b") + "".join(
    _row(f"id{c}", "ids", f"%place.{c}", "%count") + _row(f"step{c}", "table", str(i), "%bags", "%b") +
    f"  %part{c} = mul i64 %id{c}, %step{c}\n" for i, c in ((1, "a"), (2, "b"))) + \
    "  %most = add i64 %base, %parta\n  %all = add i64 %most, %partb\n" + store("out", "%all", "target", "%k")
_LINKS = load("one", "first", "%k") + load("two", "second", "%k") + load("to", "parent", "%k") + \
    _number("u", "table", "%one") + _number("v", "table", "%two") + load("mine", "number", "%k", "double")
_UP = _LINKS + _add_up("below", "%u", "%v") + _add_up("sum", "%mine", "%below") + \
    "  %reached = fcmp ord double %sum, %sum\n" + only_if("%reached", "up", _raise_number("dest", "table", "%to", "%sum"))
_DOWN = _LINKS + _number("over", "above", "%to") + _add_up("outside", "%mine", "%over") + _add_up("below", "%u", "%v") + \
    _add_up("sum", "%outside", "%below") + store("out", "%sum", "whole", "%k", "double") + "".join(
        _add_up(f"beside.{entry}", "%outside", f"%{other}") + f"""
  %linked.{entry} = icmp ne i64 %{entry}, {NONE}
  %known.{entry} = fcmp ord double %beside.{entry}, %beside.{entry}
  %go.{entry} = and i1 %linked.{entry}, %known.{entry}
""" + only_if(f"%go.{entry}", f"down.{entry}", _raise_number(f"entry.{entry}", "above", f"%{entry}", f"%beside.{entry}"))
        for entry, other in (("one", "v"), ("two", "u")))
_WHOLE = load("sum", "whole", "%k", "double") + load("to", "parent", "%k") + f"  %reached = fcmp ogt double %sum, {_LOWEST}\n"
_BEST = _WHOLE + only_if("%reached", "best.one", _raise_number("dest", "best", "%to", "%sum"))
_FROM_CHILD = _WHOLE + "  %bits = bitcast double %sum to i64\n" + _flipped("key", "%bits") + load("most", "best", "%to") + """
  %equal = icmp eq i64 %key, %most
  %wins = and i1 %equal, %reached
""" + only_if("%wins", "win", _raise("dest", "child", "%to", "%k"))


def _masked(value: str) -> str:
    return load("lives", "alive", "%k") + "  %is.alive = icmp ne i64 %lives, 0\n" + value + f"""
  %masked = select i1 %is.alive, double %mine, double {_LOWEST}
""" + store("out", "%masked", "number", "%k", "double")


_MASK = _masked(load("mine", "value", "%k", "double"))
_CENTRES = _masked(load("there", "value", "%k", "double") + f"""
  %is.known = fcmp ogt double %there, {_LOWEST}
  %minus = fneg double %there
  %far = fneg double {_FAR}
  %mine = select i1 %is.known, double %minus, double %far
""")
_KEEP = load("sum", "whole", "%k", "double") + load("lives", "alive", "%k") + f"""
  %limit.number = bitcast i64 %limit to double
  %reached = fcmp ogt double %sum, {_LOWEST}
  %low.enough = fcmp oge double %sum, %limit.number
  %both = and i1 %reached, %low.enough
  %kept = zext i1 %both to i64
  %still = and i64 %lives, %kept
""" + store("out", "%still", "alive", "%k") + load("so.far", "bound", "%k", "double") + """
  %tighter = fcmp olt double %sum, %so.far
  %best.known = select i1 %tighter, double %sum, double %so.far
""" + store("out2", "%best.known", "bound", "%k", "double")
_KEEP_EACH = load("b", "bag", "%k") + load("limit", "limits", "%b", "double") + load("sum", "whole", "%k", "double") + """
  %too.high = fcmp olt double %sum, %limit
""" + only_if("%too.high", "gone", store("out", "0", "alive", "%k"))
_COPY = load("word", "source", "%k") + store("out", "%word", "target", "%k")

# ---- derivatives: the hull for each slice of a variable in a bag, and what has a strict sign with that of another bag
def _slices(body: str) -> str:
    """The body for the slice of each variable, with the ends of the derivative by it, and where the hull for it stands."""
    return load("b", "bag", "%k") + loop("p", "0", "%size", "1", _row("id", "ids", "%p", "%count") +
                                         _row("begin", "offset", "%p", "%bags", "%b") + "  %e = add i64 %begin, %id\n" +
                                         _row("low", "from", "%p", "%count", kind="double") +
                                         _row("high", "to", "%p", "%count", kind="double") + body)


_HULL = _only_alive(_slices(f"""
  %minus = fneg double %low
  %low.known = fcmp ord double %minus, %minus
  %nlo.end = select i1 %low.known, double %minus, double {_INF}
  %high.known = fcmp ord double %high, %high
  %hi.end = select i1 %high.known, double %high, double {_INF}
""" + _raise_number("a", "nlo", "%e", "%nlo.end") + _raise_number("z", "hi", "%e", "%hi.end")))
_EXCLUDE = _slices(_row("its", "partner", "%p", "%bags", "%b") + f"""
  %is.alone = icmp eq i64 %its, {ALONE}
  %is.two = icmp sgt i64 %its, {ALONE}
  %begin.safe = select i1 %is.two, i64 %its, i64 %begin
  %f = add i64 %begin.safe, %id
  %single = select i1 %is.alone, double 0.0, double {_INF}
""" + load("off", "free", "%id") + _number("other.nlo", "nlo", "%f") + _number("other.hi", "hi", "%f") + f"""
  %nlo.there = select i1 %is.two, double %other.nlo, double %single
  %hi.there = select i1 %is.two, double %other.hi, double %single
  %low.free = and i64 %off, 1
  %high.free = and i64 %off, 2
  %is.low.free = icmp ne i64 %low.free, 0
  %is.high.free = icmp ne i64 %high.free, 0
  %nlo.end = select i1 %is.low.free, double %nlo.there, double {_INF}
  %hi.end = select i1 %is.high.free, double %hi.there, double {_INF}
  %minus.hi = fneg double %hi.end
  %rises = fcmp ogt double %low, %nlo.end
  %falls = fcmp olt double %high, %minus.hi
  %goes = or i1 %rises, %falls
""" + only_if("%goes", "gone", store("out", "0", "alive", "%k")))

# ---- slopes
_TAKE = load("i", "index", "%k") + load("word", "source", "%i") + store("out", "%word", "target", "%k")
_SLOPE = load("e", "link", "%k") + load("s", "slopes", "%e", "double") + load("held", "target", "%k", "double") + """
  %is.taken = icmp eq i64 %sign, 1
  %minus = fneg double %s
  %slope = select i1 %is.taken, double %s, double %minus
  %goes.on = icmp eq i64 %adds, 1
  %so.far = select i1 %goes.on, double %held, double 0.0
""" + _add_up("sum", "%so.far", "%slope") + store("out", "%sum", "target", "%k", "double")
# of the best cell below each entry, if it is one of those between begin and end: twice the slope
_BELOW = load("cell", "child", "%k") + """
  %not.before = icmp sge i64 %cell, %begin
  %not.after = icmp slt i64 %cell, %end
  %is.one = and i1 %not.before, %not.after
"""
_HERE = "  %first.place = mul i64 %k, %slots\n  %there = add i64 %first.place, %slot\n"
_SLOPE_BELOW = _BELOW + only_if("%is.one", "slope", "  %local = sub i64 %cell, %begin\n" +
                                load("low", "from", "%local", "double") + load("high", "to", "%local", "double") +
                                _add_up("slope.sum", "%low", "%high") + f"""
  %too.low = fcmp ole double %slope.sum, {_LOWEST}
  %too.high = fcmp oge double %slope.sum, {_INF}
  %unknown = fcmp uno double %slope.sum, %slope.sum
  %infinite = or i1 %too.low, %too.high
  %bad = or i1 %infinite, %unknown
  %slope.here = select i1 %bad, double 0.0, double %slope.sum
""" + _HERE + store("out", "%slope.here", "number", "%there", "double"))
_SOURCE_BELOW = _BELOW + only_if("%is.one", "source", load("e", "link", "%cell") + f"""
  %e.place = mul i64 %e, %slots
  %e.slot = add i64 %e.place, %childslot
  %e.number = add i64 %e.slot, {TOP + 1}
""" + _HERE + store("out", "%e.number", "source", "%there"))
_NUMBERED = f"  %own = add i64 %k, {TOP + 1}\n" + store("out", "%own", "row", "%k")
_COST = load("mine", "shifted", "%k", "double") + load("flat", "unshifted", "%k", "double") + "  %gain = fneg double %flat\n" + \
    _add_up("more", "%mine", "%gain") + store("out", "%more", "number", "%k", "double")


def _cost_of(name: str, array: str) -> str:
    """%name: what the cell of this entry loses, 0 if there is none."""
    return load(name + ".cell", array, "%k") + f"""
  %{name}.is = icmp sge i64 %{name}.cell, 0
  %{name}.safe = select i1 %{name}.is, i64 %{name}.cell, i64 0
""" + load(name + ".lost", "number", f"%{name}.safe", "double") + f"""
  %{name} = select i1 %{name}.is, double %{name}.lost, double 0.0
"""


_PAYS = _cost_of("below", "child") + _cost_of("over", "reader") + _add_up("lost", "%below", "%over") + """
  %pays = fcmp ole double %lost, 0.0
""" + load("old", "slope", "%k", "double") + "  %new = select i1 %pays, double %old, double 0.0\n" + \
    store("out", "%new", "slope", "%k", "double")
_DEAD = load("lives", "alive", "%k") + """
  %is.alive = icmp ne i64 %lives, 0
  %mark = select i1 %is.alive, double 0.0, double 1.0
""" + store("out", "%mark", "row", "%k", "double")
_LOWER = load("e", "index", "%k") + load("mine", "found", "%k", "double") + load("old", "number", "%e", "double") + """
  %less = fcmp olt double %mine, %old
  %new = select i1 %less, double %mine, double %old
""" + store("out", "%new", "number", "%e", "double")

# ---- halving
_BEST_SLICES = _only_alive(load("sum", "bound", "%k", "double") + loop("p", "0", "%size", "1", _row("id", "ids", "%p", "%count") +
                           _raise_number("s", "best", "%id", "%sum")))
_PIECES = load("lives", "alive", "%k") + loop("p", "0", "%size", "1", _row("id", "ids", "%p", "%count") + load(
    "is.cut", "cut", "%id") + "  %times = add i64 %is.cut, 1\n  %more = mul i64 %many, %times\n", "many i64 %lives %more") + \
    store("out", "%many", "pieces", "%k")
_HALF = """
  %from.left = sub i64 %last.place, %p
  %shifted = lshr i64 %c, %from.left
  %bit = and i64 %shifted, 1
"""
_HALVES = _only_alive(load("b", "bag", "%k") + load("start", "pieces", "%k") + "  %last.place = sub i64 %size, 1\n"
                      "  %combinations = shl i64 1, %size\n" + loop(
    "c", "0", "%combinations", "1", loop("p", "0", "%size", "1", _HALF + _row("id", "ids", "%p", "%count") + load(
        "is.cut", "cut", "%id") + "  %has = icmp sle i64 %bit, %is.cut\n  %has.all = and i1 %is.there, %has\n",
        "is.there i1 true %has.all") + only_if("%is.there", "one", loop(
            "q", "0", "%size", "1", _HALF.replace("%p", "%q").replace("%from.left", "%q.left").replace("%shifted", "%q.shifted")
            .replace("%bit", "%q.bit") + _row("q.id", "ids", "%q", "%count") + load("new", "begin", "%q.id") +
            "  %new.id = add i64 %new, %q.bit\n" + _put("out", "%new.id", "newids", "%q", "%newcount", "%here")) +
            store("out.bag", "%b", "newbag", "%here")) + "  %one.more = zext i1 %is.there to i64\n"
    "  %after.here = add i64 %here, %one.more\n", "here i64 %start %after.here"))
_STARTS = load("b", "bag", "%k") + "  %is.zero = icmp eq i64 %k, 0\n  %before.it = sub i64 %k, 1\n" \
    "  %other = select i1 %is.zero, i64 0, i64 %before.it\n" + load("a", "bag", "%other") + """
  %new = icmp ne i64 %a, %b
  %begins = or i1 %is.zero, %new
""" + only_if("%begins", "begin", store("out", "%k", "starts", "%b"))

_LIVING = load("b", "bag", "%k") + load("lives", "alive", "%k") + _raise("dest", "seen", "%b", "%lives")

# ---- points: from the bag with the highest number down, the best cell that fits to that of its parent
_PATHS = "  %last = sub i64 %bags, 1\n" + loop("turn", "0", "%last", "1", """
  %before.last = sub i64 %last, 1
  %b = sub i64 %before.last, %turn
""" + load("over", "parents", "%b") + _row("cell", "chosen", "%over", "%paths") + load("which", "links", "%b") + """
  %is.second = icmp ne i64 %which, 0
  %link = select i1 %is.second, ptr %second, ptr %first
""" + load("e", "link", "%cell") + load("below", "child", "%e") + _put("out", "%below", "chosen", "%b", "%paths", "%k"))

LOOPS = {name: Loop(*words) for name, words in {
    "take_slices": ("*ids count *bag *table slices *constants bags rows *target room size", _TAKE_SLICES),
    "rough": ("*from *natural *row", _ROUGH), "improve": ("*found *index *natural *unshifted", _IMPROVE),
    "entries": ("*ids count *bag *table bags place.a place.b *target", _ENTRIES),
    "up": ("+number +first +second +parent *table", _UP),
    "down": ("+number +first +second +parent *table *above +whole", _DOWN),
    "best": ("*whole *parent *best", _BEST), "from_child": ("*whole *parent *best *child", _FROM_CHILD),
    "mask": ("*value *alive *number", _MASK), "centres": ("*value *alive *number", _CENTRES),
    "keep": ("*whole *alive *bound limit", _KEEP),
    "keep_each": ("*bag *limits *whole *alive", _KEEP_EACH), "copy_words": ("*source *target", _COPY),
    "hull": ("*ids count size *bag bags *offset *from *to *alive *nlo *hi", _HULL),
    "exclude": ("*ids count size *bag bags *offset *from *to *alive *nlo *hi *partner *free", _EXCLUDE),
    "take": ("*source *index *target", _TAKE), "slope": ("*link *slopes *target sign adds", _SLOPE),
    "slope_below": ("*child begin end *from *to *number slots slot", _SLOPE_BELOW),
    "source_below": ("*child begin end *link *source slots slot childslot", _SOURCE_BELOW), "numbered": ("*row", _NUMBERED),
    "cost": ("*shifted *unshifted *number", _COST), "pays": ("*child *reader *number *slope", _PAYS),
    "dead": ("*alive *row", _DEAD), "lower": ("*found *index *number", _LOWER),
    "best_slices": ("*ids count size *alive *bound *best", _BEST_SLICES),
    "pieces": ("*ids count size *cut *alive *pieces", _PIECES),
    "halves": ("*ids count size *bag *cut *begin *alive *pieces *newids newcount *newbag", _HALVES),
    "living": ("*bag *alive *seen", _LIVING), "starts": ("*bag *starts", _STARTS),
    "paths": ("*chosen bags paths *parents *links *first *second *child", _PATHS),
}.items()}
