"""What scripts/check_docs.py is made of."""
