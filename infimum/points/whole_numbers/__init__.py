"""Points with whole numbers: dives, walks and neighbourhoods."""
