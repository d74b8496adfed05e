"""The trace of a run as a page: served to one's own machine, or written to one file."""

from services.telemetry.view.page import write_page
from services.telemetry.view.server import TraceServer, serve

__all__ = ["TraceServer", "serve", "write_page"]
