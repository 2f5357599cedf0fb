/** Compresses the parts of the catalog. */

import { gzipSync } from 'node:zlib'

import { sha256Hex } from '../../common/digest.ts'
import type { PackedText } from '../../domain/published/layout.ts'

export function pack(text: string): PackedText {
  const bytes = gzipSync(text)
  return { bytes, digest: sha256Hex(packedBase64({ bytes })) }
}

/** As it is written to the cluster. */
export function packedBase64({ bytes }: { readonly bytes: PackedText['bytes'] }): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
