/** Four times the clients of `make test`: what waits then waits for most of its patience, and is answered all the same. */

import { refusingNobody } from '../e2e/saturation.suite.ts'

refusingNobody(256)
