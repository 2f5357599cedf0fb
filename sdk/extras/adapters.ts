/** Reads the custom adapters of a website, each within its limits; none can break a visit. */

import { CUSTOM_ADAPTERS, CUSTOM_FIELDS, CUSTOM_VALUE_CHARS } from '../core/limits.ts'
import type { CustomFields } from '../whence.d.ts'

/** Excludes names that JSON parsers treat specially, and that the service therefore refuses. */
const NAME = /^(?!constructor$|prototype$)[a-z][\w-]{0,63}$/i
/** An adapter that has not answered by then is left out of the visit. */
const ADAPTER_MS = 2_000

/** Custom adapters by name. */
type Adapters = ReadonlyMap<string, () => CustomFields | Promise<CustomFields>>

/** The fields by adapter; undefined if there are none. Never rejects. */
export async function readAdapters(adapters: Adapters): Promise<Record<string, CustomFields> | undefined> {
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, ADAPTER_MS))
  const named = [...adapters].filter(([name]) => typeof name === 'string' && NAME.test(name)).slice(0, CUSTOM_ADAPTERS)
  const answers = await Promise.all(named.map(([, read]) => Promise.race([readSafely(read), late])))
  const custom = named.flatMap(([name], index) => (answers[index] ? [[name, answers[index]]] : []))
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
  return custom.length ? (Object.fromEntries(custom) as Record<string, CustomFields>) : undefined
}

async function readSafely(read: () => unknown): Promise<CustomFields | undefined> {
  try {
    // The answer, too, is the page's own code: a property may throw.
    return customFields(await read())
  } catch {
    return undefined
  }
}

/** Undefined if nothing of the answer can be sent. */
function customFields(answer: unknown): CustomFields | undefined {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
  const fields = Object.entries(answer as object).filter(([name, value]) => NAME.test(name) && isSendable(value))
  return fields.length ? Object.fromEntries(fields.slice(0, CUSTOM_FIELDS)) : undefined
}

const isSendable = (value: unknown) =>
  (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) &&
  String(value).length <= CUSTOM_VALUE_CHARS
