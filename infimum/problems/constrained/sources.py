"""Where the constrained problems are from: works cited by several tables."""

CEC_2006 = ("Liang et al., Problem definitions and evaluation criteria for the CEC 2006 special session on constrained "
            "real-parameter optimization (2006)")
FLOUDAS = "Floudas et al., Handbook of Test Problems in Local and Global Optimization (1999), as in GLOBALLib and MINLPLib: "
GLOBALLIB = "GAMS World, GLOBALLib and MINLPLib: "
HOCK = "Hock and Schittkowski, Test Examples for Nonlinear Programming Codes (1981), problem "
OURS = "made for this gallery"
