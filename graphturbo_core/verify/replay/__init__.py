"""A Program run on real numbers and bounded memories, and compared with ONNX Runtime."""
