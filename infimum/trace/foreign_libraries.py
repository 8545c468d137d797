"""What to tell a user whose function hands a traced value to a program, a file, or a library other than NumPy."""

BY_TRIALS = 'Write the formula with NumPy functions; or minimise the function by trials, without a proof: engine="index".'
_INSTEAD = {
    **dict.fromkeys(("torch", "keras", "tensorflow", "onnxruntime"), "A trained network can be read: infimum.network(model)."),
    "jax": "Use NumPy's functions in place of those of jax.numpy.",
    "numba": "Use the Python function that was compiled: f.py_func.",
    "pandas": "Use the data as a NumPy array: data.to_numpy().",
    "sympy": "Make a NumPy function of the expression beforehand: sympy.lambdify(symbols, expression, 'numpy').",
}
_NAMES = {"io": "a file", "posix": "os", "nt": "os", "posixpath": "os", "ntpath": "os", "genericpath": "os"}
# not libraries in this sense: what Python's own expressions are made of, and what has rules or cures of its own
_OWN = frozenset(("__main__", "abc", "builtins", "cmath", "collections", "contextlib", "contextvars", "copy", "dataclasses",
                  "enum", "functools", "infimum", "inspect", "itertools", "math", "numbers", "numpy", "operator", "scipy",
                  "threading", "types", "typing", "warnings"))


def library_name(module: str) -> str | None:
    """The library that a module belongs to, by its usual name; None for Python's own tools and for NumPy.

    >>> library_name("json.decoder"), library_name("_struct"), library_name("_io"), library_name("_functools")
    ('json', 'struct', 'a file', None)
    """
    root = module.partition(".")[0]
    name = root if root in _OWN else root.lstrip("_")
    return None if name in _OWN else _NAMES.get(name, name)


def given_to(library: str) -> tuple[str, str]:
    """The two sentences about a traced value that was given to a library: what happened, and the cure."""
    return (f"A traced value, which stands for all points of a region, was given to {library}, which takes numbers or text only.",
            instead_of(library))


def instead_of(library: str) -> str:
    """What to write in place of a call of a library."""
    return " ".join([_INSTEAD[library], BY_TRIALS] if library in _INSTEAD else [BY_TRIALS])
