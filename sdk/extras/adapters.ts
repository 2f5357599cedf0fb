/** Reads the custom adapters of a website, each within its limits; none can break a visit. */

import { CUSTOM_ADAPTERS, CUSTOM_FIELDS, CUSTOM_VALUE_CHARS } from '../core/limits.ts'
import type { CustomFields } from '../whence.d.ts'

/** Excludes names that JSON parsers treat specially, and that the service therefore refuses. */
const NAME = /^(?!constructor$|prototype$)[a-z][\w-]{0,63}$/i
/** An adapter that has not answered by then is left out of the visit. */
const ADAPTER_MS = 2_000
/** Limit for all adapters together, so that the body stays below the service's limit; later ones are left out. */
const CUSTOM_CHARS = 6_000

/** Custom adapters by name. */
type Adapters = ReadonlyMap<string, () => CustomFields | Promise<CustomFields>>

/** The fields by adapter; undefined if there are none. Never rejects. */
export async function readAdapters(adapters: Adapters): Promise<Record<string, CustomFields> | undefined> {
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, ADAPTER_MS))
  const named = [...adapters].filter(([name]) => NAME.test(name)).slice(0, CUSTOM_ADAPTERS)
  const answers = await Promise.all(named.map(([, read]) => Promise.race([readSafely(read), late])))
  const custom: Record<string, CustomFields> = {}
  let roomChars = CUSTOM_CHARS
  named.forEach(([name], index) => {
    const fields = customFields(answers[index])
    roomChars -= JSON.stringify(fields).length
    if (roomChars > 0 && Object.keys(fields).length) custom[name] = fields
  })
  return Object.keys(custom).length ? custom : undefined
}

async function readSafely(read: () => unknown): Promise<unknown> {
  try {
    return await read()
  } catch {
    return undefined
  }
}

function customFields(answer: unknown): CustomFields {
  const fields = Object.entries(Object(answer) as object).filter(
    ([name, value]) => NAME.test(name) && isSendable(value),
  )
  return Object.fromEntries(fields.slice(0, CUSTOM_FIELDS))
}

const isSendable = (value: unknown) =>
  (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) &&
  String(value).length <= CUSTOM_VALUE_CHARS
