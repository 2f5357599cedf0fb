/** Reads what the page's marker holds already. */

/**
 * The receipt in the page's marker. Null if there is no marker yet, or a broken one, and where markers cannot be kept: the visit then
 * has no predecessor. Never rejects.
 */
export async function readKeptReceipt(name: string): Promise<string | null> {
  try {
    const root = await navigator.storage.getDirectory()
    const file = await (await root.getFileHandle(name)).getFile()
    // The service checks whether it is a receipt, but it accepts only text.
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
    return String((JSON.parse(await file.text()) as { receipt: unknown }).receipt)
  } catch {
    return null
  }
}
