"""Workers: threads, processes and the nodes of a Ray cluster, behind one interface."""
