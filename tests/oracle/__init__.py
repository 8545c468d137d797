"""An oracle that shares nothing with the library but the graph: Arb says what an expression is worth at a point."""
