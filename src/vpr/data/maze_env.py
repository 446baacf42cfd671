"""The miniworld environment that renders mazes; the only module that imports miniworld."""

from __future__ import annotations

import numpy as np
import pyglet
from miniworld.miniworld import MiniWorldEnv
from miniworld.opengl import Texture
from numpy.typing import NDArray

from vpr.data.maze_walk import FRAME, RADIUS, WALLS, Plan

COLOURS = {  # plain, so that hallways differ only in the colour of their walls
    **{f"wall {number}": colour for number, colour in enumerate(WALLS)},
    "floor": (120, 120, 120),
    "ceiling": (235, 235, 235),
}
PLACEHOLDER = Plan(np.array([[0.0, 0.0], [0.0, 4.0]]), np.array([np.pi / 2]), np.array([0]))


class MazeEnv(MiniWorldEnv):  # type: ignore[misc]  # miniworld has no types
    """A world with one maze at a time."""

    def __init__(self) -> None:
        self.plan = PLACEHOLDER  # miniworld needs a world at the start
        _, height, width = FRAME
        super().__init__(
            obs_width=width, obs_height=height, window_width=width, window_height=height
        )

    def render_frames(self, plan: Plan, position: NDArray[np.float32]) -> NDArray[np.uint8]:
        """Frames (T, *FRAME) of a maze, from positions (T, 3): x, y and heading."""
        self.plan = plan
        self.reset()
        frames = np.empty((len(position), *FRAME), dtype=np.uint8)
        for frame, (x, y, heading) in zip(frames, position.astype(float), strict=True):
            self.agent.pos, self.agent.dir = np.array([x, 0, -y]), heading
            frame[:] = np.moveaxis(self.render_obs(), -1, 0)
        return frames

    def _gen_world(self) -> None:
        """Build one room per hallway, with an opening in its side to the next hallway."""
        for name, colour in COLOURS.items():
            _register(name, colour)
        rooms, bounds = [], _bounds(self.plan)
        for colour, (west, east, south, north) in zip(self.plan.colours, bounds, strict=True):
            textures = {"wall_tex": f"wall {colour}", "floor_tex": "floor", "ceil_tex": "ceiling"}
            rooms.append(self.add_rect_room(west, east, -north, -south, **textures))
        for k in range(1, len(rooms)):
            west, east, south, north = bounds[k]
            if self.plan.directions[k, 0]:  # across the x axis
                self.connect_rooms(rooms[k - 1], rooms[k], min_z=-north, max_z=-south)
            else:
                self.connect_rooms(rooms[k - 1], rooms[k], min_x=west, max_x=east)
        self.entities.append(self.agent)
        self.agent.pos, self.agent.dir = np.zeros(3), 0.0


def _bounds(plan: Plan) -> NDArray[np.float64]:
    """West, east, south and north bounds of each hallway, including the corner at its end."""
    ahead = plan.directions
    begin = plan.corners[:-1] + RADIUS * ahead
    end = plan.corners[1:] + RADIUS * ahead
    aside = RADIUS * np.abs(ahead[:, ::-1])
    low, high = np.minimum(begin, end) - aside, np.maximum(begin, end) + aside
    return np.stack([low[:, 0], high[:, 0], low[:, 1], high[:, 1]], 1)


def _register(name: str, colour: tuple[int, int, int]) -> None:
    """Register a plain colour as a texture with this name."""
    plain = pyglet.image.SolidColorImagePattern((*colour, 255)).create_image(8, 8)
    Texture.tex_paths[name] = [name]
    Texture.tex_cache[name] = Texture(plain.get_texture(), name)
