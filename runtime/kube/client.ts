/** Talks to the API server of a cluster: requests with JSON in and out, and streams; each within a deadline. */

import type { IncomingMessage } from 'node:http'
import { Agent, request, type RequestOptions } from 'node:https'
import { readFileSync } from 'node:fs'
import { finished } from 'node:stream/promises'
import { createSecureContext, type SecureContext } from 'node:tls'

import { memberOf, textOf } from '../../domain/strict-json.ts'

/** Address of the API server, and this client's identity there. */
interface KubeAddress {
  /** For example `https://10.0.0.1:443`. */
  readonly url: string
  /** A token that is replaced from time to time, as kubelet does with a ServiceAccount's. */
  readonly tokenFile: string
  /** PEM file of the authority that signed the server's certificate. */
  readonly caFile: string
  /** Identifies this client in audit logs, for example `whence-operator/1.0`. */
  readonly userAgent: string
}

/** How the client identifies itself; read before every request. */
export interface KubeAccess {
  /** For example `https://10.0.0.1:443`. */
  readonly url: string
  readonly identify: () => Promise<KubeIdentity>
  /** The server did not accept what `identify` returned; the next call must look it up again. */
  readonly forget: () => void
}

type KubeTls = Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'> & {
  readonly secureContext?: SecureContext
}

export type KubeIdentity = KubeTls & {
  /** The header's value; null if a certificate identifies the client. */
  readonly authorization: string | null
}

export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With its query, escaped. */
  readonly path: string
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
  /** True if the caller ignores the answer; it is then not parsed, and `request` resolves with null. */
  readonly isAnswerUnread?: boolean
  readonly signal?: AbortSignal
}

/** Sends single requests. */
export interface KubeRequests {
  /** The parsed answer. Rejects with a KubeError for anything but 2xx, and if no answer comes in time. */
  readonly request: (request: KubeRequest) => Promise<unknown>
}

export interface KubeClient extends KubeRequests {
  /** The body of a 2xx answer as it arrives; the caller ends it, with the signal or by destroying it. */
  readonly stream: (request: KubeRequest) => Promise<IncomingMessage>
  readonly close: () => void
}

/** An error in place of an answer. `status` is 0 if there was no answer at all. */
export class KubeError extends Error {
  override readonly name = 'KubeError'
  readonly status: number
  /** Kubernetes' own reason, for example `Expired` or `Conflict`. */
  readonly reason: string
  readonly retryAfterS: number | null
  constructor(status: number, reason: string, message: string, retryAfterS: number | null = null) {
    super(message)
    this.status = status
    this.reason = reason
    this.retryAfterS = retryAfterS
  }
}

const JSON_TYPE = 'application/json'
export const APPLY_TYPE = 'application/apply-patch+yaml'

const TOKEN_KEEP_MS = 60_000
/** Time-out for the head of an answer, and for the whole of an ordinary answer. */
const ANSWER_MS = 30_000
const MAX_SOCKETS = 64
/** All Websites of a large installation in one list. */
const MAX_BODY_BYTES = 512 * 1024 * 1024
const MAX_MESSAGE_CHARS = 500

/** Reads both files only when needed, so that a client can be made before they exist. */
export function createKubeClient(address: KubeAddress, nowMs: () => number): KubeClient {
  return clientFor(accessByFiles(address, nowMs), address.userAgent)
}

/** `userAgent` identifies this client in audit logs, for example `whence-operator/1.0`. */
export function clientFor(access: KubeAccess, userAgent: string): KubeClient {
  const url = new URL(access.url)
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS })
  const send = async (asked: KubeRequest, pool: Agent | false): Promise<IncomingMessage> => {
    const { authorization, ...tls } = await access.identify()
    const headers = headersOf(asked, { authorization, userAgent })
    const response = await headOf({ url, agent: pool, tls, headers, asked })
    if (response.statusCode !== undefined && response.statusCode < 300) return response
    // An expired token is replaced on disk without notice.
    if (response.statusCode === 401) access.forget()
    throw await kubeRefusal(response)
  }
  return {
    // Uses a connection of its own: one from the pool may have died silently, which takes a while to notice.
    stream: (asked) => send(asked, false),
    request: async (asked) => {
      const deadline = AbortSignal.timeout(ANSWER_MS)
      const signal = asked.signal === undefined ? deadline : AbortSignal.any([deadline, asked.signal])
      const response = await send({ ...asked, signal }, agent)
      if (asked.isAnswerUnread === true) return drained(response)
      const text = await readAnswer(response)
      return text === '' ? null : parseAnswer(text)
    },
    close: () => agent.destroy(),
  }
}

function accessByFiles({ url, tokenFile, caFile }: KubeAddress, nowMs: () => number): KubeAccess {
  const token = tokenReader(tokenFile, nowMs)
  // Made once: otherwise the pool would compare the whole certificate with every connection's, on every request.
  let secureContext: SecureContext | null = null
  return {
    url,
    identify: async () => {
      secureContext ??= createSecureContext({ ca: readFileSync(caFile) })
      return { secureContext, authorization: `Bearer ${token.read()}` }
    },
    forget: () => token.forget(),
  }
}

interface TokenReader {
  readonly read: () => string
  readonly forget: () => void
}

function tokenReader(file: string, nowMs: () => number): TokenReader {
  let known: { readonly token: string; readonly readAtMs: number } | null = null
  return {
    read: () => {
      const isFresh = known !== null && nowMs() - known.readAtMs < TOKEN_KEEP_MS
      if (!isFresh || known === null) known = { token: readFileSync(file, 'utf8').trim(), readAtMs: nowMs() }
      return known.token
    },
    forget: () => {
      known = null
    },
  }
}

function headersOf(
  { body, contentType = JSON_TYPE, accept = JSON_TYPE }: KubeRequest,
  { authorization, userAgent }: { readonly authorization: string | null; readonly userAgent: string },
): Readonly<Record<string, string>> {
  const common = { accept, 'user-agent': userAgent, ...(authorization === null ? {} : { authorization }) }
  return body === undefined ? common : { ...common, 'content-type': contentType }
}

interface RequestParts {
  readonly url: URL
  readonly agent: Agent | false
  readonly tls: KubeTls
  readonly headers: Readonly<Record<string, string>>
  readonly asked: KubeRequest
}

function headOf({ url, agent, tls, headers, asked }: RequestParts): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { method, path, body, signal } = asked
    const base = { host: url.hostname, port: url.port === '' ? 443 : url.port, agent, ...tls, headers, method, path }
    const sent = request({ ...base, ...(signal === undefined ? {} : { signal }) })
    const timer = setTimeout(() => sent.destroy(new Error('no answer in time')), ANSWER_MS)
    sent.on('response', (response) => {
      clearTimeout(timer)
      resolve(response)
    })
    sent.on('error', (error) => {
      clearTimeout(timer)
      reject(new KubeError(0, 'Unreachable', `the API server cannot be reached: ${error.message}`))
    })
    if (body === undefined) {
      sent.end()
      return
    }
    const bytes = Buffer.from(JSON.stringify(body))
    // Node adds no length by itself to a DELETE, whose body the server would then take for the next request.
    sent.setHeader('content-length', bytes.length)
    sent.end(bytes)
  })
}

async function readAnswer(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  const arriving: AsyncIterable<Buffer> = response
  try {
    for await (const chunk of arriving) {
      bytes += chunk.length
      if (bytes > MAX_BODY_BYTES) throw new KubeError(0, 'TooLarge', 'the answer of the API server is too large')
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof KubeError) throw error
    throw brokenOff(error)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Reads the answer to its end, so that the connection can be reused. */
async function drained(response: IncomingMessage): Promise<null> {
  response.resume()
  try {
    await finished(response)
    return null
  } catch (error) {
    throw brokenOff(error)
  }
}

function brokenOff(error: unknown): KubeError {
  return new KubeError(0, 'Unreachable', `the answer of the API server broke off: ${String(error)}`)
}

async function kubeRefusal(response: IncomingMessage): Promise<KubeError> {
  const status = response.statusCode ?? 0
  const retryAfter = Number(response.headers['retry-after'])
  const retryAfterS = Number.isFinite(retryAfter) && retryAfter >= 0 ? retryAfter : null
  const text = await readAnswer(response)
  const sent = refusalStatus(text)
  const message = textOf(memberOf(sent, 'message'))
  const shown = (message === '' ? text : message).slice(0, MAX_MESSAGE_CHARS)
  return new KubeError(status, textOf(memberOf(sent, 'reason')), `${status}: ${shown}`, retryAfterS)
}

/** Null if a proxy answered with something else. */
function refusalStatus(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new KubeError(0, 'NoJson', 'the answer of the API server is not JSON')
  }
}
