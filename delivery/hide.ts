/** Takes secrets and identifiers out of an exchange before it is kept. */

import { LIMITS } from '../domain/limits.ts'

const HIDDEN = '[hidden]'

/** Each value in every form that a URL or a JSON body may give it; longest first, as one may contain another. */
export function hide(text: string, secrets: readonly string[]): string {
  const forms = secrets.filter((secret) => secret !== '').flatMap((secret) => formsOf(secret))
  const distinct = [...new Set(forms)].sort((a, b) => b.length - a.length)
  return distinct.reduce((clean, form) => clean.replaceAll(form, HIDDEN), text)
}

/** `hide`, and at most 64 KB; of a body that was cut on its way, the end goes too: it may hold half a secret. */
export function hideInBody(body: string, secrets: readonly string[], { isCut }: { isCut: boolean }): string {
  const longest = Math.max(0, ...secrets.flatMap(formsOf).map((form) => form.length))
  const whole = isCut ? body.slice(0, Math.max(0, body.length - longest)) : body
  const bytes = Buffer.from(hide(whole, secrets))
  return bytes.length <= LIMITS.outboundBodyBytes
    ? bytes.toString()
    : bytes.subarray(0, LIMITS.outboundBodyBytes).toString()
}

/** What no form writes otherwise. */
const PLAIN = /^[A-Za-z0-9_.-]*$/

function formsOf(secret: string): string[] {
  if (PLAIN.test(secret)) return [secret]
  const inQuery = new URLSearchParams({ s: secret }).toString().slice(2)
  return [secret, inQuery, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)]
}
