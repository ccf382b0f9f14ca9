"""The families that multiply and accumulate: products, convolutions, attention, recurrent ops.

Also their 8-bit forms, and the fused forms that ONNX Runtime's optimiser writes.
"""
