"""Questions asked of layouts: what they cost, and what would be better."""
