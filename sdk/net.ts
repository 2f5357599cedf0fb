/** Talks to the service: bounded in time, without credentials, and never with an exception. */

/** Longest wait for an answer of the service. */
const ANSWER_MS = 8_000

/** The body of an answer; empty where none came or it is no JSON. Errors of the service have the key `error`. */
export type Answer = Readonly<Record<string, unknown>>

/** POSTs `body` as JSON where there is one, else GETs. */
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
    return (await response.json()) as Answer
  } catch {
    return {}
  }
}
