/** A request of Logs as a command for a shell. Receipts in it are hashes, so it cannot be sent as it was. */

import type { LogLine } from '../data/lines.ts'

export function curlOf({ method, path, origin }: LogLine, body: string, service: string): string {
  const parts = [`curl -X ${method} ${quoted(service + path)}`]
  if (origin !== undefined && origin !== '') parts.push(`-H ${quoted(`Origin: ${origin}`)}`)
  if (body !== '') parts.push(`-H 'Content-Type: application/json'`, `--data-raw ${quoted(body)}`)
  return parts.join(' \\\n  ')
}

/** In single quotes a shell takes everything as it is. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
