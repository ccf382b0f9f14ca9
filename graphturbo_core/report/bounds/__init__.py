"""Lower bounds of the latency, and what the model's outputs need: no schedule does less."""
