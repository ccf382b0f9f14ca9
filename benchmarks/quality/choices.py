"""What was chosen after results were seen, on which models, and what other choices give."""

from __future__ import annotations

TITLE = "Chosen after results were seen"
OF_SEARCH = (
    "Its constants: while looking at ResNet-50, MobileNet-v2 and BERT-base on `generic-4x4` and at "
    "the first two on `stcp920` and `goya`. The tables below show other values on models that were "
    "not looked at.",
    "That a segment's matrix and vector cycles add up, and that the search learns from its first "
    "plan: on nine pairs at one cluster batch each (six models on `stcp920`, two on `generic-4x4`, "
    "one on `goya`). Between 2.4 % slower and 7.0 % faster than before, 2.0 % faster in the "
    "geometric mean.",
    "That the plan of least traffic comes first: on four models on `generic-4x4` at one cluster "
    "batch each. light-squeezenet is 10 % faster than without it, BERT-base 8.6 %, ResNet-50 "
    "0.4 %, MobileNet-v2 the same. Of nine pairs on `generic-4x4` and `goya` that were run before "
    "this and the closed form's change, and since, Inception-v3 is 16 and 6 % faster, ConvNeXt-T 4 "
    "and 10 % slower, the others are within 1.4 %.",
    "That a tensor between segments waits in GB if it needs at most half of it (`WAITING_PART` 2): "
    "kept, though other values were run since. On `generic-4x4`, with all of GB (1) ConvNeXt-T at "
    "4 per cluster is 12 % faster, MobileNet-v2 at 16 1.0 % slower, ResNet-50 at 8 7.6 % slower; "
    "with a quarter (4) they are 1.9 % slower, the same and 4.4 % faster. A search that also "
    "simulates the plan of least traffic with each of these, and a second series of plans whose "
    "closed forms are scaled part by part, was tried on 20 pairs (eight on `generic-4x4`, two of "
    "these at one cluster batch; eight on `stcp920`, four on `ascend910`). light-squeezenet is 16 "
    "% faster on `generic-4x4` and light-shufflenet 1.9 %, ConvNeXt-T on `stcp920` 0.3 %; "
    "light-inception_v1 on `generic-4x4` is 0.6 % slower, light-zfnet512 there and Inception-v3 on "
    "`stcp920` less than 0.1 %; 14 are the same. It is not in the search yet.",
    "That depthwise work is divided over both engines of a core, into up to four times as many "
    "tiles, and that a plan is evaluated with three tile buffers too: on models of this page. On "
    "ten other models on `stcp920` both together are 2.5 % faster in the geometric mean "
    "(efficientnet_b0 17 %, light-shufflenet 7 %, the others up to 1 %, none slower). There, twice "
    "as many tiles are as fast as four times, and a fourth tile buffer is 0.2 % faster.",
    "That a second cluster batch is searched only where its first plan is faster: on 15 pairs in "
    "which both had been searched. 9 of the 15 second searches are left out, and the result is the "
    "same in all.",
    "That variations of `graphturbo:plus` are always evaluated: when `graphturbo:plus@4` of Swin-T "
    "on `stcp920` was 7 % faster than this search, which left them out where it was far from "
    "`graphturbo:full`. That no plan of the dynamic program is simulated while `graphturbo:full` "
    "is the best and closed forms promise less than 1 %: on BERT-base on `stcp920`, whose search "
    "takes two fifths less time. With both, Swin-T is 9.7 % faster on `stcp920` and 0.8 % slower "
    "on `ascend910`, and the other seven are the same on these two chips. Where they were run "
    "again at once, ConvNeXt-T, Swin-T, BERT-base and ViT-B/16 are 10, 4.8, 3.8 and 2.0 % faster "
    "on `generic-4x4`, and ResNet-50 is 46 % faster on `goya`. Of 33 rows that still earlier "
    "states gave, 25 are the same; ConvNeXt-T is 11 % faster on `goya` and at batch 1 on "
    "`generic-4x4` 16 %, five are 0.7 to 3.3 % faster, and ResNet-50 at batch 1 on `generic-4x4` "
    "is 1.3 % slower. With the second rule also after another plan is the best, BERT-base on "
    "`generic-4x4` is 3.8 % slower. With both, and with the rule for tables below, the models of "
    "the last two tables are the same as before, but for light-squeezenet on `generic-4x4`, which "
    "is 0.6 % faster.",
    "That a search ends after 3,000,000 instructions in programs of more than 300,000 each: on "
    "DenseNet-121 on `ipu-gc2`, which was stopped after half an hour without it, and on Swin-T and "
    "BERT-base on `goya`. With an end after three such programs Swin-T is as fast there, BERT-base "
    "1.6 % slower.",
    "That the kernel before prefetches inputs of the model into GB: on MobileNet-v2 on "
    "`stcp920`. It has no constant. MobileNet-v2 is 13 % faster there than without it, ResNet-50 "
    "1.6 %, Swin-T 0.8 % and ConvNeXt-T 0.6 %; DenseNet-121, Inception-v3, BERT-base and "
    "ViT-B/16 are the same. [decisions.md](decisions.md#memory) has a table. Schedules of `best` "
    "that were not found again since are marked. Models that are not on this page were not run.",
    "That of a table only the rows count that are looked up: on DLRM (on `stcp920` 40,052,437 "
    "cycles by closed form, 43,202 simulated).",
)
OF_LOWERING = (
    "That weight tiles have more columns and less of K where that costs less: on BERT-base on "
    "`generic-4x4`. There, `tvm@16` of the eight models is 3 to 63 % faster, `graphturbo@16` up to "
    "80 % (ViT-B/16; four are the same). The best schedules of ConvNeXt-T, ResNet-50, BERT-base, "
    "Swin-T and DenseNet-121 are 15, 14, 10, 8 and 6 % faster, of ViT-B/16 0.7 %; MobileNet-v2's "
    "is 0.1 % slower and Inception-v3's 1.2 %, as the search takes another plan. Ten other models "
    "there: `tvm@4` is 1 to 11 % faster for five, `graphturbo@4` up to 1 % for two, and the others "
    "are the same; their best schedules were not run. "
    "[decisions.md](decisions.md#tiles-and-instructions) has a table. Rows of `generic-4x4` and "
    "`goya` that were not run since are marked. Of these chips, closed forms and other values of "
    "constants below are of the state before it.",
    "That cores of a chip without a GB keep computed and read parts apart, and exchange tiles: on "
    "ResNet-50 and ConvNeXt-T on `ipu-gc2`. `graphturbo@16` is 4.3 and 7.5 times as fast as "
    "before, MobileNet-v2 and DenseNet-121 are as fast. Ten other models were not run for it. On "
    "chips with a GB nothing changes.",
    "That inner axes of a reshape are read in part, and which tensor a kernel without room in LB "
    "gives up: on Swin-T on `stcp920` and `ascend910`. There its best schedule is 2 and 11 % "
    "faster than before, on `generic-4x4` 1 %, on `goya` 14 %. ConvNeXt-T's is 5 % slower on "
    "`generic-4x4`, where the search takes another plan. On `stcp920`, the rates of `graphturbo` "
    "and `graphturbo:plus` do not change on the other nine models of constants.md, nor on the "
    "paper's rows, but for `graphturbo:plus` on row J: 0.9 % slower. After it, ViT-B/16, ResNet-50 "
    "and DenseNet-121 were 7, 1.8 and 1.5 % slower on `generic-4x4` than in rows of earlier "
    "states; we do not know which change did it.",
)


def choices(search: str) -> tuple[str, ...]:
    """Paragraphs of docs/quality.md; `search`: the strategy's name."""
    return (
        f"## {TITLE}\n",
        f"Each of these was chosen on some of the models above, so that their rows flatter it. "
        f"Speeds are of schedules, of `{search}` if nothing else is named. Of the search:\n",
        _listed(OF_SEARCH),
        "Of lowering:\n",
        _listed(OF_LOWERING),
    )


def _listed(texts: tuple[str, ...]) -> str:
    return "\n".join(f"- {text}" for text in texts) + "\n"
