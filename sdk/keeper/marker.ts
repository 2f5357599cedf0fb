/** Keeps the marker: one file per website and page in the origin private file system, where the hook can find it on disk. */

import { MARKER_BYTES } from '../core/limits.ts'
import { MARKER_PREFIX } from '../core/marker-name.ts'

/**
 * Whether the origin private file system keeps markers that a shell can read: not in Safari, in frames of other sites, in private windows that
 * refuse, and in old browsers. Never rejects.
 */
export async function mayKeepMarkers(): Promise<boolean> {
  try {
    // Throws in another site's frame, whose storage would be a partition that the hook never reads.
    void window.top?.location.href
    // A shell cannot read Safari's storage without a system prompt for the user, so nothing is stored there.
    return !navigator.vendor.startsWith('Apple') && !!(await navigator.storage.getDirectory())
  } catch {
    return false
  }
}

/** Resolves once the bytes are on disk; rejects if the browser gives no room. */
export async function writeMarker(name: string, marker: object): Promise<void> {
  const root = await navigator.storage.getDirectory()
  const stream = await (await root.getFileHandle(name, { create: true })).createWritable()
  // The hook picks candidates by this odd size and by the first bytes, so both are part of the format.
  await stream.write(JSON.stringify({ format: 'opfs-install-attribution', ...marker }).padEnd(MARKER_BYTES))
  await stream.close()
}

/** Removes every marker of this origin. */
export async function removeMarkers(): Promise<void> {
  const root = await navigator.storage.getDirectory()
  for await (const name of root.keys()) if (name.startsWith(MARKER_PREFIX)) await root.removeEntry(name)
}
