"""The cache of compiled modules, PTX and machine code: what is there is used, what is damaged is not, and nothing about it can
fail a run."""

import errno
import os
import sys
import tempfile
from itertools import count
from pathlib import Path

import llvmlite.binding as llvm
import pytest

import infimum
from infimum.backend import cpu, disk_cache, ptx
from infimum.backend.cpu import CpuBackend
from infimum.backend.cuda.cuda_backend import CudaBackend
from infimum.backend.processor import KernelWrapper, host
from tests import children
from tests.backend.test_cuda_launch import check, sum_kernel, whole_numbers
from tests.fake_cupy import installed

ROOT = Path(infimum.__file__).parent.parent


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("INFIMUM_CACHE", str(folder))
    monkeypatch.setattr(disk_cache, "_written", count())
    return folder


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


# ---- files
def test_what_is_written_is_read(cache):
    assert disk_cache.read("a") is None
    disk_cache.write("a", b"content")
    disk_cache.write("b", b"")
    assert (disk_cache.read("a"), disk_cache.read("b"), disk_cache.read("c")) == (b"content", b"", None)
    assert len(files(cache)) == 2 and (os.name == "nt" or cache.stat().st_mode & 0o777 == 0o700)


def test_damage_of_any_kind_is_noticed(cache):
    disk_cache.write("a", b"some content")
    path, = files(cache)
    good = path.read_bytes()
    for at in range(len(good)):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
        assert disk_cache.read("a") is None
        path.write_bytes(good[:at])
        assert disk_cache.read("a") is None
    path.rename(path.with_name(path.name.replace("a", "b", 1)))
    assert disk_cache.read("b") is None, "of another name"
    disk_cache.write("a", b"some content")
    assert disk_cache.read("a") == b"some content"


def test_a_folder_that_cannot_be_used_is_done_without(cache, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    for place in ("file", "file/below"):
        monkeypatch.setenv("INFIMUM_CACHE", str(tmp_path / place))
        disk_cache.write("a", b"content")
        assert disk_cache.read("a") is None
    monkeypatch.setenv("INFIMUM_CACHE", str(cache))

    def full(*_):
        raise OSError("no space left on device")
    monkeypatch.setattr(os, "replace", full)
    disk_cache.write("a", b"content")
    assert files(cache) == [], "nothing is left half done"


def test_the_files_not_used_for_the_longest_time_go(cache, monkeypatch):
    monkeypatch.setattr(disk_cache, "_MOST_BYTES", 1000)
    monkeypatch.setattr(disk_cache, "_CLEANING_PERIOD", 5)
    cache.mkdir()
    (cache / "of somebody else").write_bytes(bytes(5000))
    for k in range(5):
        disk_cache.write(str(k), bytes(200))  # and a checksum of 64
        os.utime(cache / f"{k}.infimum", (k, k))
    assert disk_cache.read("0") is not None  # just used
    disk_cache.write("5", bytes(200))
    assert [p.name for p in files(cache)] == ["0.infimum", "4.infimum", "5.infimum", "of somebody else"]


def test_where_it_lies(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "name", "posix")
    for variable in ("INFIMUM_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert str(disk_cache.folder()) == f"{tmp_path}/.cache/infimum"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # not to be heeded, says its specification
    assert str(disk_cache.folder()) == f"{tmp_path}/.cache/infimum"
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert str(disk_cache.folder()) == "/x/infimum"
    monkeypatch.setenv("INFIMUM_CACHE", "/y")
    assert str(disk_cache.folder()) == "/y"
    monkeypatch.setenv("INFIMUM_CACHE", "off")
    assert disk_cache.folder() is None
    disk_cache.write("a", b"content")
    assert disk_cache.read("a") is None


def test_names_tell_causes_apart():
    names = [disk_cache.name_of(*causes) for causes in (("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("ab", "d"))]
    assert len(set(names)) == len(names) and disk_cache.name_of("ab", "c") == names[0]


CHILD = """
import sys
from infimum.backend import disk_cache
content = bytes([int(sys.argv[1])]) * 100_000
for _ in range(200):
    disk_cache.write("same", content)
    found = disk_cache.read("same")
    assert found is not None and len(found) == 100_000 and len(set(found)) == 1, len(found)
"""


def test_several_processes_at_once(cache):
    running = [children.start(sys.executable, "-c", CHILD, str(k), cwd=ROOT) for k in range(4)]
    assert [child.communicate()[1] for child in running] == [""] * 4
    assert len(files(cache)) == 1


# ---- kernels
@pytest.fixture
def started(monkeypatch):
    """started() is a new process, as far as the GPU backend can tell, and returns a list that grows whenever LLVM works."""
    def start() -> list[str]:
        installed(monkeypatch)
        assembled = []
        monkeypatch.setattr(ptx, "assemble", lambda text: assembled.append(text) or original(text))
        return assembled
    original = ptx.assemble
    return start


def run(boxes: int = 5) -> None:
    inputs, output, data, udata = whole_numbers(boxes)
    CudaBackend().compile(sum_kernel()).run(inputs, [output], data, udata)
    check(inputs, output, data)


def test_at_a_second_start_llvm_has_nothing_to_do(cache, started):
    for times in (1, 0, 0):
        assembled = started()
        run()
        assert len(assembled) == times
    assert len(files(cache)) == 1


def test_a_damaged_file_is_made_again(cache, started):
    started()
    run()
    path, = files(cache)
    good = path.read_bytes()
    path.write_bytes(good[:-9])
    assembled = started()
    run()
    assert len(assembled) == 1 and path.read_bytes() == good


@pytest.mark.parametrize("what", ["llvmlite.__version__", "infimum.backend.ptx.VERSION", "infimum.backend.ptx._LEVEL"])
def test_what_the_text_follows_from_is_in_its_name(cache, started, monkeypatch, what):
    started()
    run()
    assembled = started()
    monkeypatch.setattr(what, {"_LEVEL": 2, "VERSION": "+ptx60"}.get(what.split(".")[-1], "99"))
    run()
    assert len(assembled) == 1 and len(files(cache)) == 2


def test_without_the_cache_llvm_works_each_time(started, tmp_path, monkeypatch):
    monkeypatch.setenv("INFIMUM_CACHE", "off")
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assembled = started()
        run()
        assert len(assembled) == 1
    assert files(tmp_path) == []


# ---- machine code
@pytest.fixture
def anew(monkeypatch):
    """anew() is a new process, as far as the CPU backend can tell, and returns a list that grows whenever LLVM reads a text."""
    def start() -> list[str]:
        for name in ("_library", "_compiled"):
            monkeypatch.setattr(cpu, name, type(getattr(cpu, name))())
        for name in ("module", "call"):
            monkeypatch.setattr(KernelWrapper, name, None)
        read = []
        monkeypatch.setattr(llvm, "parse_assembly", lambda text: (text and read.append(text)) or original(text))
        return read
    original = llvm.parse_assembly
    return start


STAYS = []  # code of these processes: LLVM knows its functions by name, and later kernels may be linked with them


def add_up() -> None:
    inputs, output, data, udata = whole_numbers(5)
    STAYS.append(CpuBackend().compile(sum_kernel()))
    STAYS[-1].run(inputs, [output], data, udata)
    check(inputs, output, data)


def test_at_a_second_start_llvm_reads_nothing(cache, anew):
    for times in (1, 0, 0):
        read = anew()
        add_up()
        assert len(read) == times
    assert len(files(cache)) == 1


def test_code_for_other_machines_is_not_taken(cache, anew, monkeypatch):
    anew()
    add_up()
    for k, what in enumerate(("name", "flags", "triple")):
        read, settings = anew(), host().settings()
        other = tuple(s + "+other" if s == getattr(host(), what) else s for s in settings)
        assert other != settings
        monkeypatch.setattr(host(), "settings", lambda other=other: other)
        add_up()
        assert len(read) == 1 and len(files(cache)) == 2 + k


def test_damaged_code_is_made_again(cache, anew):
    anew()
    add_up()
    path, = files(cache)
    good = path.read_bytes()
    for bad in (good[:-9], good[:100], b"", good[:-1] + bytes([good[-1] ^ 1])):
        path.write_bytes(bad)
        read = anew()
        add_up()
        assert len(read) == 1 and path.read_bytes() == good


def test_without_the_cache_code_is_made_each_time(anew, tmp_path, monkeypatch):
    monkeypatch.setenv("INFIMUM_CACHE", "off")
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        read = anew()
        add_up()
        assert len(read) == 1
    assert files(tmp_path) == []


# ---- whose files they are: one rule for machine code and PTX
@pytest.fixture(params=["cpu", "gpu"])
def compiled(request, cache, anew, started):
    """compiled() compiles a kernel as a new process does, runs it, and returns how often LLVM worked."""
    begin, compute = (anew, add_up) if request.param == "cpu" else (started, run)

    def once() -> int:
        worked = begin()
        compute()
        return len(worked)
    assert once() == 1 and once() == 0 and len(files(cache)) == 1
    return once


posix = pytest.mark.skipif(os.name == "nt", reason="rights are kept in another way")
ROOTS = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")


@posix
@pytest.mark.parametrize("mode", [0o777, 0o720, 0o702, 0o1777])
def test_nothing_is_taken_from_a_folder_that_others_can_write_to(cache, compiled, mode):
    cache.chmod(mode)
    assert compiled() == 1 and compiled() == 1
    cache.chmod(0o755)
    assert compiled() == 0


@posix
@pytest.mark.parametrize("mode", [0o666, 0o620, 0o602])
def test_no_file_is_taken_that_others_can_write_to(cache, compiled, mode):
    path, = files(cache)
    path.chmod(mode)
    assert compiled() == 1, "and a new one took its place"
    assert compiled() == 0 and path.stat().st_mode & 0o777 == 0o600


@posix
@ROOTS
@pytest.mark.parametrize("what", ["folder", "file"])
def test_nothing_is_taken_that_belongs_to_somebody_else(cache, compiled, what):
    path, = files(cache)
    os.chown(cache if what == "folder" else path, 12345, -1)
    assert compiled() == 1
    assert compiled() == (what == "folder")
    os.chown(cache, 0, -1)
    assert compiled() == 0


@posix
@ROOTS
def test_what_root_has_written_is_taken_by_everybody(monkeypatch):
    """Files that were installed with the system; those of another user are not."""
    with tempfile.TemporaryDirectory() as folder:  # a folder of pytest's is for one user
        monkeypatch.setenv("INFIMUM_CACHE", folder)
        disk_cache.write("a", b"content")
        path, = files(Path(folder))
        for place in (folder, path):
            os.chmod(place, 0o755)
        for owner, found in ((0, b"content"), (12346, None)):
            os.chown(path, owner, -1)
            os.seteuid(12345)
            try:
                assert disk_cache.read("a") == found
            finally:
                os.seteuid(0)


@posix
def test_links_pipes_and_folders_are_no_files_of_ours(cache, compiled, tmp_path):
    path, = files(cache)
    good = path.read_bytes()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(good)
    elsewhere.chmod(0o600)
    for put in (lambda: path.symlink_to(elsewhere), lambda: os.mkfifo(path), lambda: path.symlink_to("/dev/zero")):
        path.unlink()
        put()
        assert compiled() == 1 and path.read_bytes() == good and not path.is_symlink()
    path.unlink()
    path.mkdir()
    assert compiled() == 1 and path.is_dir()


@posix
def test_a_folder_may_be_a_link_to_one_that_is_ours(cache, compiled, tmp_path, monkeypatch):
    link = tmp_path / "link"
    link.symlink_to(cache)
    monkeypatch.setenv("INFIMUM_CACHE", str(link))
    assert compiled() == 0


def test_a_file_that_is_too_large_is_not_read(cache, monkeypatch):
    disk_cache.write("a", bytes(1000))
    assert disk_cache.read("a") == bytes(1000)
    monkeypatch.setattr(disk_cache, "_MOST_BYTES", 500)
    assert disk_cache.read("a") is None


def test_a_full_disk_is_no_error_and_leaves_nothing(cache, compiled, monkeypatch):
    files(cache)[0].unlink()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")
    for module, function in ((disk_cache.os, "replace"), (disk_cache.tempfile, "mkstemp")):
        with monkeypatch.context() as patched:
            patched.setattr(module, function, full)
            assert compiled() == 1 and files(cache) == []


def test_a_home_that_nobody_has(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INFIMUM_CACHE", "~nobody_of_this_name/cache")
    disk_cache.write("a", b"content")
    assert disk_cache.read("a") is None and files(tmp_path) == []


SOLVE = """
import infimum
r = infimum.minimize(lambda x: x[0] ** 2 + x[1], [(-1, 1)] * 2, constraints=lambda x: x[0] * x[1] >= 0.25, progress=False, seed=0)
print(r.lower.hex(), r.upper.hex(), r.nfev)
"""


def test_processes_that_share_code_find_the_same_bits(cache):
    def solved(count: int) -> list[str]:
        running = [children.start(sys.executable, "-c", SOLVE, cwd=ROOT) for _ in range(count)]
        return [child.communicate()[0] for child in running]
    first = solved(2)  # at once
    written = {path: path.stat().st_ino for path in files(cache)}
    second = solved(1)
    assert len({*first, *second}) == 1 and first[0].strip()
    assert written == {path: path.stat().st_ino for path in files(cache)}, "nothing was made anew"
