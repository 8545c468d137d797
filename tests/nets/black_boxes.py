"""The functions of the kept journals, which hold digests of their source text: do not change a letter of them."""


def hill(x):
    return abs(float(x[0]) - 0.3) + (float(x[1]) - 0.6) ** 2


def left(x):
    return float(x[0]) - 0.5


def scaled(x, c):
    return c * (float(x[0]) - 0.25) ** 2 + float(x[1])


def rough(x):
    if x[0] > 0.75:
        raise ValueError("the solver diverged")
    return hill(x)


def inner(y, z):
    return (y[0] - 0.3) ** 2 + (z[0] - y[0]) ** 2


def choice(x):
    return {"steel": 1.0, "wood": 0.25}[x[1]] / x[2] + (x[0] - 0.3) ** 2
