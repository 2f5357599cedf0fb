/** Output of tools: stored text and text from outside cannot control the terminal. */

import { printableJson, printableLines } from '../../common/printable.ts'

/** Text on standard output; the line breaks are the caller's. */
export function print(text: string): void {
  process.stdout.write(printableLines(text))
}

/** Lines of CSV on standard output; a file or another program gets every character of the values. */
export function printCsv(text: string): void {
  process.stdout.write(process.stdout.isTTY ? printableLines(text) : text)
}

/** Values on standard output as JSON, one per line. */
export function printJson(values: readonly unknown[]): void {
  if (values.length > 0)
    process.stdout.write(values.map((value) => `${printableJson(JSON.stringify(value))}\n`).join(''))
}

/** A message on standard error, apart from the result. */
export function complain(text: string): void {
  process.stderr.write(printableLines(text))
}
