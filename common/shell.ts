/** Text for POSIX shells. */

/** As one word of a shell, whatever it contains. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
