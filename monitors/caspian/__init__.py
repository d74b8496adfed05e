"""CASPIAN: watches message traffic for cascades and says where they began (arXiv 2605.19240)."""
