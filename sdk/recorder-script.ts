/** The recorder as a script of the service: passes it to the core that requested it. */

import { handOver } from './core/hand-over.ts'
import { recorder } from './recorder/recorder.ts'

handOver(recorder)
