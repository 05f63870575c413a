"""What pools and node classes say of themselves."""
