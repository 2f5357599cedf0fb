/** Reads JSON columns of the facts: a damaged row must not hide other rows, nor stop its reader. */

/** The object or list in the text; null if there is none. */
export function readJsonColumn(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : null
  } catch {
    return null
  }
}
