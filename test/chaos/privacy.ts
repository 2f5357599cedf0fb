/** Searches what the brokers, Redis and the spool have written, byte by byte, for what must not be kept. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { COOKIE_CANARY, type Canaries } from './client.ts'

export interface Finding {
  readonly file: string
  readonly what: string
}

export interface Search {
  readonly findings: readonly Finding[]
  readonly files: number
  readonly bytes: number
  /** How often each text was found that must be there: a search that finds nothing at all shows nothing. */
  readonly controls: ReadonlyMap<string, number>
}

const SECRET_CHARS = 43
const SECRET_RUN = /[A-Za-z0-9_-]{43,}/g
const ADDRESS = /2001:db8(?::[0-9a-f]{4}){6}/g

/** @param texts further canaries; @param controls what must be found in each folder taken together */
export async function searchFolders(
  folders: readonly string[],
  canaries: Canaries,
  { texts, controls }: { readonly texts: readonly string[]; readonly controls: readonly string[] },
): Promise<Search> {
  const findings: Finding[] = []
  const found = new Map(controls.map((control) => [control, 0]))
  let files = 0
  let bytes = 0
  for (const file of (await Promise.all(folders.map(filesBelow))).flat()) {
    const content = (await readFile(file)).toString('latin1')
    files += 1
    bytes += content.length
    for (const what of canariesIn(content, canaries, texts)) findings.push({ file, what })
    for (const control of controls) found.set(control, (found.get(control) ?? 0) + content.split(control).length - 1)
  }
  return { findings, files, bytes, controls: found }
}

/** Every canary in a text, in any plain encoding. */
export function canariesIn(content: string, canaries: Canaries, texts: readonly string[]): string[] {
  const fixed = [COOKIE_CANARY, ...texts]
  const found = new Set<string>()
  for (const reading of readingsOf(content)) {
    for (const [address] of reading.matchAll(ADDRESS)) if (canaries.addresses.has(address)) found.add(address)
    for (const secret of secretsIn(reading, canaries.secrets)) found.add(secret)
    for (const text of fixed) if (reading.includes(text)) found.add(text)
    for (const [identity] of reading.matchAll(/fb\.1\.\d{13}\.\d{10}/g)) {
      if (canaries.optedOut.has(identity)) found.add(identity)
    }
  }
  return [...found]
}

/** As the bytes are, without the zeros of two-byte texts, and with percent codes and escapes undone. */
function readingsOf(content: string): string[] {
  const decoded = content
    .replace(/\\+u00([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replace(/%([2-7][0-9a-fA-F])/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  return [content, ...(decoded === content ? [] : [decoded]), content.replaceAll('\0', '')]
}

/** A secret may be anywhere within longer runs of its letters. */
function* secretsIn(content: string, secrets: ReadonlySet<string>): Iterable<string> {
  for (const [run] of content.matchAll(SECRET_RUN)) {
    for (let at = 0; at + SECRET_CHARS <= run.length; at++) {
      const part = run.slice(at, at + SECRET_CHARS)
      if (secrets.has(part)) yield part
    }
  }
}

/** Kafka's indexes hold offsets and times alone, and take 10 MiB each of mostly nothing. */
const IS_INDEX = /\.(time|txn)?index$/

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile() && !IS_INDEX.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
}
