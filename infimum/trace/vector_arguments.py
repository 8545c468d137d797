"""Functions of several arguments as functions of one vector, which is what is traced."""

from collections.abc import Callable
from typing import Any


def of_vector(fun: Callable[..., Any], parts: Callable[[Any], tuple], arguments: str) -> Callable[[Any], Any]:
    """The function of a vector of which `parts` makes the arguments, called `arguments` in messages. It is a plain function,
    which can be traced in all ways, and errors in it are about `fun`.

    >>> of_vector(lambda y, z: y - z, lambda x: (x[0], x[1]), "y and z")([5, 3])
    2
    """
    found = lambda x: fun(*parts(x))  # noqa: E731
    found.function, found.arguments = fun, arguments
    return found
