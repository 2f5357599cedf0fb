/** Text for POSIX shells. */

/** The text as one word of a shell, whatever it contains. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
