"""What a level's rollouts and samples look like, beside the truth: sheets and moving pictures."""

from vpr.films.files import film_files, write_film
from vpr.films.film import Film, Strip
from vpr.films.rollouts import rollout_film
from vpr.films.samples import sample_film

__all__ = ["Film", "Strip", "film_files", "rollout_film", "sample_film", "write_film"]
