"""GraphTurbo Explorer's library: an ONNX model in, a simulated schedule out."""
