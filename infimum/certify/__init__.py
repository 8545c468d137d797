"""What turns estimates into claims: solutions of equations, isolated minimisers, verdicts, obstacles."""
