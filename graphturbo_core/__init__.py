"""GraphTurbo Explorer's library: an ONNX model in, a simulated schedule out."""

__version__ = "0.1.0"
"""As in pyproject.toml; a test holds the two together."""
