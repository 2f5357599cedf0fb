/** The extras as a script of the service: hands them to the core that has asked for them. */

import { extras } from './extras/extras.ts'
import type { ExtrasScript } from './core/load-script.ts'

// An element named `currentScript` shadows the property; the core then goes on without the extras.
;(document.currentScript as ExtrasScript | null)?.whence?.(extras)
