/** The extras as a script of the service: passes them to the core that requested them. */

import { extras } from './extras/extras.ts'
import type { ExtrasScript } from './core/load-script.ts'

// An element named `currentScript` shadows the property; the core then continues without the extras.
;(document.currentScript as ExtrasScript | null)?.whence?.(extras)
