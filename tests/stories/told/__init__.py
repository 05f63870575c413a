"""The stories that are told on both stages."""

from tests.stories.told import limits, neighbours, nodes, places, sizes, troubles

STORIES = (
    *sizes.STORIES,
    *limits.STORIES,
    *places.STORIES,
    *neighbours.STORIES,
    *nodes.STORIES,
    *troubles.STORIES,
)
