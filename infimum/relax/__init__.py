"""Linear relaxations of a region: rows from several sources, multipliers, and bounds that hold for any multipliers."""
