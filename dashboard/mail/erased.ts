/** Remembers in the hot state when a person was erased, for as long as a letter may be on its way. */
export function erasedKey(person: string): string {
  return `erased/${person}`
}
