/** Reads what rows of the facts keep as JSON: a row that was damaged must not hide others, nor end what reads it. */

/** The object or list that the text says; null where it is none. */
export function readJsonColumn<T extends object>(text: string): T | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as T) : null
  } catch {
    return null
  }
}
