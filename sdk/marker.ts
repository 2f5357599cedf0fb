/** Keeps the marker: one file per website and page in the origin private file system, where the hook can find it on disk. */

import { MARKER_BYTES } from './limits.ts'

const PREFIX = 'install-attribution-'

/** The page's marker file, ready to be written. */
export interface MarkerFile {
  /** The receipt that the file held before. */
  readonly previousReceipt: string | null
  /** Resolves once the bytes are on disk. */
  readonly write: (marker: object) => Promise<void>
}

/** Rejects where markers cannot or must not be kept: frames of other sites, Safari, private windows that refuse, old browsers. */
export async function openMarkerFile(website: string, urlId: string): Promise<MarkerFile> {
  // Reading another site's window throws. There the storage would be a partition that the hook never looks into.
  void top?.location.href
  // A shell cannot read Safari's storage without the system asking the user for access, so nothing is left there.
  if (navigator.vendor.startsWith('Apple') || !FileSystemFileHandle.prototype.createWritable)
    throw new Error('unsupported')
  const root = await navigator.storage.getDirectory()
  const name = `${PREFIX}${website}-${urlId}.json`
  return {
    previousReceipt: await readReceipt(root, name),
    write: async (marker) => {
      const handle = await root.getFileHandle(name, { create: true })
      const stream = await handle.createWritable()
      // The hook picks candidates by this odd size and by the first bytes, so both are part of the format.
      await stream.write(JSON.stringify({ format: 'opfs-install-attribution', ...marker }).padEnd(MARKER_BYTES))
      await stream.close()
    },
  }
}

/** Removes every marker that this origin holds: the visitor has withdrawn consent. */
export async function removeMarkers(): Promise<void> {
  const root = await navigator.storage.getDirectory()
  for await (const name of root.keys()) if (name.startsWith(PREFIX)) await root.removeEntry(name)
}

/** Null where there is no marker yet, or a broken one: the visit then has no predecessor. */
async function readReceipt(root: FileSystemDirectoryHandle, name: string): Promise<string | null> {
  try {
    const file = await (await root.getFileHandle(name)).getFile()
    // A marker is never longer; what follows would not be one.
    const { receipt } = JSON.parse(await file.slice(0, MARKER_BYTES).text()) as { receipt?: unknown }
    return /^[\w-]{43}$/.test(receipt as string) ? (receipt as string) : null
  } catch {
    return null
  }
}
