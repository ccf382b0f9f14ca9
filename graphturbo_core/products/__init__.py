"""Products that steps pass to each other, each with `check()`: Plan and Program.

- `cooperation.py`: cluster and step of each kernel, where clusters share one round.
- `scheduling.py`: order of issue, and fences between layers.
- `stays.py`: a weight's place in GB over several kernels, and which of these are illegal.
- `plan.py`: Plan: layers, kernels, pieces, order, bindings, the memory of each tensor.
- `arrays.py`: small array shapes for compiled code.
- `instruction_table.py`: columns of instructions: name, dtype, unit and meaning.
- `program.py`: Program: instructions, boxes, buffers, channels and conflicts as arrays.
- `produced.py`: the tensor and box that each instruction produces, for listings and reports.

Trace is in `sim/trace.py`.

Layers of a report are Relay's partition of the cleaned graph, for every strategy. So all runs of a
comparison have the same layers. A strategy may ask for passes that take ops apart. It then fuses
*units* (`Plan.units`): Relay's partition of its own graph. Layers, lower bound and MACs are still
those of `Graph.undecomposed`. A group reports how many units its ops belong to. A group smaller
than a unit (`layerwise`) reports 1.

Under cooperation, kernels of one step run at the same time. Between steps lie one barrier of the
chip and one launch. A tensor that another cluster reads waits in the writer's DRAM and was made in
an earlier step; `Plan.check` verifies both. Graph inputs lie in cluster 0's DRAM. Each part of an
output lies in the DRAM of the cluster that computes it. Cores are numbered from cluster to cluster;
GB and DRAM of cluster c have the core -1 - c.
"""
