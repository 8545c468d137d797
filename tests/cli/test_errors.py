"""Every kind of user error: its message and exit code 2, without a traceback. And which function is chosen."""

import pytest

from tests.cli.helpers import SQUARE, UNDEFINED

BOX = ("--bounds", "-1", "1")
TWO = "def cost(x): return x[0]\ndef other(x): return -x[0]\ndef _hidden(x): return 0\nn = 3\n"


# ---- which function
@pytest.mark.parametrize(("text", "name"), [
    ("def only(x): return x[0]\ndef _not_this(x): return 0", "only"),
    ("only = lambda x: x[0]", "only"),
    ("from os.path import join\nimport numpy as np\ndef only(x): return x[0]", "only"),
    ("def f(x): return x[0]\ndef g(x): return 0", "f"),
    ("def g(x): return 0\ndef fun(x): return x[0]", "fun"),
    ("def g(x): return 0\ndef h(x): return 0\ndef objective(x): return x[0]", "objective"),
    ("from functools import partial\ndef g(a, x): return a * x[0]\ndef h(x): return 0\nf = partial(g, 2)", "f"),
    ("import functools\ndef deco(g):\n    @functools.wraps(g)\n    def inner(x): return g(x)\n    return inner\n"
     "deco_ = deco\ndel deco\n_d = deco_\ndel deco_\n@_d\ndef only(x): return x[0]", "only"),
])
def test_the_function_is_chosen(infimum_, write, text, name):
    assert infimum_("minimize", write(text), *BOX).rows["function"] == f"model.py:{name}, 1 variable"


@pytest.mark.parametrize(("name", "lower"), [("cost", -1.0), ("other", -1.0), ("_hidden", 0.0)])
def test_the_function_is_named(infimum_, write, name, lower):
    found = infimum_("minimize", f"{write(TWO)}:{name}", *BOX, "--n", "1", "--json").json
    assert found["verdict"] == "PROVED" and found["lower"] == pytest.approx(lower, abs=1e-6)


@pytest.mark.parametrize(("text", "spec", "said"), [
    (TWO, "model.py", "which function of model.py? write model.py:cost or model.py:other"),
    (TWO + "f = cost\nfun = other", "model.py",
     "which function of model.py? write model.py:cost or model.py:other or model.py:f or model.py:fun"),
    (TWO, "model.py:cots", "model.py has no function 'cots'; write model.py:cost or model.py:other"),
    (TWO, "model.py:n", "'n' in model.py is no function but of type int; write model.py:cost or model.py:other"),
    ("x = 1", "model.py", "model.py has no public function: write one, def f(x): ..., of a NumPy vector x"),
    ("x = 1", "model.py:f", "model.py has no function 'f'; it has no public function at all"),
    (TWO, "model.py:", "there is no file 'model.py:': did you mean model.py?"),
    (TWO, "model", "there is no file 'model': did you mean model.py?"),
    (TWO, "branin", "there is no file 'branin': to run the problem of the gallery, write `infimum gallery branin`"),
    (TWO, "nowhere/m.py:f", "there is no file 'nowhere/m.py': give the path of a Python file, and the function in it if there "
                            "are several, as in model.py:cost"),
    (TWO, ".", ". is a folder: name the Python file with the function in it"),
])
def test_no_function(infimum_, write, text, spec, said):
    write(text)
    assert infimum_("minimize", spec, *BOX).paragraph() == said


# ---- errors inside the file
@pytest.mark.parametrize(("text", "said"), [
    ("def helper(a):\n    return 1 / a\n\nhelper(0)", "model.py:2: ZeroDivisionError: division by zero"),
    ("import numpy as np\n\nnp.linalg.inv(np.zeros((2, 2)))", "model.py:3: numpy.linalg.LinAlgError: Singular matrix"),
    ("x = 1\ndef f(x)\n    return 1", "model.py:2: SyntaxError: expected ':'"),
    ("import no_such_module_anywhere", "model.py:1: ModuleNotFoundError: No module named 'no_such_module_anywhere'"),
    ("import sys\nsys.exit(3)", "model.py:2: SystemExit: 3"),
    ("\n\nimport sibling_of_this_test", "sibling_of_this_test.py:2: NameError: name 'undefined' is not defined"),
])
def test_an_exception_in_the_file_is_reported_with_its_place(infimum_, write, text, said):
    write("\nundefined", "sibling_of_this_test.py")
    message = infimum_("minimize", write(text), *BOX).paragraph()
    assert said in message and "(while model.py was run to find the function in it)" in message and "__main__" in message


@pytest.mark.parametrize(("text", "words"), [
    ("import math\ndef f(x):\n    return math.sin(x[0])", ["model.py:3, in `math.sin(x[0])`", "Use np.sin"]),
    ("def f(x):\n    return x[7]", ["model.py:2", "IndexError", "Correct the function"]),
    ("def f(x):\n    return x", ["model.py:1", "shape (2,)", "Return one number"]),
    ("def f(x, y):\n    return x[0]", ["missing 1 required positional argument", "called with the vector x alone"]),
])
def test_an_exception_in_the_function_names_the_line_and_the_cure(infimum_, write, text, words):
    message = infimum_("minimize", write(text), *BOX, "--n", "2").paragraph()
    assert all(word in message for word in words), message


# ---- bounds and settings: what argparse finds, and what the library finds
@pytest.mark.parametrize(("words", "said"), [
    (["--bounds", "-1"], "argument --bounds: each variable needs two numbers, LO HI, and variable 0 has 1 of them in '-1'"),
    (["--bounds", "-1", "1", "2"], "variable 1 has 1 of them in '-1 1 2'"),
    (["--bounds", "-1,1;2"], "variable 1 has 1 of them in '-1,1;2'"),
    (["--bounds", "-1,1;2,3,4"], "variable 1 has 3 of them"),
    (["--bounds", ""], "there is no number in ''"),
    (["--bounds", "ten", "1"], "argument --bounds: 'ten' is not a number"),
    (["--bounds=-1,ten"], "argument --bounds: 'ten' is not a number"),
    (["--bounds"], "argument --bounds: expected one argument"),
    ([*BOX, "--n", "2.5"], "argument --n: '2.5' is not a whole number"),
    ([*BOX, "--n", "two"], "argument --n: 'two' is not a number"),
    ([*BOX, "--seed", "inf"], "argument --seed: 'inf' is not a whole number"),
    ([*BOX, "--atol", "small"], "argument --atol: 'small' is not a number"),
    ([*BOX, "--engine", "magic"], "argument --engine: invalid choice: 'magic' (choose from "),
    ([*BOX, "--option", "particles"], "argument --option: expected NAME=VALUE, such as particles=100, not 'particles'"),
    ([*BOX, "--option", "=3"], "expected NAME=VALUE"),
    ([*BOX, "--x0", "a"], "argument --x0: 'a' is not a number"),
    ([*BOX, "--start-box", "0"], "argument --start-box: each variable needs two numbers, LO HI, and variable 0 has 1 of them"),
    ([*BOX, "--start-box"], "argument --start-box: expected one argument"),
    ([*BOX, "--wrong"], "unrecognized arguments: --wrong"),
    ([*BOX, "--tim", "3"], "unrecognized arguments: --tim 3: did you mean --time-limit?"),
    ([*BOX, "--timelimit", "3"], "unrecognized arguments: --timelimit 3: did you mean --time-limit?"),
    ([*BOX, "--memory_limit=1e9"], "unrecognized arguments: --memory_limit=1e9: did you mean --memory-limit?"),
    ([*BOX, "another.py"], "unrecognized arguments: another.py"),
])
def test_wrong_words(infimum_, write, words, said):
    assert said in infimum_("minimize", write(SQUARE), *words).complaint()


@pytest.mark.parametrize(("words", "said"), [
    ([], "there are no bounds: give --bounds LO HI for each variable (--bounds LO HI --n N if they are all the same), or declare "
         "them in model.py: bounds = [(-5, 10), (-5, 10)]"),
    (["--bounds", "1", "-1"], "the bounds of variable 0 are reversed: 1.0 > -1.0"),
    (["--bounds", "0", "nan"], "the upper bound of variable 0 is NaN"),
    (["--bounds", "inf", "inf"], "point at infinity"),
    (["--bounds", "0", "1", "0", "1", "--n", "3"], "2 pairs of bounds were given for n = 3"),
    ([*BOX, "--n", "0"], "the number of variables n must be a positive integer, not 0"),
    ([*BOX, "--n", "-2"], "the number of variables n must be a positive integer, not -2"),
    ([*BOX, "--atol", "-1e-3"], "--atol must be a number that is not negative, not -0.001"),
    ([*BOX, "--time-limit", "0"], "--time-limit must be a positive number"),
    ([*BOX, "--max-boxes", "-5"], "--max-boxes must be a positive number"),
    ([*BOX, "--seed", "-1"], "the seed must be an integer from 0"),
    ([*BOX, "--option", "particels=3"], "there is no option 'particels'; there are particles"),
    ([*BOX, "--option", "particles=2.5"], "option 'particles' must be a whole number"),
    ([*BOX, "--x0", "2"], "point 0 of x0 lies outside the bounds"),
    ([*BOX, "--x0", "0", "0"], "--x0 must be a point of 1 number"),
    ([*BOX, "--x0", "0;0,0"], "--x0 must be a point of 1 number"),
    ([*BOX, "--start-box", "0", "2"], "box 0 of start_boxes reaches beyond the bounds: variable 0 has (0.0, 2.0) there"),
    ([*BOX, "--start-box", "0,1;0,1"], "box 0 of start_boxes is wrong: 2 pairs of bounds were given for n = 1"),
    ([*BOX, "--start-box", "0", "1", "--x0", "-.5"], "point 0 of x0 lies in none of the start_boxes"),
    ([*BOX, "--start-box", "0", "0.5", "--start-box", "0.5", "1", "--engine", "swarm"], "engine 'swarm' takes one box, and there "
     "are 2 start_boxes"),
    (["--bounds", "0", "inf", "--engine", "swarm"], "the swarm needs finite bounds"),
])
def test_what_the_library_refuses(infimum_, write, words, said):
    assert said in infimum_("minimize", write(SQUARE), *words).paragraph()


@pytest.mark.parametrize(("declared", "said"), [
    ("bounds = (-5, 10)", "give --n, or a pair for each variable"),
    ("bounds = [(1, 0)]", "the bounds of variable 0 are reversed"),
    ("bounds = 'wide'", "bounds must be a sequence of (low, high) pairs"),
    ("bounds = (-5, 10); n = 'many'", "the number of variables n must be a positive integer, not 'many'"),
])
def test_wrong_declarations(infimum_, write, declared, said):
    assert said in infimum_("minimize", write(f"{SQUARE}\n{declared}")).paragraph()


def test_a_search_without_any_value(infimum_, write):
    assert "no finite value" in infimum_("minimize", write(UNDEFINED), *BOX, "--engine", "swarm").paragraph()


# ---- numbers beyond all bounds
@pytest.mark.parametrize("n", ["99999999999", "1e300", str(10**30)])
def test_too_many_variables(infimum_, write, n):
    assert "variables are too many: the most is 100,000,000" in infimum_("minimize", write(SQUARE), *BOX, "--n", n).paragraph()
    assert f"not with n = {int(float(n)) if 'e' in n else n}" in infimum_("gallery", "rastrigin", "--n", n).paragraph()


@pytest.mark.parametrize("n", ["inf", "nan", "1e999", "two"])
def test_numbers_of_variables_that_are_none(infimum_, write, n):
    assert "argument --n: " in infimum_("minimize", write(SQUARE), *BOX, "--n", n).complaint()


def test_hints_name_the_command_line(infimum_, write, tmp_path):
    there = tmp_path / "run.inf"
    there.write_bytes(b"")
    said = infimum_("minimize", write(SQUARE), *BOX, "--checkpoint", there).paragraph()
    assert f"`infimum resume {there} FILE.py`" in said and "infimum.resume" not in said


def test_threads_and_a_drawn_seed(infimum_, write):
    said = infimum_("minimize", write(SQUARE), *BOX, "--threads", "1", "--seed", "random", "--json").json
    assert said["verdict"] == "PROVED" and isinstance(said["seed"], int)
    assert "threads must be a whole number" in infimum_("minimize", write(SQUARE), *BOX, "--threads", "0").paragraph()
