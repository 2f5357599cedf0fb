/** Reads the ConfigMaps and Secrets of a catalog. */

import { gunzipSync } from 'node:zlib'

import { isText, mapOf, parsedAs, shapeOf } from '../../domain/guards.ts'
import { memberOf } from '../../domain/strict-json.ts'

/** For one part: many times what its websites take. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024

export function dataMember(object: unknown, group: 'data' | 'binaryData', name: string): string | null {
  const member = memberOf(memberOf(object, group), name)
  return typeof member === 'string' ? member : null
}

const isCredentials = shapeOf<{ readonly credentials: Readonly<Record<string, Readonly<Record<string, string>>>> }>({
  credentials: mapOf(mapOf(isText)),
})

/** The credentials of a part by `destinationKey`; null if another program wrote it. */
export function readCredentials(text: string): Readonly<Record<string, Readonly<Record<string, string>>>> | null {
  return parsedAs(isCredentials, text)?.credentials ?? null
}

/** The text of a packed part. Bounded: a megabyte can be made to unpack to a gigabyte. @throws Error if it is too large */
export function unpacked(packed: string): string {
  try {
    return gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: UNPACKED_BYTES_MAX }).toString('utf8')
  } catch (error) {
    throw new Error('a part of the catalog cannot be unpacked, or is larger than any that an operator writes', {
      cause: error,
    })
  }
}
