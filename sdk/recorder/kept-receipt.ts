/** Reads what the page's marker holds already. */

/**
 * The root of the origin private file system. Undefined if no marker can be kept: in Safari, in frames of other sites, in private windows
 * that refuse, and in old browsers.
 */
export async function openStorage(): Promise<FileSystemDirectoryHandle | undefined> {
  try {
    // Throws in another site's frame, whose storage would be a partition that the hook never reads.
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
    void (top as Window).location.href
    // A shell cannot read Safari's storage without a system prompt for the user, so nothing is stored there.
    return navigator.vendor.startsWith('Apple') ? undefined : await navigator.storage.getDirectory()
  } catch {
    return undefined
  }
}

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
