"""Jump after jump of one level: f_tran and the prior, made lean."""

from vpr.jumping.jumper import Jumper, Jumps

__all__ = ["Jumper", "Jumps"]
