/** All keys of the service, derived from its master secrets: one HKDF label for each use, none shared between two. */

import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ReceiptKeys } from '../domain/receipt.ts'
import { makeFolder } from '../ports/shared/folders.ts'

const SECRET_CHARS_MIN = 32
/** Of random texts of 32 hexadecimal digits, one in twenty million has fewer different ones. */
const SECRET_DISTINCT_CHARS_MIN = 8
const OTHERS = 0o007
const MAC_BYTES = 16
const TAG_BYTES = 4
const HASH_HEX_CHARS = 32
const PERSON_HEX_CHARS = 16
const CACHE_ENTRIES = 10_000

export interface Keyring extends ReceiptKeys, KeyedHashes {
  /** As `logHash` under every secret that is still read, to find what was hashed before a rotation. */
  readonly logHashes: (value: string) => readonly string[]
  /** As `testHash` under every secret that is still read. */
  readonly testHashes: (text: string) => readonly string[]
  readonly mailEnds: SealedTexts
}

/** Texts that go out into the world and come back, and that nobody can read, change or make there. */
export interface SealedTexts {
  /** For an address: base64url, another one each time. */
  readonly seal: (text: string) => string
  /** Null for what none of the secrets that are still read has sealed. */
  readonly open: (sealed: string) => string | null
}

/** Hashes under the secret that signs. */
interface KeyedHashes {
  /** Keyed hash of a receipt or token for the request logs, 32 hex digits. */
  readonly logHash: (value: string) => string
  /** Keyed hash of a client address under the key of the UTC day, 32 hex digits. Old days' hashes cannot be linked. */
  readonly addressHash: (address: string, nowMs: number) => string
  /** Signs and checks cursors of paged answers. */
  readonly cursorMac: (text: string) => string
  /** A person by address: `p_` and 16 hex digits. */
  readonly personId: (email: string) => string
  /** For names of Member objects, 32 hex digits. */
  readonly memberHash: (text: string) => string
  /** For keys and codes during a sign-in, 32 hex digits. */
  readonly signInHash: (text: string) => string
  /** Proves who changed an object in the dashboard, 32 hex digits. */
  readonly changeHash: (text: string) => string
  /** Signs marks of tests, 32 hex digits. */
  readonly testHash: (text: string) => string
}

/**
 * A master secret is unusable; the message says why without showing it.
 * @internal
 */
export class SecretProblem extends Error {
  override readonly name = 'SecretProblem'
}

/**
 * Builds the keys. The first secret signs; all are read, so that receipts outlive a rotation.
 * @throws SecretProblem if a secret is short or uniform, or two of them have the same key ID.
 */
export function createKeyring(secrets: readonly string[]): Keyring {
  const rings = new Map<number, KeySet>()
  for (const [index, secret] of secrets.entries()) {
    if (secret.length < SECRET_CHARS_MIN) {
      throw new SecretProblem(`master secret ${index + 1} is shorter than ${SECRET_CHARS_MIN} characters`)
    }
    if (new Set(secret).size < SECRET_DISTINCT_CHARS_MIN) {
      const least = `${SECRET_DISTINCT_CHARS_MIN} different characters`
      throw new SecretProblem(
        `master secret ${index + 1} has fewer than ${least}: make a random one, for example with openssl rand`,
      )
    }
    const keyId = derive(secret, 'key id', 1).readUInt8(0) & 0b1111
    if (rings.has(keyId)) {
      throw new SecretProblem(`master secret ${index + 1} has the key ID ${keyId} of an earlier one: make another`)
    }
    rings.set(keyId, keySet(secret))
  }
  const [secret] = secrets
  const [current] = [...rings.entries()]
  if (secret === undefined || current === undefined) throw new SecretProblem('there is no master secret')
  const hashesBy =
    (use: 'logHash' | 'test') =>
    (value: string): readonly string[] =>
      [...rings.values()].map((ring) => hashHex(ring[use], value))
  const ofAll = { logHashes: hashesBy('logHash'), testHashes: hashesBy('test') }
  const mailEnds = sealedTexts(secrets.map((each) => derive(each, 'mail end')))
  return { ...receiptKeys(rings, current[0]), ...hashes(secret, current[1]), ...ofAll, mailEnds }
}

/** One secret a line; blank lines and lines that begin with `#` are skipped. The first one signs. */
export function parseSecrets(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}

/**
 * Reads the secret file; if there is none and `mayCreate`, makes one that only its owner can read.
 * @throws SecretProblem if it cannot be read, or if users other than its owner and group have any access
 */
export function loadSecretFile(path: string, options: { readonly mayCreate: boolean }): readonly string[] {
  try {
    const text = readFileSync(path, 'utf8')
    if ((statSync(path).mode & OTHERS) !== 0)
      throw new SecretProblem(
        `the secret file ${path} is open to other users: chmod o= it, and replace what they may have read`,
      )
    return parseSecrets(text)
  } catch (error) {
    if (error instanceof SecretProblem) throw error
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isMissing || !options.mayCreate)
      throw new SecretProblem(`the secret file ${path} cannot be read`, { cause: error })
  }
  makeFolder(dirname(path))
  const secret = randomBytes(48).toString('base64url')
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, `# Master secret of this Whence installation. Keep it: receipts are checked with it.\n${secret}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return [secret]
}

/** Over `text` as UTF-8, followed by the bytes. The result is text; in `binary`, one character per byte. */
type Mac = (text: string, bytes: Uint8Array, encoding: 'binary' | 'hex') => string

const NO_BYTES = new Uint8Array(0)

interface KeySet extends HashKeys {
  readonly receipt: Mac
  readonly token: Mac
  readonly originTag: Mac
}

interface HashKeys {
  readonly logHash: Mac
  readonly cursor: Mac
  readonly person: Mac
  readonly member: Mac
  readonly signIn: Mac
  readonly change: Mac
  readonly test: Mac
}

function keySet(secret: string): KeySet {
  const macOf = (label: string): Mac => hmacSha256(derive(secret, label))
  return {
    receipt: macOf('receipt mac'),
    token: macOf('token mac'),
    originTag: macOf('origin tag'),
    logHash: macOf('log hash'),
    cursor: macOf('cursor'),
    person: macOf('person'),
    member: macOf('member'),
    signIn: macOf('sign in'),
    change: macOf('changed by'),
    test: macOf('test mark'),
  }
}

const BLOCK_BYTES = 64
/** Enough for the messages of every request; longer ones get their own buffer. */
const MESSAGE_BYTES = 1_024
const UTF8_BYTES_MAX = 3

/**
 * HMAC-SHA-256 (RFC 2104) by two one-shot hashes over a key that is prepared once. Node's own `createHmac` builds a key
 * object for every call, which took ten times as long as the hashing and half the time of a request; and a digest as a
 * buffer costs four times one as text.
 * @internal
 */
export function hmacSha256(key: Buffer): Mac {
  const inner = Buffer.alloc(BLOCK_BYTES + MESSAGE_BYTES, 0x36)
  const outer = Buffer.alloc(BLOCK_BYTES + 32, 0x5c)
  for (const [index, byte] of key.entries()) {
    inner[index] = 0x36 ^ byte
    outer[index] = 0x5c ^ byte
  }
  return (text, bytes, encoding) => {
    const mostBytes = BLOCK_BYTES + text.length * UTF8_BYTES_MAX + bytes.length
    const padded = mostBytes <= inner.length ? inner : Buffer.concat([inner.subarray(0, BLOCK_BYTES)], mostBytes)
    const textEnd = BLOCK_BYTES + padded.write(text, BLOCK_BYTES)
    padded.set(bytes, textEnd)
    const digest = hash('sha256', padded.subarray(0, textEnd + bytes.length), 'binary')
    outer.write(digest, BLOCK_BYTES, 'binary')
    return hash('sha256', outer, encoding)
  }
}

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const SEAL_BYTES = 16

/** The first key seals. */
function sealedTexts(keys: readonly Buffer[]): SealedTexts {
  return {
    seal(text) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, keys[0] ?? NO_BYTES, nonce)
      const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), bytes]).toString('base64url')
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length < NONCE_BYTES + SEAL_BYTES || bytes.toString('base64url') !== sealed) return null
      return keys.map((key) => openedBy(key, bytes)).find((text) => text !== null) ?? null
    },
  }
}

function openedBy(key: Buffer, bytes: Buffer): string | null {
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: SEAL_BYTES })
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + SEAL_BYTES))
  try {
    return decipher.update(bytes.subarray(NONCE_BYTES + SEAL_BYTES), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return null
  }
}

function derive(secret: string, label: string, bytes = 32): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'whence', label, bytes))
}

function receiptKeys(rings: ReadonlyMap<number, KeySet>, currentKeyId: number): ReceiptKeys {
  const keysOf = (keyId: number): KeySet => {
    const keys = rings.get(keyId)
    if (keys === undefined) throw new Error(`no master secret has the key ID ${keyId}`)
    return keys
  }
  const tags = new Map<string, Uint8Array>()
  return {
    currentKeyId,
    hasKey: (keyId) => rings.has(keyId),
    mac: (use, keyId, { organization, website }, body) =>
      Buffer.from(keysOf(keyId)[use](`${organization}\0${website}\0`, body, 'binary').slice(0, MAC_BYTES), 'binary'),
    originTag: (keyId, { organization, website }, origin) => {
      const text = `${organization}\0${website}\0${origin}`
      const name = `${keyId}\0${text}`
      const known = tags.get(name)
      if (known !== undefined) return known
      const mac = keysOf(keyId).originTag(text, NO_BYTES, 'binary')
      const tag = Buffer.from(mac.slice(0, TAG_BYTES), 'binary')
      // Only registered origins reach this, so it fills up only if catalogs change for years.
      if (tags.size >= CACHE_ENTRIES) tags.clear()
      tags.set(name, tag)
      return tag
    },
  }
}

function hashes(secret: string, keys: HashKeys): KeyedHashes {
  return {
    logHash: (value) => hashHex(keys.logHash, value),
    addressHash: addressHasher(secret),
    cursorMac: (text) => hashHex(keys.cursor, text),
    personId: (email) => `p_${hashHex(keys.person, email).slice(0, PERSON_HEX_CHARS)}`,
    memberHash: (text) => hashHex(keys.member, text),
    signInHash: (text) => hashHex(keys.signIn, text),
    changeHash: (text) => hashHex(keys.change, text),
    testHash: (text) => hashHex(keys.test, text),
  }
}

/** Caches the key of one day, and the hashes of recent addresses: most clients send several requests in a row. */
function addressHasher(secret: string): (address: string, nowMs: number) => string {
  let day = -1
  let dayMac: Mac = hmacSha256(Buffer.alloc(0))
  let known = new Map<string, string>()
  return (address, nowMs) => {
    const today = Math.floor(nowMs / 86_400_000)
    if (today !== day) {
      day = today
      dayMac = hmacSha256(derive(secret, `address hash ${new Date(nowMs).toISOString().slice(0, 10)}`))
      known = new Map()
    }
    const hit = known.get(address)
    if (hit !== undefined) return hit
    const hash = hashHex(dayMac, address)
    if (known.size >= CACHE_ENTRIES) known = new Map()
    known.set(address, hash)
    return hash
  }
}

function hashHex(mac: Mac, value: string): string {
  return mac(value, NO_BYTES, 'hex').slice(0, HASH_HEX_CHARS)
}
