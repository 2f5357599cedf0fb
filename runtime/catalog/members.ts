/** Reads the ConfigMaps and Secrets of a catalog. */

import { gunzipSync } from 'node:zlib'

import type { KubeObject } from '../kube/objects.ts'

/** For one part: many times what its websites take. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024

export function dataMember(object: KubeObject | undefined, group: 'data' | 'binaryData', name: string): string | null {
  const member = (object?.[group] as Readonly<Record<string, unknown>> | undefined)?.[name]
  return typeof member === 'string' ? member : null
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
