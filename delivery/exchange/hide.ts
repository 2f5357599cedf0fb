/** Removes secrets and identifiers from an exchange before it is stored. */

import { LIMITS } from '../../domain/limits.ts'

const HIDDEN = '[hidden]'

/** Each value in every form that a URL, a JSON body, or an echo in hex, base64 or backwards may give it; longest first, as one may contain another. */
export function hide(text: string, secrets: readonly string[]): string {
  const forms = secrets.filter((secret) => secret !== '').flatMap((secret) => formsOf(secret))
  const distinct = [...new Set(forms)].sort((a, b) => b.length - a.length)
  return distinct.reduce((clean, form) => clean.replaceAll(form, HIDDEN), text)
}

/** `hide`, limited to 64 KB. If a body was cut off on its way, its end is removed too: it may hold half a secret. */
export function hideInBody(body: string, secrets: readonly string[], { isCut }: { isCut: boolean }): string {
  const longest = Math.max(0, ...secrets.flatMap(formsOf).map((form) => form.length))
  const whole = isCut ? body.slice(0, Math.max(0, body.length - longest)) : body
  const bytes = Buffer.from(hide(whole, secrets))
  return bytes.length <= LIMITS.outboundBodyBytes
    ? bytes.toString()
    : bytes.subarray(0, LIMITS.outboundBodyBytes).toString()
}

/** Characters that URLs and JSON write unchanged. */
const PLAIN = /^[A-Za-z0-9_.-]*$/
/** Shorter forms would match by accident in texts that are not secret. */
const ENCODED_CHARS_MIN = 6

function formsOf(secret: string): string[] {
  const encoded = [...binaryForms(Buffer.from(secret)), [...secret].reverse().join('')]
  const long = encoded.filter((form) => form.length >= ENCODED_CHARS_MIN)
  if (PLAIN.test(secret)) return [secret, ...long]
  const inQuery = new URLSearchParams({ s: secret }).toString().slice(2)
  return [secret, inQuery, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1), ...long]
}

/** Hex, and base64 in both alphabets, wherever the value occurs inside the encoded text: alone, or after a name and a colon. */
function binaryForms(bytes: Buffer): string[] {
  const hex = bytes.toString('hex')
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url')
    // Characters at both ends contain bits of their neighbours.
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
  })
  const standard = base64.map((text) => text.replaceAll('-', '+').replaceAll('_', '/'))
  const escaped = standard.flatMap((text) => [text.replaceAll('/', '\\/'), encodeURIComponent(text)])
  return [hex, hex.toUpperCase(), ...base64, ...standard, ...escaped]
}
