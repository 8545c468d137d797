"""Forms in which a kernel carries numbers other than plain enclosures."""
