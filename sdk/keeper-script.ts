/** The keeper as a script of the service: passes it to the core that requested it. */

import { handOver } from './core/hand-over.ts'
import { keeper } from './keeper/keeper.ts'

handOver(keeper)
