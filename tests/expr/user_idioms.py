"""Turns of phrase met in users' code, each a function of four variables in [-1, 1]; some change arrays in place."""

import functools
import operator

import numpy as np

C = np.array([0.5, -1.5, 2.0, 1.0])
M = np.arange(16.0).reshape(4, 4) / 5 - 1


def aliased_in_place(x):
    y = x
    y += 1
    return np.sum(x)


def aliased_by_atleast_1d(x):
    y = np.atleast_1d(x)
    y *= 2
    return np.sum(x * y)


def copied_and_assigned(x):
    a = np.array(x)
    a[0] = 3.0
    a += x
    return np.sum(a * x)


def powers_in_place(x):
    z = x.copy()
    z -= C
    z **= 2
    return z.sum() + x.sum()


def matrix_product_in_place(x):
    m = x.reshape(2, 2) * 1
    m @= M[:2, :2]
    return m.sum()


def list_filled_in_a_loop(x):
    y = [0.0] * 4
    for i in range(4):
        y[i] = x[i] ** 2
    y[0] += 1
    return sum(y) * np.sum(np.array(y))


def object_array_filled_in_a_loop(x):
    y = np.zeros(4, dtype=object)
    for i in range(4):
        y[i] = x[i] ** 2
    y += x
    return y.sum()


def zeros_filled_in_a_loop(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] ** 2 + (y[i - 1] if i else 0)
    return y.sum() + y.max() + np.dot(y, y) + y.mean() + y.std() + np.sum(np.sin(y[::-1]) * C)


def matrix_of_a_helper(x):
    a = np.zeros((2, 2))
    a[0, 0], a[0, 1], a[1, 1] = x[0], x[1], 2
    a[1, :] += x[2:]
    return a


def helper_with_assignments(x):
    m = matrix_of_a_helper(x)
    return np.linalg.det(m) + np.sum(m @ x[:2]) + np.trace(m) + (m > 0.1).sum() + (m.T @ m)[0, 1]


def input_assigned_to(x):
    x[0] = 1.0
    x[1:] += 1
    v = x[1:]
    v *= 2
    return np.sum(x * C) + np.sum(v)


def clipped_by_a_mask(x):
    y = x.copy()
    y[y < 0] = 0.0
    y[x > 0.5] = 7
    return np.sum(y * C)


def sums_in_place(x):
    t = np.zeros(4)
    t += x
    t *= C
    a = np.ones((4, 4))
    a[:, 1] = x
    a[np.arange(4), np.arange(4)] = 2.0
    b = a.T
    b[0, 3] = x[0] * 3
    return np.sum(a @ t) + np.sum(a > 1) + a[3][0] + (0 if a[2, 2] > 5 else 1)


def extrema_of_python(x):
    return max(x[0], 0) + min(x) + max(x[1], x[2], 3) + max([x[0], x[1]]) + min(3, 4) \
        + max(abs(xi) for xi in x) + min(max(x[0], 0), 0.5) + functools.reduce(max, x, -np.inf) + min(x[0], np.inf, x[1], 2.0)


def conversions(x):
    x = np.asarray(x, dtype=float)
    y = np.array([x[0], 1.0, x[2]], dtype=float)
    y[1] = x[3]
    return np.sum(np.where(x > 0, x, 0)) + np.sum(np.maximum(x, 0)) + np.max([x[0], x[1]]) + np.sum(np.exp(y)) \
        + np.argmax(np.ones(3))


def mixed_matrix(x):
    m = np.array([[x[0], 1.0], [0, x[1]]])
    return np.sum(np.exp(m)) + np.linalg.det(m) + np.sum(m > 0.3) + (m @ m)[0, 1] + np.sum(np.where(m > 0.2, m, 1.0)) \
        + np.maximum(m, 0.1).sum() + np.maximum.reduce([x[0], x[1]])


class Doubled:
    def __call__(self, x):
        y = np.empty_like(x)
        y[:] = x * 2
        return y.sum() + y[0]


def functions_inside(x):
    import numpy as N
    from numpy import ones

    def inner(k):
        y = N.zeros(2)
        y[0] = x[k]
        return y

    def down(n):
        return inner(0)[0] + (down(n - 1) if n else 0)
    w = ones(2)
    w[1] = x[1]
    return down(3) + sum(inner(i) @ [1, 2] for i in range(4)) + w.sum()


USER_IDIOMS = {
    **{f.__name__: f for f in (zeros_filled_in_a_loop, helper_with_assignments, input_assigned_to, clipped_by_a_mask,
                               sums_in_place, extrema_of_python, conversions, mixed_matrix, functions_inside)},
    "object with __call__": Doubled(), "partial": functools.partial(lambda s, x: s * np.sum(np.asarray(x, float)), 3),
    **{f.__name__: f for f in (aliased_in_place, aliased_by_atleast_1d, copied_and_assigned, powers_in_place,
                               matrix_product_in_place, list_filled_in_a_loop, object_array_filled_in_a_loop)},
    "quadratic form": lambda x: x.T @ M @ x,
    "axis by position": lambda x: np.abs(x).max() + x.sum(axis=0) + np.sum(x, 0),
    "einsum": lambda x: np.einsum("i,ij,j->", x, M, x) + np.einsum("i,i", x, x) + np.einsum("ij->j", np.outer(x, C))[1]
    + np.einsum("bij,j->bi", np.stack([M, 2 * M]), x)[1, 2] + np.einsum("ij,jk", M, np.outer(x, x))[1, 1],
    "rows of products": lambda x: np.sum(np.inner(x, M)) + np.sum(np.matmul(x, M)) + np.sum(x @ x.reshape(4, 1)),
    "stacks of matrices": lambda x: (x[None] @ M)[0, 1] + np.sum(np.stack([M, M]) @ x),
    "object arrays joined": lambda x: np.concatenate([np.asarray(x), x])[5] + np.concatenate([np.asarray(x), C])[2]
    + (np.asarray(x) @ M).sum() + np.outer(np.asarray(x), x)[1, 2],
    "functools": lambda x: functools.reduce(operator.mul, x) + sum(map(np.sin, x)),
    "power mean": lambda x: np.sum(np.abs(x) ** 3) ** (1 / 3),
    "array of a number": lambda x: np.array(x[0]) + 1,
    "logic": lambda x: np.where(np.logical_and(x > 0, True), x, 0).sum()
    + np.where(functools.reduce(np.logical_or, [x[0] > 0, x[1] > 0]), 1.0, x[2])
    + np.where(np.logical_xor(x > 0, C > 0), x, 1.0)[1],
    "reshaped views": lambda x: np.sum(x.reshape(2, -1)[:, ::-1].T[1]) + x.reshape((4, 1)).squeeze()[2] + x.reshape(-1)[0],
    "reduce of a list": lambda x: np.add.reduce([x, x])[1] + np.sum(np.minimum.reduce(x.reshape(2, 2), axis=0, keepdims=True)),
    "log-sum-exp": lambda x: np.log(np.sum(np.exp(x - np.max(x)))) + np.max(x),
    "hidden layer": lambda x: np.maximum(0, x @ M + C) @ C,
    "conditions as numbers": lambda x: (x[0] > 0) * (x[1] < 0) * 1.0 + (x[0] > 0).astype(float) - (1 - (x[1] >= 0)),
    "index arrays": lambda x: np.sum(x[np.arange(4)[::-1]] * C) + x[(1,)] + x[np.int64(2)] + x[[1]][0] + x[True].shape[0],
    "stack of components": lambda x: np.sum(np.stack([xi**2 for xi in x])) + np.sum(np.array([xi**2 for xi in x])),
    "matrices of components": lambda x: np.linalg.det(np.array([[x[0], 1], [1, x[1] + 3]]))
    + np.linalg.solve(np.array([[x[0] + 3, 1], [1, x[1] + 3]]), np.array([1, 2]))[0]
    + np.linalg.inv(np.array([[x[0] + 3, 1], [1, x[1] + 3]]))[0, 1] + np.sum(np.interp(np.array([x[0], x[1]]), [-1, 1], [0, 3])),
    "norm of a list": lambda x: np.linalg.norm([x[0], x[1] - 1]) + np.linalg.norm(np.stack([x, C]), axis=0)[1],
    "dots": lambda x: np.dot(M, x) @ np.dot(x, M) + np.dot(2, x)[0] + np.vdot(M, np.outer(x, x))
    + np.tensordot(M, np.outer(x, x)),
    "closed ring": lambda x: np.sum((x - np.roll(x, -1)) ** 2) + np.sum(np.diff(np.append(x, x[0])) ** 3),
    "empty parts": lambda x: np.prod(x[4:]) + np.sum(x[4:]) + np.linalg.norm(x[4:]) + x[0],
    "matrix of components": lambda x: np.sum(np.array([[x[0], x[1]], [x[2], x[3]]]) @ np.array([x[0], 1.0])),
    "different exponents": lambda x: np.sum(x ** np.array([1, 2, 2, -1])) + np.sum((x + 3) ** (x / 2)),
    "turned": lambda x: np.sum(np.rot90(x.reshape(2, 2)) * M[:2, :2]) + np.trace(x.reshape(2, 2), 1) + np.tri(4) @ x @ C,
    "running on axes": lambda x: np.sum(np.cumsum(x.reshape(2, 2)) * C) + np.sum(x.reshape(2, 2).cumsum(0)[1]),
    "clip to arrays": lambda x: np.clip(x, C - 1, C + 1).sum() + np.clip(x, max=0.5).sum(),
    "remainders of constants": lambda x: 5 // (x[0] + 3) + (-7) % (x[1] + 3) + np.divmod(x[0], 0.3)[1],
    "filled with a component": lambda x: np.sum(np.full_like(x, x[1]) * x) + np.sum(np.broadcast_arrays(x[:, None], C)[0])
    + np.full(3, x[0]).sum(),
    "more axes": lambda x: np.sum(np.expand_dims(x, (0, 2)) * np.ones((3, 4, 2)))
    + np.var(x.reshape(2, 2), axis=1, keepdims=True)[1, 0],
    "methods": lambda x: np.sum(x.astype("float64", copy=False)) + x.flatten()[1] + np.ravel(x, order="F")[3] + x.transpose()[0]
    + x.reshape(2, 2).transpose(1, 0)[0, 1] + x.reshape(2, 2).swapaxes(0, 1)[1, 0] + x.conj()[0] + sum(x.flat),
    "vectorize": lambda x: np.vectorize(lambda t: t**2 + 1)(x).sum() + np.r_[x[0], x[1]].sum(),
}
