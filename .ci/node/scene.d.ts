// The overview's data: the header of report/overview/buffer.py, what the app adds to it, the arrays
// of each run, and what overview/runs.js derives from them.

// Float64Array stands for each array: its number type depends on its values.
type Kind = "matrix" | "vector" | "move" | "dma";

interface Group {
  name: string;
  title: string;
  called: string;
  is_via_dram: boolean;
  layers: number[];
  shares: number[];
  ops: number;
  pieces: number;
  along: string;
  cuts: [string, number][];
  whole_bytes: number;
  piece_bytes: number;
}

interface Reason {
  group: number;
  is_merged: boolean;
  cause: string;
  times: number;
  fewest_pieces: number;
  most_pieces: number;
  other_layer: number;
  other_parts: number;
  rule: string;
}

interface Raised {
  group: number;
  pieces_before: number;
  piece_bytes: number;
  core_bytes_before: number;
  core_bytes: number;
}

interface NextBest {
  group: number;
  how: "split" | "divided" | "joined";
  groups: number;
  pieces: number;
  along: string;
  cuts: [string, number][];
  more_cycles: number;
}

interface RunHeader {
  strategy: string;
  asked: string;
  latency_s: number;
  seconds_per_cycle: number;
  cycles: number;
  sequence: { count: number; cycles: number; samples: number; is_drawn: boolean }[];
  cluster_batch: number;
  per_s: number;
  dram_bytes: number;
  kernels: number;
  bound_share: number;
  busy: Record<Kind, number>;
  link_busy: number;
  idle_clusters: number;
  in_flight: { mean: number; share: number };
  engines: Record<Kind, number>;
  hue_cycles: number[];
  groups: Group[];
  reasons: Reason[];
  raised: Raised[];
  next_best: NextBest[];
}

type RunArray =
  | "start" | "hold" | "kind" | "layer" | "link" | "flight_cycle" | "flight_layers"
  | "kernel_from" | "kernel_to" | "kernel_group" | "kernel_cluster"
  | "piece_axis" | "piece_first" | "piece_end" | "piece_extent"
  | "second_axis" | "second_first" | "second_end" | "second_extent"
  | "layer_lb_peak_bytes" | "layer_lb_mean_bytes" | "layer_gb_peak_bytes"
  | "layer_dram_bytes" | "layer_matrix_cycles" | "layer_run_s" | "op_layer";

interface Run extends RunHeader, Record<RunArray, Float64Array> {
  load?: Float32Array;
  name: string;
  rounds: { at: number; length: number; samples: number; isDrawn: boolean }[];
  total: number;
  samples: number;
  groupOfLayer: number[];
  sharers?: number[][];
  layer_from?: number[];
  flight_most?: number;
}

/** The race's third row: figures, or how the search stands. */
interface SearchedRow {
  state: string;
  is_under_way: boolean;
  strategy: string;
  latency_s: number;
  per_s: number;
  dram_bytes: number;
  kernels: number;
  bound_share: number;
}

interface Header {
  model: string;
  profile: string;
  batch: number;
  noun: string;
  chip: { clusters: number; cores: number; lb_bytes: number; lb_data_bytes: number; gb_bytes: number; dram_bytes_per_s: number };
  bound_s: number;
  headline: string;
  hues: { meaning: "group" | "stage" | "kind"; titles: string[]; of_layer: number[]; of_group: number[] };
  layers: { name: string; ops: string }[];
  stages: { title: string; first: number; last: number }[];
  blocks: { title: string; first: number; last: number }[];
  ops: [string, number][];
  edges: [number, number][];
  callout: { layer: number; computes: number; from_cycle: number; to_cycle: number; bytes: number }[];
  focus: { group: number; hue: number; loses_s: number };
  window: [number, number];
  names?: string;
  is_presenting?: boolean;
  views?: string[];
  beside?: string;
  state?: string;
  helps?: string;
  asked?: string;
  keys?: string;
  can_search?: string;
  best?: Partial<SearchedRow>;
  edited_A?: string;
  edited_B?: string;
  digest?: string;
}

interface Scene extends Header {
  runs: Run[];
  layerOfGroup: number[][][];
}
