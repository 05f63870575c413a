"""The stories that are told on both stages."""

from tests.stories.told import (
    limits,
    neighbours,
    nodes,
    numbers,
    places,
    sizes,
    troubles,
    utilisation,
)

STORIES = (
    *sizes.STORIES,
    *limits.STORIES,
    *places.STORIES,
    *neighbours.STORIES,
    *nodes.STORIES,
    *numbers.STORIES,
    *troubles.STORIES,
    *utilisation.STORIES,
)
