/** Help of the small programs that are started by `npm run`, which have no table of options. */

import { print } from './output.ts'

/** Whether help was asked for; it is then printed. */
export function printsUsage(argv: readonly string[], text: string): boolean {
  const isAsked = argv.some((argument) => argument === '--help' || argument === '-h')
  if (isAsked) print(`${text}\n`)
  return isAsked
}
