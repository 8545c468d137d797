"""Checkpoints that are damaged, or that somebody has made: an error of ours that names the file, or a run that ends; no other
exception, and no memory that the file's size does not explain. INFIMUM_FORGED=2000 tries as many on every engine, not a few."""

import hashlib
import io
import json
import os
import pickle
import tracemalloc
import zipfile

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import infimum
from infimum.search.checkpoint import MAGIC, State, load, save
from tests.engine.forged import arrays, trees

DRAWS = int(os.environ.get("INFIMUM_FORGED", 0))
FORGED = settings(max_examples=DRAWS or 20, suppress_health_check=list(HealthCheck), derandomize=not DRAWS)


def hills(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def inside(x):
    return x[0] * x[1] + x[0] >= -0.5


BOX, TWO = [(-4.0, 5.0), (-4.0, 5.0)], [[(-4, 0), (-4, 5)], [(1, 5), (0, 5)]]
KINDS = {"auto": ({}, {}), "constrained": ({}, {"constraints": inside}),
         "complete": ({"engine": "complete", "options": {"partition": (3, 2)}}, {})}
if DRAWS:
    KINDS |= {"start_boxes": ({"start_boxes": TWO}, {}), "integers": ({"integrality": [1, 0]}, {"constraints": inside}),
              "newton": ({"engine": "newton"}, {}), "subdomain": ({"engine": "subdomain"}, {"constraints": inside})}


@pytest.fixture(scope="module", params=list(KINDS))
def kept(request, tmp_path_factory):
    """The file of a run that was stopped, what it holds, and how it continues."""
    path = str(tmp_path_factory.mktemp("kept") / "run.inf")
    own, both = KINDS[request.param]
    steps = 0

    def stop(snapshot):
        nonlocal steps
        steps += snapshot.lower > -np.inf
        return steps > 3
    infimum.minimize(hills, BOX, checkpoint=path, atol=1e-12, rtol=0.0, batch=64, callback=stop, progress=False, **own, **both)
    state = load(path)
    assert state.values["state"] is not None, "or there is nothing to forge"
    return path, state, both


def continues(path, more):
    """The result of going on for a little, or None where the file is refused."""
    try:
        return infimum.resume(path, hills, max_boxes=1000, progress=False, **more)
    except infimum.CheckpointError as error:
        assert path in str(error)
    except infimum.TraceError:  # with bounds of one variable the function is another one
        assert len(load(path).arrays["settings.lo"]) == 1
    return None


def test_what_was_kept_continues(kept):
    path, state, more = kept
    save(path, state)  # other tests may have written something else there
    assert continues(path, more) is not None
    save(path, state)


@FORGED
@given(st.data())
def test_values_that_no_run_has_written(kept, data):
    path, state, more = kept
    save(path, State(data.draw(trees(state.values)), state.arrays))
    continues(path, more)


@FORGED
@given(st.data())
def test_arrays_that_no_run_has_written(kept, data):
    path, state, more = kept
    names = data.draw(st.lists(st.sampled_from(sorted(state.arrays)), min_size=1, max_size=2, unique=True))
    if data.draw(st.booleans()):
        changed = state.arrays | {name: data.draw(arrays(state.arrays[name])) for name in names}
    else:
        changed = {name: array for name, array in state.arrays.items() if name not in names}
    save(path, State(state.values, changed))
    continues(path, more)


def test_a_best_value_that_the_function_does_not_have(kept):
    """All regions would be discarded, and the value proved."""
    path, state, more = kept
    best = state.arrays["incumbent"].copy()
    best[0] = -5.0
    save(path, State(state.values, state.arrays | {"incumbent": best}))
    with pytest.raises(infimum.CheckpointError, match="the best value is below all values that the function has at its point"):
        infimum.resume(path, hills, **more)


def test_regions_outside_of_the_bounds_or_none_at_all(kept):
    path, state, more = kept
    names = [name for name in ("pool.front", "pool.waiting", "list.lower", "final.lower", "final.lo") if name in state.arrays]
    for name in names:
        array = state.arrays[name].copy()
        array[:1] = 100.0
        if name in ("pool.front", "final.lo") and array.size:
            save(path, State(state.values, state.arrays | {name: array}))
            with pytest.raises(infimum.CheckpointError, match="a region is empty, or not within the bounds"):
                infimum.resume(path, hills, **more)
    if "pool.front" in names:
        regions = [name for name in state.arrays if name.startswith(("pool.front", "pool.waiting", "final"))]
        none = {name: state.arrays[name][..., :0] for name in regions}
        save(path, State(state.values, state.arrays | none))
        with pytest.raises(infimum.CheckpointError, match="there is a point, and no region that may hold it"):
            infimum.resume(path, hills, **more)


def test_a_start_box_that_there_is_not(kept):
    path, state, more = kept
    if "list.iteration" not in state.arrays:
        pytest.skip("only the complete search numbers its start boxes")
    assert state.arrays["list.subregion"].max() > 0
    whole = np.full_like(state.arrays["list.iteration"], -1)
    save(path, State(state.values, state.arrays | {"list.iteration": whole}))
    with pytest.raises(infimum.CheckpointError, match="'list.subregion' is out of range"):
        infimum.resume(path, hills, **more)


# ---- the file itself
def signed(body: bytes) -> bytes:
    return MAGIC + hashlib.sha256(body).digest() + body


def with_header(header: bytes, rest: bytes = b"") -> bytes:
    return signed(len(header).to_bytes(8, "little") + header + rest)


def npy(array: np.ndarray, **how) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **how)
    return stream.getvalue()


def claims(text: str) -> bytes:
    """An array whose header says this."""
    head = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head


def test_every_prefix_and_every_changed_byte_is_noticed(tmp_path):
    path = tmp_path / "run.inf"
    save(str(path), State({"settings": {}, "state": None}, {"x": np.arange(3.0)}))
    good = path.read_bytes()
    for end in range(len(good)):
        path.write_bytes(good[:end])
        with pytest.raises(infimum.CheckpointError):
            load(str(path))
    for at in range(0, len(good), 3):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1 << at % 8]) + good[at + 1:])
        with pytest.raises(infimum.CheckpointError):
            load(str(path))


ONE = json.dumps({"values": {}, "arrays": ["x"]}).encode()
ZIP = io.BytesIO()
with zipfile.ZipFile(ZIP, "w", zipfile.ZIP_DEFLATED) as bomb:
    bomb.writestr("x.npy", bytes(10**6))


FOUR = npy(np.arange(4.0))
BODIES = {  # of each, what is said of it
    b"": "header is longer", b"\xff" * 8: "header is longer", b"\xff" * 20: "header is longer",
}
HEADERS = {
    b"{": "no JSON", b"[" * 10**5 + b"]" * 10**5: "no JSON", b"\xff\xfe{}": "no JSON", b"1" * 5000: "no JSON|does not say",
    b"[]": "does not say", b'{"values": {}}': "does not say", b'{"values": [], "arrays": []}': "does not say",
    b'{"values": {}, "arrays": [1]}': "does not say", ONE: "no header",
}
ARRAYS = {
    pickle.dumps([1, 2]): "no header", ZIP.getvalue(): "no header", npy(np.array([None]), allow_pickle=True): "no numbers",
    npy(np.array(["text"])): "no numbers", npy(np.zeros(2, [("a", "f8")])): "no numbers", FOUR[:-1]: "longer than the file",
    FOUR + b"x": "behind its last array",
}
SHAPES = {
    ("<f8", "(1000000000000,)"): "no numbers", ("<f8", "(10**400,)"): "no header", ("<f8", "(-1,)"): "no numbers",
    ("<f8", "(90, 90, 90, 90)"): "longer than the file", ("<f8", "((((((1,"): "no header", ("<c16", "(1,)"): "no numbers",
    ("|V9", "(1,)"): "no numbers", ("<M8[s]", "(1,)"): "no numbers", ("<f16", "(1,)"): "no numbers|no header",
    ("<f8", "(0, 99999999999999)"): "no numbers", ("x" * 50, "(1,)"): "no header",
}
CONTENTS = [*((signed(body), said) for body, said in BODIES.items()),
            *((with_header(header), said) for header, said in HEADERS.items()),
            *((with_header(ONE, array), said) for array, said in ARRAYS.items()),
            *((with_header(ONE, claims(f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape}}}")), said)
              for (kind, shape), said in SHAPES.items())]


@pytest.mark.parametrize(("content", "said"), CONTENTS, ids=range(len(CONTENTS)))
def test_files_that_pass_the_checksum_and_hold_no_state(content, said, tmp_path):
    path = tmp_path / "run.inf"
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(infimum.CheckpointError, match=said) as error:
            load(str(path))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(path) in str(error.value) and most < 20 * len(content) + 10**6


def test_names_that_no_file_can_have():
    with pytest.raises(infimum.CheckpointError, match="cannot be read"):
        infimum.resume("a\0b", hills)
