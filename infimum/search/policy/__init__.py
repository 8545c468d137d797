"""The policy of searches: every constant that steers one, with its unit and meaning, and the bench that shows what it is worth.

None of these numbers decides anything: whatever they are, an answer is proved. They decide how long that takes. Numbers that
are fixed by a proof, a file format or the layout of a kernel stand beside it, with a comment `fixed:` that says by what. When a
test of regions is due, and what it costs, is the table in `bounds/bound_table.py`.
"""
