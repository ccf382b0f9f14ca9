"""Models as PyTorch's exporters write them, weights stripped, and the script that fills them."""
