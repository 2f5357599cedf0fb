/** The mark in a command that a token replaces. */

export const PLACEHOLDER = '{{handoff}}'

/** The command without the mark, and without the option or variable that the mark is the value of. */
export function withoutPlaceholder(text: string): string {
  return text.replace(/( ?--?[\w-]+[ =]| ?\b\w+=|)["']?\{\{handoff}}["']?/g, '').trim()
}
