"""Which clusters come and go, region by region."""
