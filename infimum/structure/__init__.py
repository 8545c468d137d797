"""What an expression is: recognisers, and rewritings that keep value and domain."""
