"""What the scripts that draw the documents' pictures share."""
