"""The library: what `import audit` offers to notebooks and scripts."""
