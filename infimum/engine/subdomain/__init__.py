"""Branch and bound by subdomains."""
