/** The extras as a script of the service: passes them to the core that requested them. */

import { handOver } from './core/hand-over.ts'
import { extras } from './extras/extras.ts'

handOver(extras)
