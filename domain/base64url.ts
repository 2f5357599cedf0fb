/**
 * Base64url without padding, in both directions. Accepts only the one canonical text of each byte string (RFC 4648,
 * section 5).
 */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const INVALID = 255

/** By character code. */
const VALUES = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = ALPHABET.indexOf(String.fromCharCode(code))
  return value === -1 ? INVALID : value
})

export function encodeBase64url(bytes: Uint8Array): string {
  let text = ''
  for (let index = 0; index < bytes.length; index += 3) {
    const first = bytes[index] ?? 0
    const second = bytes[index + 1] ?? 0
    const third = bytes[index + 2] ?? 0
    const bits = (first << 16) | (second << 8) | third
    text += ALPHABET.charAt(bits >> 18) + ALPHABET.charAt((bits >> 12) & 63)
    if (index + 1 < bytes.length) text += ALPHABET.charAt((bits >> 6) & 63)
    if (index + 2 < bytes.length) text += ALPHABET.charAt(bits & 63)
  }
  return text
}

/** Null for any text that `encodeBase64url` would not have written, such as one with stray bits in its last character. */
export function decodeBase64url(text: string): Uint8Array | null {
  if (text.length % 4 === 1) return null
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let written = 0
  let bits = 0
  let bitCount = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const value = code < 128 ? (VALUES[code] ?? INVALID) : INVALID
    if (value === INVALID) return null
    bits = ((bits << 6) | value) & 0xffff
    bitCount += 6
    if (bitCount >= 8) {
      bitCount -= 8
      bytes[written++] = (bits >> bitCount) & 255
    }
  }
  const isCanonical = (bits & ((1 << bitCount) - 1)) === 0
  return isCanonical ? bytes : null
}
