"""Habits of SciPy, lmfit and Optuna: what their users write, and what to write here. What to tell a user whose function hands a
traced value to another library."""

_ENGINES = "use engine='auto', 'newton', 'complete', 'subdomain', 'swarm' or 'index'"
_LIMITS = "use max_boxes= or time_limit=, and with engine='index' max_trials="
_NEEDLESS = "leave it out: there is nothing like it here"
_DERIVATIVES = "leave it out: derivatives are computed from the function itself"
_LOCAL = "leave it out: there is no local iteration to steer, every fit is proved"
_SIGMA = "use sigma=, the standard deviations of y"

OF_MINIMIZE = {
    **dict.fromkeys(("method", "strategy", "sampling_method"), _ENGINES),
    **dict.fromkeys(("jac", "hess", "hessp", "fprime", "grad"), _DERIVATIVES),
    "tol": "use atol= and rtol= for the value, xtol= for the regions",
    **dict.fromkeys(("ftol", "fatol", "gtol", "f_tol", "vol_tol", "eps"), "use atol= and rtol="),
    **dict.fromkeys(("xatol", "len_tol"), "use xtol="),
    **dict.fromkeys(("maxiter", "maxfev", "maxfun", "maxls", "niter", "iters", "max_nfev"), _LIMITS),
    **dict.fromkeys(("maxtime", "max_time"), "use time_limit="),
    **dict.fromkeys(("disp", "verbose"), "use progress=True, and print the result"),
    **dict.fromkeys(("n_trials", "n_calls", "max_evals", "max_evaluations"), "with engine='index' use max_trials="),
    **dict.fromkeys(("n_jobs", "max_workers", "n_workers"), "use workers="),
    **dict.fromkeys(("storage", "load_if_exists"), "with engine='index' use journal=, a file from which the same call continues"),
    **dict.fromkeys(("f_min", "f_target", "fmin"), "with engine='index' use options={'target': …}"),
    **dict.fromkeys(("sampler", "pruner", "acq_func"), _NEEDLESS),
    "direction": "use infimum.maximize for a maximum", "maximise": "use infimum.maximize", "maximize": "use infimum.maximize",
    "ranges": "use bounds=", "space": "use bounds=", "dimensions": "use bounds=",
    "rng": "use seed=", "random_state": "use seed=",
    "popsize": "with engine='swarm' use options={'particles': …}",
    "init": "with engine='swarm' use options={'start': 'sobol'}, and x0= for points of your own",
    **dict.fromkeys(("polish", "minimizer_kwargs", "local_search_options", "no_local_search", "finish"),
                    "leave it out: the best point is always improved by descents"),
    **dict.fromkeys(("vectorized", "updating"), "leave it out: boxes are always evaluated in batches"),
    **dict.fromkeys(("mutation", "recombination", "stepsize", "take_step", "accept_test", "T", "initial_temp", "visit", "accept",
                     "restart_temp_ratio", "locally_biased", "Ns", "full_output", "niter_success"), _NEEDLESS),
    "p0": "use x0=, a point to start from", "params": "use bounds=, a (low, high) pair for each variable",
    **dict.fromkeys(("fcn_args", "fcn_kws", "kws", "kwargs"), "use args=, or functools.partial"),
    **dict.fromkeys(("sigma", "weights"), "data are fitted by infimum.fit, which takes sigma="),
    "nan_policy": "leave it out: where the function is undefined, no point is a candidate", "iter_cb": "use callback=",
}

OF_FIT = {
    "weights": "use sigma=1/weights, the standard deviations of y", "w": "use sigma=1/w, the standard deviations of y",
    **dict.fromkeys(("yerr", "dy", "err", "e_y", "sy", "uncertainty"), _SIGMA),
    "scale_covar": "use absolute_sigma=True for scale_covar=False",
    "params": "use bounds=, a dictionary name: (low, high) or an lmfit Parameters",
    **dict.fromkeys(("beta0", "guess", "init", "initial", "start", "init_params"), "use p0="), "x0": "use p0=",
    "nan_policy": "leave such rows out, as in `keep = np.isfinite(y)`, `x[keep]`, `y[keep]`; curve_fit has nan_policy='omit'",
    "missing": "leave such rows out, as in `keep = np.isfinite(y)`, `x[keep]`, `y[keep]`",
    **dict.fromkeys(("data", "ydata"), "give the data by place: fit(model, x, y)"), "xdata": "give x by place: fit(model, x, y)",
    **dict.fromkeys(("f", "fun"), "give the model by place: fit(model, x, y)"),
    "independent_vars": "leave it out: the first argument of the model is x",
    **dict.fromkeys(("method", "fit_kws", "ftol", "gtol", "epsfcn", "factor", "x_scale", "diff_step", "tr_solver", "calc_covar",
                     "factor_tol"), _LOCAL),
    **dict.fromkeys(("jac", "Dfun", "fjac", "fprime"), _DERIVATIVES),
    **dict.fromkeys(("fcn_args", "fcn_kws", "args"), "use functools.partial, or a function that calls yours"),
    **dict.fromkeys(("max_nfev", "maxfev", "maxiter"), "use max_boxes= or time_limit="),
    "tol": "use rtol=, a part of the loss, or atol=", "n": "use bounds=",
    "start_boxes": "use bounds=, or minimize for a feasible set that is no box",
    "full_output": "leave it out: the result holds all of it", "check_finite": "leave it out: data are always checked",
}

OF_STUDY = {
    "direction": "use maximise=True for a maximum", "directions": "there is one objective: tell one value for each trial",
    "maximize": "use maximise=True", **dict.fromkeys(("n_trials", "n_calls", "max_evals"), "use max_trials="),
    **dict.fromkeys(("storage", "study_name", "load_if_exists"), "use journal=, a file from which the same study continues"),
    **dict.fromkeys(("space", "dimensions", "ranges"), "use bounds="),
    **dict.fromkeys(("seed", "rng", "random_state"), "leave it out: the search draws no random numbers"),
    **dict.fromkeys(("sampler", "pruner", "acq_func", "n_jobs"), _NEEDLESS), "p0": "use x0=",
}

# functions that pass keywords on, by name
KEYWORDS = {"fit": OF_FIT, "curve_fit": OF_FIT, "study": OF_STUDY}

# names that the package does not have
NAMES = {
    "create_study": "use infimum.study(bounds), to ask and tell, or infimum.minimize(f, bounds, engine='index')",
    **dict.fromkeys(("differential_evolution", "dual_annealing", "shgo", "direct", "brute"), "use infimum.minimize(f, bounds)"),
    "basinhopping": "use infimum.minimize(f, bounds, x0=x0)", "fmin": "use infimum.minimize(f, bounds)",
    "minimize_scalar": "use infimum.minimize(lambda x: f(x[0]), [(low, high)])",
    "milp": "use infimum.minimize(lambda x: c @ x, bounds, constraints=…, integrality=…)",
    "least_squares": "use infimum.fit(model, x, y, bounds=…), or minimize(lambda p: np.sum(residuals(p)**2), bounds)",
    "Model": "infimum.fit(model, x, y, bounds=…) takes the function itself",
    **dict.fromkeys(("Parameters", "create_params"), "infimum.fit takes bounds={'name': (low, high)}, or an lmfit Parameters"),
    "Minimizer": "use infimum.minimize(f, bounds)",
}

_ASK_AND_TELL = "make the trials yourself, `while (t := study.ask()) is not None: study.tell(t, f(t.x))`"

# attributes that a study, and a trial of it, do not have
STUDY_NAMES = {
    "optimize": f"{_ASK_AND_TELL}; or call infimum.minimize(f, bounds, engine='index', max_trials=…)",
    **dict.fromkeys(("best_params", "best_value", "best_trial"), "use study.result(), which has x and fun"),
    "trials": "use study.result().trials, or journal= to keep them", "enqueue_trial": "use x0= of infimum.study",
    "add_trial": "use options={'warm_start': …}, the journal of another run",
}
TRIAL_NAMES = {
    **dict.fromkeys(("suggest_float", "suggest_int", "suggest_categorical", "suggest_uniform", "suggest_loguniform"),
                    "trial.x holds the values of the variables that infimum.study(bounds, integrality=…) was given; an entry of "
                    "bounds may be a list of values to choose from"),
    "params": "use trial.x", "value": "tell it: study.tell(trial, value)",
    **dict.fromkeys(("report", "should_prune"), "a trial is told once, by study.tell(trial, value)"),
}


def no_attribute(what: str, name: str, cures: dict[str, str]) -> AttributeError:
    """The error for a name that something does not have, with what to write instead, if somebody else calls it so."""
    return AttributeError(f"{what} has no attribute {name!r}" + (f": {cures[name]}" if name in cures else ""))


WITH_NUMPY = "Write the formula with NumPy functions."  # whoever minimises says that it can be tried instead
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
    return " ".join([_INSTEAD[library], WITH_NUMPY] if library in _INSTEAD else [WITH_NUMPY])
