"""Code that the scripts for the documents' pictures share."""
