/** As many clients as a very busy website has at once: requests then wait for most of their time limit, and are still answered. */

import { refusingNobody } from '../e2e/saturation.suite.ts'

refusingNobody(256, 'embedded')
refusingNobody(256, 'distributed')
