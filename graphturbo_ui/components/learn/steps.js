// The steps that are drawn, by their number.

import { step1 } from "./step1.js";
import { step2 } from "./step2.js";
import { step3 } from "./step3.js";
import { step4 } from "./step4.js";
import { step5 } from "./step5.js";
import { step6 } from "./step6.js";
import { step7 } from "./step7.js";
import { step8 } from "./step8.js";

export const STEPS = { 1: step1, 2: step2, 3: step3, 4: step4, 5: step5, 6: step6, 7: step7, 8: step8 };
