"""Tests that discard or shrink regions, each with its kernel and its proof."""
