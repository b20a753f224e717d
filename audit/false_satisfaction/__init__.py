"""From answers to settled groups to counts per cell.

Whether a group is a false satisfaction is derived, never typed in.
"""
