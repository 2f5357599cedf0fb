/** Where tools write: nothing that was stored or came from outside steers the terminal that shows it. */

import { printableJson, printableLines } from '../../domain/printable.ts'

/** Text on standard output; its line breaks are the caller's own. */
export function print(text: string): void {
  process.stdout.write(printableLines(text))
}

/** Values on standard output as JSON, one a line. */
export function printJson(values: readonly unknown[]): void {
  if (values.length > 0)
    process.stdout.write(values.map((value) => `${printableJson(JSON.stringify(value))}\n`).join(''))
}

/** A word on standard error, where it is not taken for a result. */
export function complain(text: string): void {
  process.stderr.write(printableLines(text))
}
