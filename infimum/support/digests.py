"""BLAKE2b without `hashlib`, which loads OpenSSL as well: three milliseconds of each first call."""

try:
    from _blake2 import blake2b as blake2b  # where Python's own code of it lies, as hashlib looks for it
except ImportError:
    from hashlib import blake2b as blake2b
