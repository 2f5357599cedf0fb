/** A line as it may stand in a header or a mail: nothing that breaks it, and nothing that turns it around. */
export function plainLine(text: string): string {
  return text.replace(/[^\P{C}]|[\p{Zl}\p{Zp}]/gu, ' ')
}
