"""Hand-written LLVM IR of small kernels over whole arrays of 64-bit words: what `ptx_columns` and `ptx_lowest` are made of.

Values are named %x, arrays %array; helpers give lines of text.
"""

from infimum.backend.ptx import REGISTERS, THREAD

RUN = 64  # numbers that a thread looks at where order matters

_MODULE = """
{registers}
declare double @llvm.nvvm.add.rp.d(double, double)
declare void @llvm.nvvm.barrier0()
define ptx_kernel void @work({parameters}) #0 {{
entry:
{thread}
{body}
finish:
  ret void
}}
attributes #0 = {{ noinline nounwind }}
"""
_EACH = """
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
"""
BARRIER = "  call void @llvm.nvvm.barrier0()\n"


def kernel(parameters: str, body: str) -> str:
    """A kernel whose body is done for each number %k below %total. `parameters`: names, of pointers with a star."""
    return _module(parameters + " total", _EACH.format(body=body.strip("\n")))


def block_kernel(parameters: str, body: str) -> str:
    """A kernel for one block, whose threads (%in.block of %threads) go through the body together and may meet at a BARRIER."""
    return _module(parameters, body.strip("\n") + "\n  br label %finish")


def _module(parameters: str, body: str) -> str:
    listed = ", ".join(f"ptr %{p[1:]}" if p.startswith("*") else f"i64 %{p}" for p in parameters.split())
    return _MODULE.format(registers=REGISTERS, thread=THREAD, parameters=listed, body=body)


def loop(name: str, first: str, last: str, step: str, body: str, carried: str = "") -> str:
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


def at(result: str, array: str, place: str) -> str:
    """%result: the address of a word of an array."""
    return f"  %{result} = getelementptr inbounds i64, ptr %{array}, i64 {place}"


def load(result: str, array: str, place: str, kind: str = "i64") -> str:
    """%result: a word of an array, or the double there."""
    return f"{at(result + '.at', array, place)}\n  %{result} = load {kind}, ptr %{result}.at\n"


def store(name: str, value: str, array: str, place: str, kind: str = "i64") -> str:
    """Writes a value to a word of an array; `name` is new."""
    return f"{at(name, array, place)}\n  store {kind} {value}, ptr %{name}\n"


def only_if(condition: str, name: str, body: str) -> str:
    """The body, where the condition holds."""
    return f"""
  br i1 {condition}, label %{name}.then, label %{name}.end
{name}.then:
{body.strip(chr(10))}
  br label %{name}.end
{name}.end:
"""


def run_of(number: str, length: str = str(RUN)) -> str:
    """%from and %to of a run of this length among the numbers below %count."""
    return f"""
  %from = mul i64 {number}, {length}
  %whole = add i64 %from, {length}
  %short = icmp slt i64 %whole, %count
  %to = select i1 %short, i64 %whole, i64 %count
"""


def counts_and_zero(count: str) -> str:
    """Writes a count, and a zero behind all of them, which a scan makes their sum."""
    return store("to.count", count, "counts", "%k") + "  %leads = icmp eq i64 %k, 0\n" + only_if(
        "%leads", "end", store("to.zero", "0", "counts", "%total"))
