"""Where the regions of a search are kept."""
