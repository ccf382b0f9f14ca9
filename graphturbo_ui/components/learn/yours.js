// The steps that can be drawn of Explore's model and chip, by their number.

import { step1 } from "./step1.js";
import { yourStep2 } from "./your_step2.js";
import { yourStep4 } from "./your_step4.js";
import { yourStep8 } from "./your_step8.js";

export const YOURS = { 1: step1, 2: yourStep2, 4: yourStep4, 8: yourStep8 };
