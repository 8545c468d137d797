"""Reads emitted code for what must never be in it; tests use it on every kernel.

Upward rounding holds only if no operation escapes the control word, the constrained intrinsics or `.rp`, nothing is rearranged,
and no code that is not ours is called. Each function returns one sentence for each violation, so an empty list is a clean bill.
"""

import re
from collections.abc import Iterator

_FAST = re.compile(r'(?<![%@."\w])(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc)(?![\w."])')
_FAST_ATTRIBUTE = re.compile(r'"(?:unsafe-fp-math|no-nans-fp-math|no-infs-fp-math|no-signed-zeros-fp-math|approx-func-fp-math|'
                             r'denormal-fp-math|denormal-fp-math-f32|fp-contract|less-precise-fpmad|reciprocal-estimates)"')
_PLAIN = re.compile(r"(?:=|^)\s*(fadd|fsub|fmul|fdiv|frem|fptrunc|fpext|sitofp|uitofp|fptosi|fptoui)\b")
_CALL = re.compile(r"(?<![%@.\w])(?:call|invoke|callbr)\b(.*)")
_NAME = re.compile(r'@("[^"]*"|[\w.$-]+)')
_CONSTRAINED = "llvm.experimental.constrained."
_ROUNDED = ("fadd", "fsub", "fmul", "fdiv", "sqrt", "fma")
_EXACT = ("llvm.fabs.", "llvm.floor.", "llvm.roundeven.", "llvm.arithmetic.fence.")
_CONTROL = ("llvm.x86.sse.stmxcsr", "llvm.x86.sse.ldmxcsr", "llvm.aarch64.get.fpcr", "llvm.aarch64.set.fpcr")


def _is_ours(symbol: str) -> bool:
    return symbol == "work" or symbol.startswith("infimum_")


def _allowed_callee(symbol: str) -> bool:
    if symbol.startswith(_CONSTRAINED):
        return symbol.removeprefix(_CONSTRAINED).split(".")[0] in _ROUNDED
    return _is_ours(symbol) or symbol in _CONTROL or symbol.startswith(_EXACT)


# ---- LLVM IR
def lint_ir(text: str) -> list[str]:
    """What is wrong with LLVM IR."""
    lines = [line.split(";")[0].rstrip() for line in text.splitlines()]
    strict = {m[1] for line in lines if (m := re.match(r"attributes (#\d+) = .*\bstrictfp\b", line))}
    return [f"{problem}: {line.strip()}" for line in lines for problem in _ir_problems(line, strict)]


def _ir_problems(line: str, strict: set[str]) -> Iterator[str]:
    if _FAST.search(line):
        yield "fast-math flag"
    if _FAST_ATTRIBUTE.search(line):
        yield "floating-point attribute"
    if plain := _PLAIN.search(line):
        yield f"{plain[1]} outside the constrained intrinsics"
    if line.startswith("define") and not strict & set(re.findall(r"#\d+", line)):
        yield "function is not strictfp"
    if line.startswith(("declare", "define")):
        symbol = _symbol(line)
        if not _allowed_callee(symbol):
            yield f"symbol {symbol} is not ours"
        return
    if call := _CALL.search(line):
        yield from _call_problems(call[1])


def _call_problems(rest: str) -> Iterator[str]:
    head = rest.split("(")[0]
    if "asm" in rest.split('"')[0].split():
        yield "inline assembly"
        return
    if "@" not in head:
        if not head.endswith(" %work"):  # the wrapper of the control word is handed the kernel it calls
            yield "indirect call"
        return
    symbol = _symbol(rest)
    if not _allowed_callee(symbol):
        yield f"call of {symbol}"
    elif symbol.startswith(_CONSTRAINED):
        if 'metadata !"round.upward"' not in rest:
            yield "rounding is not upward"
        if 'metadata !"fpexcept.ignore"' not in rest:
            yield "exceptions are not ignored"


def _symbol(text: str) -> str:
    found = _NAME.search(text)
    return found[1].strip('"') if found else "?"


# ---- assembly, x86-64 in AT&T notation and 64-bit Arm
_STATEMENT = re.compile(r"\s+(?:lock\s+|rep\s+)?([a-z][\w.]*|\.(?:quad|xword|8byte|long|word|4byte))\s*(.*)$")
_LABEL = re.compile(r'("?[\w.$]+"?):')
_X86_BRANCH = re.compile(r"(?:callq?|jmpq?|j[a-z]{1,3})$")
_INDIRECT = re.compile(r"(?:callq?|jmpq?)$")
_TABLE = re.compile(r"\*(?:%\w+|[\w.]*\((?:%\w+)?,%\w+,8\))$")  # its rows are labels, which are read like all else
_SPILL_OR_REGISTER = re.compile(r"\*(?:%\w+|-?\d*\(%r[sb]p\))$")
# what is no register, no number and no word of the notation is a symbol
_WORD = re.compile(r"[A-Za-z_.][\w.$]*")
_NUMBER = r"(?<![\w.])-?(?:0x[0-9a-fA-F]+|\d[\d.]*(?:e[+-]?\d+)?)(?![\w.])"
_X86_NO_SYMBOL = re.compile(rf"%\w+|@\w+|\{{[^}}]*\}}|{_NUMBER}")
_ARM_NO_SYMBOL = re.compile(rf":\w+:|@\w+|{_NUMBER}|(?<![\w.$])(?:[bdhqsvwx]\d\d?(?:\.\d*[bdhs])?|w?sp|[wx]zr|FPCR|"
                            r"[lar]s[lr]|ror|msl|[su]xt[bhwx]|eq|ne|[ch]s|cc|lo|mi|pl|v[cs]|hi|ls|[gl][et]|al)(?![\w.$])")
# all that may be done to doubles. A minimum of x86 is x < y ? x : y, which is what LLVM takes it for. Those of Arm prefer -0 to
# +0 and give NaN for a signalling one: they are none of these
_X86_DOUBLES = re.compile(r"v?(?:(?:add|sub|mul|div|sqrt|min|max)pd|(?:add|sub|mul|div|min|max|cmp\w*)sd|fn?m(?:add|sub)\d+pd|"
                          r"(?:cmp\w*|rndscale|round)pd|"
                          r"(?:test|and|andn|or|xor|mov\w*|u?comi|blend[mv]?|perm\w*|shuf|unpck[lh]|broadcast|insert|extract)"
                          r"[ps][sd])$")
_ARM_DOUBLES = re.compile(r"f(?:add|sub|mul|div|sqrt|ml[as]|madd|msub|abs|neg|mov|csel|c?cmp|cm(?:eq|[gl][et])|acg[et]|"
                          r"rint[mn])$")
_CONVERSION = re.compile(r"v?cvt\w+2u?(?:[ps][sd]|d?qq?|[su]i)q?$|[su]cvtf$|fcvt\w*$")


def lint_assembly(text: str, tables: bool = False) -> list[str]:
    """What is wrong with a module's assembly: a symbol that is not ours, an operation on doubles beyond those allowed, a jump
    through memory, unless there may be `tables` of a switch."""
    lines = [re.sub(r"\s*(?:#(?=\s|$)|##|//).*", "", line) for line in text.splitlines()]
    defined = {m[1].strip('"') for line in lines if (m := _LABEL.match(line))}
    return [f"{problem}: {line.strip()}" for line in lines if (m := _STATEMENT.match(line))
            for problem in _assembly_problems(m[1], m[2].strip(), defined, tables)]


def _assembly_problems(op: str, operands: str, defined: set[str], tables: bool) -> Iterator[str]:
    x86 = "%" in operands or "$" in operands or _X86_BRANCH.match(op)
    # A call through a register is fine because no address but that of a symbol of ours is ever taken: so every symbol is read.
    for symbol in _WORD.findall((_X86_NO_SYMBOL if x86 else _ARM_NO_SYMBOL).sub(" ", operands)):
        if not (_is_ours(symbol) or symbol in defined):
            yield f"symbol {symbol} is not ours"
    if operands.startswith("*") and _INDIRECT.match(op):
        if not (tables and _TABLE.match(operands) if op.startswith("jmp") else _SPILL_OR_REGISTER.match(operands)):
            yield "indirect jump or call through memory"
    if op == "br" and not tables:
        yield "indirect jump or call through memory"
    if re.search(r"\{r[ndz]-sae\}", operands):
        yield "static rounding that is not upward"
    if _CONVERSION.match(op):
        yield "rounding conversion"
    elif op.startswith("f"):
        if x86 or not operands:
            yield "x87 operation"  # it has a control word of its own
        elif not _ARM_DOUBLES.match(op):
            yield "no operation of ours on doubles"
    elif x86 and re.search(r"[ps][sdh]$", op) and not _X86_DOUBLES.match(op):
        yield "no operation of ours on doubles"


# ---- PTX
_PTX_STATEMENT = re.compile(r"[{}\s]*(?:[\w$]+:\s*)?(?:@!?%\w+\s+)?([a-z][\w.:]*)\s*(.*)$")
_PTX_FUNCTION = re.compile(r"\.(?:func|entry)\s+(?:\([^)]*\)\s*)?([\w$]+)")
_PTX_CALLEE = re.compile(r"(?:\([^)]*\)\s*,\s*)?([\w$%.]+)")
_PTX_CALL = re.compile(r"\bcall(?:\.uni)?\s[^;]*;")
_PTX_DIRECTIVE = {
    "function defined elsewhere": re.compile(r"\.extern\b|\.alias\b"),
    "option of the target": re.compile(r"\.target\s+\w+\s*,"),
    "inline assembly": re.compile(r"//\s*begin inline asm"),
}
_PTX_FLOATING = re.compile(r"\.(?:b?f16(?:x2)?|tf32|f32(?:x2)?|f64|e\dm\d(?:x2)?)(?![\w])")
# all that may be done to doubles: what rounds says that it rounds upward; min and max are none of them, since they order zeros
_PTX_DOUBLES = re.compile(r"(?:add|sub|mul|div|sqrt|fma)\.rp\.f64|(?:abs|neg|mov|selp)\.f64|cvt\.r[mn]i\.f64\.f64|"
                          r"setp\.\w+(?:\.\w+)?\.f64|(?:ld|st)(?:\.\w+)*\.f64")
_PTX_FORBIDDEN = {
    "approximation": re.compile(r".*\.(?:approx|full)\b"),
    "subnormal numbers are flushed": re.compile(r".*\.ftz\b"),
    "rounding is not upward": re.compile(r".*\.r[nzm]\b|(?:add|sub|mul|div|sqrt|fma|mad|rcp)\.(?:sat\.)?f(?:16|32|64)"),
    "threads depend on one another": re.compile(r"(?:atom|red|bar|barrier|shfl|vote|match|redux|mbarrier)\b"),
}
# sums of whole numbers, and the largest of them, do not depend on the order of threads, unless a thread reads what it met
_PTX_BARRIER = re.compile(r"^\s*bar\.sync\s+0;", re.MULTILINE)
_PTX_SUM = re.compile(r"atom\.global\.(?:add\.u64|max\.s64)\s+(%\w+),[^;\n]*;")


def calls_on_one_line(text: str) -> str:
    """PTX in which every call is one line, where LLVM before 21 writes its parts below one another."""
    return _PTX_CALL.sub(lambda m: " ".join(m[0].split()), text)


def lint_ptx(text: str, sums: bool = False, barriers: bool = False) -> list[str]:
    """What is wrong with a module's PTX: an operation on doubles beyond those allowed, a function that is not in the module.

    With `sums` threads may add to one whole number, or raise it, if none reads what it met. With `barriers` the threads of a
    block may wait for each other, all of them, where no condition stands before it.
    """
    if barriers:
        text = _PTX_BARRIER.sub("", text)
    if sums:
        text = _PTX_SUM.sub(lambda m: m[0] if len(re.findall(rf"{m[1]}\b", text)) > 1 else "", text)
    text = calls_on_one_line(text)
    plain = re.sub(r"//[^\n]*", "", text)
    defined = set(_PTX_FUNCTION.findall(plain))
    found = [f"symbol {name} is not ours" for name in sorted(defined) if not _is_ours(name)]
    for line in text.splitlines():
        found += [f"{problem}: {line.strip()}" for problem, directive in _PTX_DIRECTIVE.items() if directive.search(line)]
        for statement in line.split("//")[0].split(";"):
            if m := _PTX_STATEMENT.match(statement):
                found += [f"{problem}: {line.strip()}" for problem in _ptx_problems(m[1], m[2], defined)]
    return found


def _ptx_problems(op: str, operands: str, defined: set[str]) -> Iterator[str]:
    if op.split(".")[0] == "call":
        callee = _PTX_CALLEE.match(operands)
        if callee is None or callee[1] not in defined:
            yield f"call of {callee[1] if callee else operands}"
    reasons = [problem for problem, mnemonic in _PTX_FORBIDDEN.items() if mnemonic.match(op)]
    if _PTX_FLOATING.search(op) and not _PTX_DOUBLES.fullmatch(op) and not reasons:
        reasons = ["no operation of ours on doubles"]
    yield from reasons
