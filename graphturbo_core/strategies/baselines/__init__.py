"""What GraphTurbo is compared with: layer by layer, TVM's fusion as Relay has it, AStitch."""
