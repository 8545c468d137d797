"""Where is f at most t? Boxes that hold all such points, boxes of such points alone, and how far they reach."""
