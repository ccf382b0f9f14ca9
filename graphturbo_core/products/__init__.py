"""Products that steps pass to each other, each with `check()`: Plan and Program.

- `cooperation.py`: cluster and step of each kernel in a cluster-parallel plan.
- `scheduling.py`: order of issue, and fences between layers.
- `gb_retention.py`: GbRetention: a weight in GB over several kernels; which of these are illegal.
- `branches.py`: parts of a kernel that run at the same time on disjoint cores.
- `shards.py`: bytes of each LB for shards.
- `plan.py`: Plan: layers, kernels, pieces, order, bindings, the memory of each tensor.
- `split_text.py`: split axes of a group as text.
- `arrays.py`: functions for arrays of compiled code.
- `instruction_table.py`: columns of instructions: name, dtype, unit and meaning.
- `program.py`: Program: instructions, boxes, buffers, channels and conflicts as arrays.
- `program_digest.py`: sha256 of a run's Programs.
- `produced.py`: the tensor and box that each instruction produces, for listings and reports.

Trace is in `sim/trace.py`.

Layers of a report are Relay's partition of the cleaned graph, for every strategy. So all runs of a
comparison have the same layers. A strategy may ask for passes that take ops apart. It then fuses
*units* (`Plan.units`): Relay's partition of its own graph. Layers, lower bound and MACs are still
those of `Graph.undecomposed`. A group reports how many units its ops belong to. A group smaller
than a unit (`layerwise`) reports 1.

In a cluster-parallel plan, kernels of one step run at the same time. Between steps there are one
barrier of the chip and one launch. A tensor that another cluster reads is in the writer's DRAM and
was computed in an earlier step; `Plan.check` verifies both. Graph inputs are in cluster 0's DRAM.
Each part of an output is in the DRAM of the cluster that computes it. Core numbers count on from
cluster to cluster. GB and DRAM of cluster c have the core number -1 - c.

The branches of a kernel (`KernelPlan.branches`) have disjoint cores and one launch. Lowering makes
each branch as if it were a kernel, and then joins their instructions.
"""
