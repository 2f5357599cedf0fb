/** The other end of `load-script.ts`: a part that has loaded passes itself to the core. */

import type { PartScript } from './load-script.ts'
import { documentValue } from './document-value.ts'

export const handOver = <T>(part: T): void =>
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
  (documentValue('currentScript') as PartScript<T> | null)?.whence?.(part)
