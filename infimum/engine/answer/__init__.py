"""What a run may say: verdict, regions, and what stood in the way."""
