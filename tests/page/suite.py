"""Runs the tests of a folder: all, or the named ones."""

import unittest


def run(folder, names, close):
    """Returns 0 if all tests passed. Nothing is skipped, and a suite without tests has not passed.
    close() ends shared resources."""
    loader = unittest.TestLoader()
    found = loader.loadTestsFromNames(names) if names else loader.discover(folder, "test_*.py")
    try:
        result = unittest.TextTestRunner(verbosity=2).run(found)
    finally:
        close()
    return 0 if result.wasSuccessful() and not result.skipped and result.testsRun > 0 else 1
