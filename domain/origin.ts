/** Decides what an origin is, whether it may be registered, and how a page's address is split into origin and path. */

import { isPlainHost, unusable } from './host.ts'
import { LIMITS } from './limits.ts'

/** SHA-256 of a text in lower-case hex; passed in because the domain does no hashing. */
export type Sha256Hex = (text: string) => string

/** The parsed value, or a phrase that completes "this address …" and never repeats the address. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string }

export interface PageAddress {
  readonly origin: string
  readonly path: string
}

/**
 * `new URL` accepts tabs, backslashes, missing slashes, user names and percent signs in hosts. Each of these could bypass
 * a comparison that decides trust, so the text must already have the plain shape.
 */
const ORIGIN_SHAPE = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\\@%\s\p{Cc}]+\/?$/iu
const ADDRESS_SHAPE = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\\%\s\p{Cc}]+([/?#][^\s\p{Cc}]*)?$/iu
const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#\\\s]*@/i
const IPV4_LOOPBACK = /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/

/**
 * A canonical origin: lower case, punycode, default port dropped. Refused: a path, query or user name, wildcards, and
 * any scheme but `https:` (and `http:` on this machine).
 */
export function parseOrigin(text: string): Parsed<string> {
  if (text.length > LIMITS.urlChars) return unusable('is too long')
  if (!ORIGIN_SHAPE.test(text)) {
    return unusable('is not an origin: write scheme, host and, if needed, port, as in https://acme.dev')
  }
  const url = parseUrl(text)
  return url === null ? unusable('is not an address that a browser could open') : originOf(url)
}

/** The same for callers that need no reason: the normalised origin, or null. Accepts a raw `Origin` header. */
export function normaliseOrigin(text: string): string | null {
  const parsed = parseOrigin(text)
  return parsed.ok ? parsed.value : null
}

/** Splits a page's address; query and fragment are dropped, a user name is refused. */
export function parsePageUrl(text: string): Parsed<PageAddress> {
  if (addressChars(text) > LIMITS.urlChars) return unusable('is too long')
  const url = ADDRESS_SHAPE.test(text) ? parseUrl(text) : null
  if (url === null) return unusable('is not the address of a page, as in https://acme.dev/install')
  if (url.username !== '' || url.password !== '') return unusable('carries a user name or password')
  const origin = originOf(url)
  return origin.ok ? { ok: true, value: { origin: origin.value, path: url.pathname } } : origin
}

/** Characters of an address that can be stored, as schemas count them: those before its query or fragment. */
export function addressChars(text: string): number {
  const end = text.search(/[?#]/)
  return [...(end === -1 ? text : text.slice(0, end))].length
}

/** The address without user name and password. */
export function withoutUserInfo(text: string): string {
  return text.replace(USER_INFO, '$1')
}

/**
 * The part of a referrer that is kept: origin and path, without user name, query and fragment. Any scheme with a host
 * counts (`http:`, `android-app:`); empty for everything else.
 */
export function stripReferrer(text: string): string {
  const url = parseUrl(text)
  return url === null || url.host === '' ? '' : `${url.protocol}//${url.host}${url.pathname}`
}

/** `url_` and the first 16 hex digits of SHA-256 over origin and path. */
export function urlId(page: PageAddress, sha256Hex: Sha256Hex): string {
  return `url_${sha256Hex(page.origin + page.path).slice(0, 16)}`
}

/** Whether a host, in the spelling of `URL.hostname`, is this machine itself. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || IPV4_LOOPBACK.test(host)
}

function originOf(url: URL): Parsed<string> {
  if (url.hostname === '') return unusable('names no host')
  // URL parsers accept hosts that DNS does not, such as one with a quote, and origins are written into the hook's
  // script.
  if (url.hostname.includes('*')) return unusable('has a wildcard: every origin must be written out')
  if (!isPlainHost(url.hostname)) return unusable('has a host that is no plain DNS name and no IP address')
  if (url.protocol === 'https:') return { ok: true, value: url.origin }
  if (url.protocol !== 'http:') return unusable('must begin with https://')
  return isLoopbackHost(url.hostname)
    ? { ok: true, value: url.origin }
    : unusable('must begin with https:// (http:// is for localhost and loopback addresses only)')
}

function parseUrl(text: string): URL | null {
  return URL.parse(text)
}
