"""`growth bundle`: everything that a bug report needs, in one file."""
