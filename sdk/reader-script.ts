/** The reader of one provider as a script of the service: passes it to the core that requested it. */

import { handOver } from './core/hand-over.ts'
import { READERS } from './readers/index.ts'

/** Filled in by the build, which makes a script for each. */
declare const PROVIDER: keyof typeof READERS

handOver(READERS[PROVIDER])
