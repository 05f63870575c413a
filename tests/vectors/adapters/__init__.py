"""The adapters, a module for each part of the product; every module here is loaded."""
