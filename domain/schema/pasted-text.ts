/** What a text brings along that was pasted, or read from a file. */

/** White space of every kind, controls, and characters that take no room: among them byte-order marks, zero-width spaces, variation selectors and fillers. */
const AROUND = /^[\s\p{Cc}\p{Cf}\p{DI}\u2800]+|[\s\p{Cc}\p{Cf}\p{DI}\u2800]+$/gu
/** All of these but the plain space. */
const INVISIBLE = /(?! )[\s\p{Cc}\p{Cf}\p{DI}\u2800]/u

/** The text without white space and invisible characters around it. */
export function withoutEdges(text: string): string {
  return text.replace(AROUND, '')
}

/** Whether it holds a line break, a tab, or a character that cannot be seen; plain spaces may stand in it. */
export function hasInvisible(text: string): boolean {
  return INVISIBLE.test(text)
}
