"""What was chosen after results were seen, on which models, and what other choices give."""

from __future__ import annotations


def choices(search: str) -> tuple[str, ...]:
    """Paragraphs of docs/quality.md; `search`: the strategy's name."""
    return (
        "That depthwise work may be divided over both engines of a core, into up to four times "
        "as many tiles, and that a plan is evaluated with three tile buffers too, was chosen "
        "on models of this page. On ten other models on `stcp920` (those of constants.md) both "
        "together are 2.5 % faster in the geometric mean (efficientnet_b0 17 %, "
        "light-shufflenet 7 %, the others up to 1 %, none slower). There, twice as many tiles "
        "are as fast as four times (from 1 % slower to 1 % faster), and a fourth tile buffer "
        "is 0.2 % faster.\n",
        "That cores of a chip without a GB keep computed and read parts apart, and "
        "exchange tiles, was found on ResNet-50 and ConvNeXt-T on `ipu-gc2`: `graphturbo@16` "
        "is 4.3 and 7.5 times as fast as before, MobileNet-v2 and DenseNet-121 are as fast. "
        "Ten other models were not run for it. On chips with a GB nothing changes.\n",
        "That inner axes of a reshape are read in part, and which tensor a kernel without room "
        "in LB gives up, was found on Swin-T on `stcp920` and `ascend910`. There its `best` is "
        "2 and 11 % faster than before, on `generic-4x4` 1 %, on `goya` 14 %. ConvNeXt-T's is "
        "5 % slower on `generic-4x4`, where the search takes another plan. On `stcp920`, the "
        "rates of `graphturbo` and `graphturbo:plus` do not change on the other nine models of "
        "constants.md, nor on the paper's rows, but for `graphturbo:plus` on row J: 0.9 % "
        "slower. The rows of `generic-4x4` were run again after it: there `best` of ViT-B/16, "
        "ResNet-50 and DenseNet-121 is 7, 1.8 and 1.5 % slower than in the rows before, which "
        "earlier states gave; we do not know which change did it.\n",
        "That a second cluster batch is searched only where its first plan is faster was "
        "chosen on 15 pairs in which both had been searched (two on `stcp920`, eight on "
        "`ascend910`, three on `generic-4x4`, two on `goya`): 9 of the 15 second searches are "
        f"left out, and `{search}` is the same in all. In large models, the grouping of fewest "
        "pieces has sub-graphs of up to 1,024 ops; no model of this page has so many.\n",
        "That a search always evaluates the variations of `graphturbo:plus` was chosen when "
        "`graphturbo:plus@4` of Swin-T on `stcp920` was 7 % faster than `best`, which left them "
        "out where it was far from `graphturbo:full`. That no plan of the dynamic program is "
        "simulated while `graphturbo:full` is the best and closed forms promise less than 1 % "
        "saves BERT-base on `stcp920` two fifths of the time. With both, `best` of Swin-T is 9.7 % "
        "faster on `stcp920`, those of ConvNeXt-T, Swin-T, BERT-base and ViT-B/16 10, 4.8, 3.8 "
        "and 2.0 % on `generic-4x4`, and ResNet-50's 46 % on `goya`; Swin-T's on `ascend910` is "
        "0.8 % slower, and the other seven are the same on `stcp920` and on `ascend910`. With "
        "the second rule also after another plan is the best, BERT-base's on `generic-4x4` is "
        "3.8 % slower. That a search ends after 3,000,000 instructions in programs of more than "
        "300,000 each was chosen on DenseNet-121 on `ipu-gc2`, which was stopped after half an "
        "hour without it, and on Swin-T and BERT-base on `goya`: with an end after three such "
        "programs Swin-T was as fast there, BERT-base 1.6 % slower. That of a table only the "
        "rows count that are looked up was found on DLRM (on `stcp920` 40,052,437 cycles by "
        "closed form, 43,202 simulated). Ten other models were not run for these.\n",
        "Of the schedules with one cluster batch there is a bound of their own, which counts "
        "all weights in each round. It is no tighter than that: kernels of several sub-graphs "
        "interleave, so a tensor between two of them need never exist as a whole, and we can "
        "prove no more bytes over DRAM.\n",
    )
