"""Client of Tyche: verifiable random numbers and oracle functions over HTTP."""

from .api import *
from .client import *
from .errors import *
from .webhooks import *
