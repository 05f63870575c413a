"""The pictures of docs/pictures, made from the running product: `make pictures`."""
