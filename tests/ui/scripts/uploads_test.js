// Which names of models and chips are those of uploads.

import { OF_UPLOAD } from "../../../graphturbo_ui/top_bar/page.js";
import { equal, outcomes } from "./check.js";

const DIGEST = "0123456789abcdef";
const isUpload = (name) => OF_UPLOAD.test(name);

export default function () {
  return outcomes({
    "a file's name with the digest of its bytes is an upload": () => {
      equal([`net.onnx (${DIGEST})`, `my net 2.onnx (${DIGEST})`, `chip.yaml (${"f".repeat(16)})`].map(isUpload), [true, true, true]);
    },
    "names of samples and chips are none": () => {
      equal(["resnet50-slim", "stcp920", "", DIGEST, `(${DIGEST})`].map(isUpload), [false, false, false, false, false]);
    },
    "a digest has sixteen digits, small ones, in parentheses, at the end": () => {
      equal([`net (${DIGEST.slice(1)})`, `net (${DIGEST}0)`, `net (${DIGEST.toUpperCase()})`, `net ${DIGEST}`, `net (${DIGEST}) copy`].map(isUpload),
        [false, false, false, false, false]);
    },
    "a name that ends in another number is none": () => equal(["net (2)", "net (1234).onnx"].map(isUpload), [false, false]),
  });
}
