"""What the tests of demand share."""

from tests.extender.conftest import nothing_blocks_the_loop

__all__ = ["nothing_blocks_the_loop"]
