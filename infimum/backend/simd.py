"""Lanes as elements of SIMD vectors: LLVM's constrained intrinsics, and what 64-bit Arm needs beside them."""

from infimum.backend.llvm_text import Spelling, Text


class SimdSpelling(Spelling):
    """LLVM's constrained intrinsics on vectors, rounded upward, in strictfp functions."""

    def __init__(self, lanes: int):
        self.lanes = lanes
        self.lane, self.integer, self.truth = f"<{lanes} x double>", f"<{lanes} x i64>", f"<{lanes} x i1>"
        self.suffix = f"v{lanes}f64"

    def declarations(self) -> str:
        v, mode = self.lane, "metadata, metadata"
        arity = {"fadd": 2, "fsub": 2, "fmul": 2, "fdiv": 2, "sqrt": 1, "fma": 3}
        rows = [f"declare {v} @llvm.experimental.constrained.{op}.{self.suffix}({', '.join([v] * n)}, {mode})"
                for op, n in arity.items()]
        return "\n".join(rows + [f"declare {v} @llvm.{op}.{self.suffix}({v})" for op in ("fabs", "floor", "roundeven")])

    def upward(self, text: Text, op: str, operands: list[str]) -> str:
        name = op if op in ("sqrt", "fma") else f"f{op}"
        values = ", ".join(f"{self.lane} {x}" for x in operands)
        return (f"call {self.lane} @llvm.experimental.constrained.{name}.{self.suffix}({values}, "
                'metadata !"round.upward", metadata !"fpexcept.ignore") #1')

    def exact(self, op: str, operand: str) -> str:
        return f"call {self.lane} @llvm.{'fabs' if op == 'abs' else op}.{self.suffix}({self.lane} {operand})"

    def constant(self, bits: str, type: str) -> str:
        return f"splat ({type} {bits})"

    def any(self, text: Text, mask: str) -> str:
        lanes = text.let(f"bitcast {self.truth} {mask} to i{self.lanes}")
        return text.let(f"icmp ne i{self.lanes} {lanes}, 0")

    def spread(self, text: Text, scalar: str, type: str) -> str:
        vector = f"<{self.lanes} x {type}>"
        one = text.let(f"insertelement {vector} poison, {type} {scalar}, i64 0")
        return text.let(f"shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer")


class ArmSpelling(SimdSpelling):
    """64-bit Arm, whose minimum and maximum instructions have opinions of their own about zeros and signalling NaN.

    LLVM writes them for choices between doubles, and also for two comparisons with a common operand: x < z or y < z becomes
    min(x, y) < z. So a truth value leaves its comparison at once as a word of ones or zeros, behind a fence that LLVM does not
    look through: whatever is done with truth values and whatever is chosen by them is integer arithmetic. It costs nothing: Arm's
    comparisons give such words, and a choice by one is a single instruction.
    """

    bit = "i64"

    def __init__(self, lanes: int):
        super().__init__(lanes)
        self.truth = self.integer

    def declarations(self) -> str:
        return f"{super().declarations()}\ndeclare {self.lane} @llvm.arithmetic.fence.{self.suffix}({self.lane})"

    def mask(self, text: Text, test: str) -> str:
        wide = text.let(f"sext <{self.lanes} x i1> {text.let(test)} to {self.integer}")
        double = text.let(f"bitcast {self.integer} {wide} to {self.lane}")
        fenced = text.let(f"call {self.lane} @llvm.arithmetic.fence.{self.suffix}({self.lane} {double})")
        return f"bitcast {self.lane} {fenced} to {self.integer}"

    def choose(self, text: Text, condition: str, yes: str, no: str) -> str:
        other = text.let(f"xor {self.integer} {condition}, {self.constant('-1', 'i64')}")
        parts = [text.let(f"and {self.integer} {mask}, {x}") for mask, x in ((condition, yes), (other, no))]
        return f"or {self.integer} {parts[0]}, {parts[1]}"

    select = Spelling.select_bits

    def any(self, text: Text, mask: str) -> str:
        lanes = text.let(f"bitcast {self.truth} {mask} to i{64 * self.lanes}")
        return text.let(f"icmp ne i{64 * self.lanes} {lanes}, 0")

    def spread(self, text: Text, scalar: str, type: str) -> str:
        if type == "i1":
            scalar, type = text.let(f"sext i1 {scalar} to i64"), "i64"
        return super().spread(text, scalar, type)
