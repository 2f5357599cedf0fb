/** Talks to the service: bounded in time, without credentials, and never with an exception. */

/** Longest wait for an answer of the service. */
const ANSWER_MS = 8_000

/** `status` is 0 where no usable answer came; `data` is then empty. */
export interface Answer {
  readonly status: number
  readonly data: Readonly<Record<string, unknown>>
}

/** POSTs `body` as JSON where there is one, else GETs. An answer that is no JSON counts as none. */
export async function request(url: string, body?: object): Promise<Answer> {
  try {
    const response = await fetch(url, {
      credentials: 'omit',
      // Browsers that lack it have a limit of their own, only a longer one.
      signal: AbortSignal.timeout?.(ANSWER_MS),
      ...(body && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        // An activation arrives although the visitor has followed a link.
        keepalive: true,
      }),
    })
    return { status: response.status, data: Object(await response.json()) as Answer['data'] }
  } catch {
    return { status: 0, data: {} }
  }
}
