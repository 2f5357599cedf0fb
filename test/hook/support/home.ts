/** Builds home folders with browser profiles in them. */

import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { WEBSITE } from './shells.ts'

const DAY_MS = 86_400_000

export interface MarkerFields {
  readonly project: string
  readonly origin: string
  readonly receipt: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly version: number
  /** Bytes to pad to; 0 leaves the JSON as it is. */
  readonly size: number
}

/** 43 characters that sort by their number and differ visibly. */
export function receipt(number: number): string {
  return `r${String(number).padStart(5, '0')}${'_'.repeat(36)}x`
}

/** One moment for all markers: their order must not depend on how fast a profile is built. */
const BUILT_AT_MS = Date.now()

/** The text of a marker as the SDK writes it. `ageMs` is the age of the visit. */
export function marker(number: number, ageMs = number * 1000, fields: Partial<MarkerFields> = {}): string {
  const createdAt = fields.createdAt ?? BUILT_AT_MS - ageMs
  const json = JSON.stringify({
    format: 'opfs-install-attribution',
    version: fields.version ?? 1,
    project: fields.project ?? WEBSITE,
    url_id: 'url_0123456789abcdef',
    origin: fields.origin ?? 'https://acme.dev',
    receipt: fields.receipt ?? receipt(number),
    created_at: createdAt,
    expires_at: fields.expiresAt ?? createdAt + 30 * DAY_MS,
  })
  return json.padEnd(fields.size ?? 1021)
}

export interface Home {
  readonly path: string
  /** Writes a file below the home folder; its folders are made. */
  readonly file: (path: string, content: string | Buffer) => string
  /** Writes a file where Chromium's kind keeps the numbered file `number` of a website, in the profile at `profile`. */
  readonly chromium: (profile: string, number: number, content: string | Buffer) => string
  /** Writes a file where Firefox's kind keeps one of origin folder `origin`. */
  readonly firefox: (profile: string, origin: string, content: string | Buffer) => string
  readonly link: (target: string, path: string) => void
  readonly forbid: (path: string) => void
  readonly age: (path: string, days: number) => void
}

export const CHROME = '.config/google-chrome'
export const FIREFOX = '.mozilla/firefox'

export function buildHome(path: string): Home {
  mkdirSync(path, { recursive: true })
  const file = (name: string, content: string | Buffer): string => {
    const full = join(path, name)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, content)
    return full
  }
  return {
    path,
    file,
    chromium: (profile, number, content) => file(`${profile}/File System/${chromiumName(number)}`, content),
    firefox: (profile, origin, content) =>
      file(
        `${profile}/storage/default/${origin}/fs/K7/K7${'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.repeat(2).slice(0, 50)}`,
        content,
      ),
    link: (target, name) => {
      mkdirSync(dirname(join(path, name)), { recursive: true })
      symlinkSync(target, join(path, name))
    },
    forbid: (name) => chmodSync(join(path, name), 0),
    age: (full, days) => utimesSync(full, Date.now() / 1000 - days * 86_400, Date.now() / 1000 - days * 86_400),
  }
}

/** `NNN/t/DD/NNNNNNNN`: the folder of an origin, the kind of storage, two digits of the number, the number. */
export function chromiumName(number: number): string {
  const digits = String(number).padStart(8, '0')
  return `${String(number % 1000).padStart(3, '0')}/t/${digits.slice(4, 6)}/${digits}`
}
