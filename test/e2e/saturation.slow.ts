/** As many clients as a busy website has at once; `test/long` has four times as many. */

import { refusingNobody } from './saturation.suite.ts'

refusingNobody(64, 'embedded')
refusingNobody(64, 'distributed')
