"""A translator whose attention you can see.

>>> import attn_demo
>>> model = attn_demo.load()
>>> model.translate("The group went home")
'Die Gruppe ging nach Hause'
>>> a = model.attend("The group went home")
>>> a.cross[2, 2].shape                     # [target, source]
(6, 5)
>>> model.why("The group went home").words[1].logit.source[1].text
'group'

Sizes in docstrings: S source tokens, L target tokens, K columns of a head.
"""

import os as _os

from . import _core
from .attention import Attention
from .errors import Error, FileError, InputError, OutOfMemoryError, UsageError
from .model import Model, Translation, load, train
from .why import Why

_share = _os.path.join(_os.path.dirname(__file__), "share")
if _os.path.isdir(_share):
    _core.set_shipped_root(_share)

Head = _core.Head
__version__ = _core.version
__all__ = ["Attention", "Error", "FileError", "Head", "InputError", "Model", "OutOfMemoryError",
           "Translation", "UsageError", "Why", "load", "train"]
