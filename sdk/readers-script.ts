/** The readers as a script of the service: passes them to the core that requested them. */

import { handOver } from './core/hand-over.ts'
import { readers } from './readers/readers.ts'

handOver(readers)
