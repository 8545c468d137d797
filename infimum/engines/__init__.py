"""Engines: whole searches, made of the stages in search, bounds, points and certify."""
