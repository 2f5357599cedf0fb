/** Requests and untrusted bodies as readable text. */

import { shellQuoted } from '../../../common/shell.ts'

/** JSON is indented; everything else stays unchanged. */
export function prettyText(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

type CalledRequest = { readonly method: string; readonly path: string; readonly origin?: string }

/** A request of Logs as a shell command. Its receipts are hashes, so the original request cannot be repeated. */
export function curlOf({ method, path, origin }: CalledRequest, body: string, service: string): string {
  const parts = [`curl -X ${method} ${shellQuoted(service + path)}`]
  if (origin !== undefined && origin !== '') parts.push(`-H ${shellQuoted(`Origin: ${origin}`)}`)
  if (body !== '') parts.push(`-H 'Content-Type: application/json'`, `--data-raw ${shellQuoted(body)}`)
  return parts.join(' \\\n  ')
}
