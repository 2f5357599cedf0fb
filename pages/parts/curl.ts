/** A request of Logs as a shell command. Its receipts are hashes, so the original request cannot be repeated. */

import { shellQuoted } from '../../common/shell.ts'
import type { LogLine } from '../../domain/logs/line.ts'

type CalledRequest = Pick<LogLine, 'method' | 'path' | 'origin'>

export function curlOf({ method, path, origin }: CalledRequest, body: string, service: string): string {
  const parts = [`curl -X ${method} ${shellQuoted(service + path)}`]
  if (origin !== undefined && origin !== '') parts.push(`-H ${shellQuoted(`Origin: ${origin}`)}`)
  if (body !== '') parts.push(`-H 'Content-Type: application/json'`, `--data-raw ${shellQuoted(body)}`)
  return parts.join(' \\\n  ')
}
