/** Formats untrusted bodies as readable text. */

/** JSON is indented; everything else stays unchanged. */
export function prettyText(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
