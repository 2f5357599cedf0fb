/** Fills a handoff token into an install command. */
import { COMMAND_CHARS } from './limits.ts'
const PLACEHOLDER = '{{handoff}}'

export function fillCommand(text: string, token: string): string | undefined {
  const filled = text.includes(PLACEHOLDER) ? text.replaceAll(PLACEHOLDER, token) : `${text} --handoff ${token}`
  return filled.length > COMMAND_CHARS ? undefined : filled
}
