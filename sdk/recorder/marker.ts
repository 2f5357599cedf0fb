/** Keeps the marker: one file per website and page in the origin private file system, where the hook can find it on disk. */

import { MARKER_BYTES } from '../core/limits.ts'

const PREFIX = 'install-attribution-'

/**
 * The root of the origin private file system. Null if no marker can be kept: in Safari, in frames of other sites, in private windows
 * that refuse, and in old browsers.
 */
export async function openStorage(): Promise<FileSystemDirectoryHandle | null> {
  try {
    // Throws in another site's frame, whose storage would be a partition that the hook never reads.
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
    void (top as Window).location.href
    // A shell cannot read Safari's storage without a system prompt for the user, so nothing is stored there.
    return navigator.vendor.startsWith('Apple') ? null : await navigator.storage.getDirectory()
  } catch {
    return null
  }
}

/** The file's name, unique to this page of the website. */
export const markerName = (website: string, urlId: string) => `${PREFIX}${website}-${urlId}.json`

/**
 * The receipt in the page's marker. Null if there is no marker yet, or a broken one: the visit then has no predecessor.
 */
export async function readKeptReceipt(root: FileSystemDirectoryHandle, name: string): Promise<string | null> {
  try {
    const file = await (await root.getFileHandle(name)).getFile()
    // The service checks whether it is a receipt, but it accepts only text.
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
    return String((JSON.parse(await file.text()) as { receipt: unknown }).receipt)
  } catch {
    return null
  }
}

/** Resolves once the bytes are on disk; rejects if the browser gives no room. */
export async function writeMarker(root: FileSystemDirectoryHandle, name: string, marker: object): Promise<void> {
  const stream = await (await root.getFileHandle(name, { create: true })).createWritable()
  // The hook picks candidates by this odd size and by the first bytes, so both are part of the format.
  await stream.write(JSON.stringify({ format: 'opfs-install-attribution', ...marker }).padEnd(MARKER_BYTES))
  await stream.close()
}

/** Removes every marker of this origin: the visitor has withdrawn consent. */
export async function removeMarkers(): Promise<void> {
  const root = await navigator.storage.getDirectory()
  for await (const name of root.keys()) if (name.startsWith(PREFIX)) await root.removeEntry(name)
}
