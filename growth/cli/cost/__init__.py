"""`growth cost`: where the money goes."""
