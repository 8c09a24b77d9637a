"""The parts of scripts/check_docs.py."""
