/** Divides texts that clients send, and does not go on once there are more parts than anybody needs. */

/**
 * The parts of a text between separators of one character, without blanks around them; null if there are more than `most`. Stops at the
 * first part too many, so that a header full of separators costs no more than one that fits.
 */
export function boundedParts(text: string, separator: string, most: number): readonly string[] | null {
  const parts = text.split(separator, most + 1)
  return parts.length > most ? null : parts.map((part) => part.trim())
}

/**
 * The last parts of a text, the last one first; at most `most` of them. For lists that grow at their end, as each proxy adds the address
 * that it has seen: what stands further in front is not looked at.
 */
export function lastParts(text: string, separator: string, most: number): readonly string[] {
  const parts: string[] = []
  let end = text.length
  while (parts.length < most && end >= 0) {
    const start = end === 0 ? -1 : text.lastIndexOf(separator, end - 1)
    parts.push(text.slice(start + 1, end).trim())
    end = start
  }
  return parts
}
