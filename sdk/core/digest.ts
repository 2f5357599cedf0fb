/** SHA-256, by the browser: only secure contexts have it. */

/** Letters and digits of its base64 form that the address of a part contains: 119 bits. */
export const DIGEST_CHARS = 20

export const browserSha256 = (bytes: ArrayBuffer | ArrayBufferView<ArrayBuffer>): Promise<ArrayBuffer> =>
  crypto.subtle.digest('SHA-256', bytes)
