/** The extras as a script of the service: passes them to the core that requested them. */

import { extras } from './extras/extras.ts'
import type { ExtrasScript } from './core/load-script.ts'
import { nativeDocument } from './core/native.ts'

;(nativeDocument.currentScript as ExtrasScript | null)?.whence?.(extras)
