"""Bounds of a single function on a region: first order, linear, tangents, interval Newton steps, subdomains."""
