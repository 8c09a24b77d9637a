"""Running the tests of a folder: all, or those named."""

import unittest


def run(folder, names, close):
    """0 where all passed. Nothing is skipped, and a suite that found no tests has not passed. close()
    ends what tests share."""
    loader = unittest.TestLoader()
    found = loader.loadTestsFromNames(names) if names else loader.discover(folder, "test_*.py")
    try:
        result = unittest.TextTestRunner(verbosity=2).run(found)
    finally:
        close()
    return 0 if result.wasSuccessful() and not result.skipped and result.testsRun > 0 else 1
