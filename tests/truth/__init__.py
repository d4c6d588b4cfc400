"""What the real compiler says of many layouts, stored; see make_truth.py."""
