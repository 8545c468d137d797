"""Second order for many variables: functions that are sums of small terms, in a time that grows with their number."""
