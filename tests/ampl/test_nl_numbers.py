"""Numbers in .nl files are what C's strtod and strtol make of them."""

import ctypes
import math
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from infimum.ampl.numbers import number_of, whole_of
from infimum.errors import ModelFileError
from tests.ampl.helpers import model_of, nl

INF = math.inf
NUMBERS = [("1.", 1.0), (".5", 0.5), ("-.5e1", -5.0), ("1e400", INF), ("-1e400", -INF), ("1e-400", 0.0), ("0x1p3", 8.0),
           ("-0X.8P+1", -1.0), ("0x1.8", 1.5), ("0x1p9999", INF), ("-0x1p9999", -INF), ("inf", INF), ("-Infinity", -INF),
           ("+INF", INF), ("007", 7.0), ("4.9406564584124654e-324", 5e-324), ("1e308", 1e308)]
NO_NUMBERS = ["1_000", "1e1_0", "0x_1", "0x", "0x1_0p1", "0b1", "ff", "1p3", "1e", "1e+", ".", "+", "-", "e5", "--1", "1d5", "1j",
              "1,5", "0o7", "1.5f", "infin", "\u0665", "\uff11", "1\u00a0", "1\x1f", "\u22121", "nan(", "nan(-)", "1\0", "True"]
NO_WHOLE = ["1_0", "1.0", "1e0", "0x1", "\u0661", "\uff12", "+", "", "1\x1c", "--1", "9" * 5000]


@pytest.mark.parametrize("word, value", NUMBERS)
def test_numbers_as_c_reads_them(word, value):
    assert number_of(word) == value and math.copysign(1, number_of(word)) == math.copysign(1, value)


@pytest.mark.parametrize("word", ["nan", "-NaN", "nan(12_a)", "NAN()"])
def test_no_numbers_as_c_writes_them(word):
    assert math.isnan(number_of(word))


def test_what_python_alone_reads_is_no_number():
    assert [word for word in NO_NUMBERS if number_of(word) is not None] == []
    assert [word for word in NO_WHOLE if whole_of(word) is not None] == []
    assert [whole_of(word) for word in ("-0", "+7", "007")] == [0, 7, 7]


@pytest.mark.skipif(sys.platform != "linux", reason="the C library is another one")
@settings(max_examples=400, deadline=None)
@given(word=st.text(st.sampled_from("0123456789abefinptyxINFXPE+-._ \u0665\u00a0"), min_size=1, max_size=9).filter(
    lambda word: " " not in word) | st.floats().map(repr) | st.floats().map(float.hex))
@example(word="0x1.fffffffffffff8p1023")
@example(word="0x1.fffffffffffff7p1023")
@example(word="0x0.00000000000008p-1022")
def test_words_that_strtod_reads_whole_and_no_others(word):
    strtod = ctypes.CDLL(None).strtod
    strtod.restype, strtod.argtypes = ctypes.c_double, (ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p))
    text, end = ctypes.create_string_buffer(word.encode()), ctypes.c_char_p()
    wanted = strtod(ctypes.cast(text, ctypes.c_char_p), ctypes.byref(end))
    read = len(text.value) - len(end.value)
    found = number_of(word)
    if read < len(text.value):
        assert found is None
    else:
        assert found is not None and (found == wanted or (math.isnan(found) and math.isnan(wanted)))


def _places(number: str) -> list[tuple[str, str]]:
    """Files with the word at each place where a number is read, and what an error says of it."""
    return [(nl([f"n{number}"]), r"model\.nl, line 12, objective 0: the constant is"),
            (nl(["v0"], bounds=f"2 {number}"), r"model\.nl, line 14, x\[0\]: the bound is"),
            (nl(["v0"], constraints=[["v0"]], ranges=f"2 {number}"), r"model\.nl, line 16, constraint 0: the bound is"),
            (nl(["v0"], rows=[[(0, 7.25)]]).replace("7.25", number), r"model\.nl, line 19, constraint 0: the coefficient is"),
            (nl(["v0"], more=["x1", f"0 {number}"]), r"model\.nl, line 14: the coefficient is"),
            (nl(["v0"], more=["d1", f"0 {number}"], constraints=[["v0"]]), r"model\.nl, line 16: the dual value is"),
            (nl(["v0"], more=["S4 1 weight", f"0 {number}"]), r"model\.nl, line 14: the value of weight is")]


@pytest.mark.parametrize("place", range(7))
@pytest.mark.parametrize("number", ["1_000", "\u0661\u0662", "0x", "1e"])
def test_errors_name_the_place(tmp_path, place, number):
    assert model_of(tmp_path, _places("1.5")[place][0]).n == 2
    text, said = _places(number)[place]
    with pytest.raises(ModelFileError, match=f"{said} '{number}', and not a number"):
        model_of(tmp_path, text)


def test_whole_numbers_have_decimal_digits_alone(tmp_path):
    for was, now, said in ((" 2 0 1", " 2_0 0 1", "line 2: the number of variables is '2_0'"),
                           (" 2 0 1", " \u0662 0 1", "line 2: the number of variables is '\u0662'"),
                           ("g3 1 1 0", "g3 1 1 \u0660", "line 1: 3 options are announced, and 2 follow"),
                           ("O0 0", "O0 0_0", "line 11.*the sense .* is '0_0', and not a whole number"),
                           ("v1", "v0_1", "line 12.*the number of the variable is '0_1'"),
                           ("v1", "v\u0661", "line 12.*the number of the variable is '\u0661'"),
                           ("0 -2 3", "0_0 -2 3", "line 14.*the kind of bounds is '0_0'"),
                           ("0 -2 3", "0 -2\u00a03", "line 14.*the bound is '-2\ufffd3', and not a number"),
                           ("0 -2 3", "0 -2\x1f3", "line 14.*the bound is '-2\ufffd3', and not a number")):
        text = nl(["v1"])
        assert was in text
        with pytest.raises(ModelFileError, match=said):
            model_of(tmp_path, text.replace(was, now, 1))


def test_numbers_of_a_model(tmp_path):
    model = model_of(tmp_path, nl(["o0", "n 0x1p3", "v0"], bounds="  0\t-1e400 \v .5  # a comment", n=1))
    assert model.lo.tolist() == [-INF] and model.hi.tolist() == [0.5] and model.fun([0.0]) == 8.0
    with pytest.raises(ModelFileError, match=r"line 14, x\[0\]: the bounds inf and inf have no number between them"):
        model_of(tmp_path, nl(["v0"], bounds="2 1e400"))
