/** The other end of `load-script.ts`: a part that has run leaves itself on the page's one global name, where its load event finds it. */

import type { Whence } from '../whence.d.ts'

/** The interface, as the parts of the SDK know it. */
interface WhenceWithPart extends Whence {
  /** The part that has run last. Its load event follows before any other script runs. */
  part?: unknown
}

// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and the core has set it
const interfaceOfPage = () => window.whence as WhenceWithPart

export const handOver = (part: unknown): void => void (interfaceOfPage().part = part)

export const handedOver = (): unknown => interfaceOfPage().part
