/** Bodies of strangers as text that can be read. */

/** JSON with line breaks; everything else as it came. */
export function prettyText(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
