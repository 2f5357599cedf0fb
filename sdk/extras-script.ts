/** The extras as a script of the service: passes them to the core that requested them. */

import { extras } from './extras/extras.ts'
import type { ExtrasScript } from './core/load-script.ts'
import { nativeDocument } from './core/native.ts'

// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
;(nativeDocument.currentScript as ExtrasScript | null)?.whence?.(extras)
