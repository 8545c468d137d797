"""Fits with measurements so precise that the model has to pass through them."""
