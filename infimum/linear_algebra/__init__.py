"""Linear algebra: dense and sparse systems, and interval matrices rounded outward."""
