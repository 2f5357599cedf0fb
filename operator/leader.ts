/**
 * Elects one of several operators by a Lease: only the holder writes.
 *
 * As in client-go, an operator may take the Lease if it was unchanged for its whole duration by the operator's own
 * clock; clocks are never compared. Updates carry the version that was read, so that of two that try only one succeeds.
 */

import { isNumber, isText, orAbsent, shapeOf } from '../domain/guards.ts'
import type { KubeClient, KubeRequest } from '../runtime/kube/client.ts'
import { KubeError } from '../runtime/kube/client.ts'
import type { Logger } from '../runtime/logger.ts'

interface LeaderOptions {
  readonly client: KubeClient
  readonly candidacy: Candidacy
  readonly onElected: () => void
  /** The Lease could not be renewed in time: all writing must end at once. Not called after `close`. */
  readonly onLost: () => void
  readonly logger: Logger
  readonly time: LeaderTime
}

/** Who wants to hold which Lease. */
interface Candidacy {
  readonly namespace: string
  readonly name: string
  readonly identity: string
}

interface LeaderTime {
  readonly random: () => number
  readonly nowMs: () => number
  /** Never goes back, unlike `nowMs`; in ms. */
  readonly clockMs: () => number
}

interface Leader {
  readonly isLeading: () => boolean
  /** Whether it leads, and renewed the Lease so recently that no other operator can have taken it. */
  readonly mayWrite: () => boolean
  /** Stops, and releases the Lease so that another operator need not wait for its end. */
  readonly close: () => Promise<void>
}

const DURATION_S = 15
const RENEW_DEADLINE_MS = 10_000
const RETRY_MS = 2_000
const LEAST_PAUSE_MS = 200
/** Answers to a write if the Lease was changed or deleted. */
const CHANGED: ReadonlySet<number> = new Set([404, 409])

interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
}

interface LeaseObject {
  readonly metadata: { readonly resourceVersion?: string }
  readonly spec?: LeaseSpec
}

const isLease = shapeOf<LeaseObject>({
  metadata: shapeOf<LeaseObject['metadata']>({ resourceVersion: orAbsent(isText) }),
  spec: orAbsent(
    shapeOf<LeaseSpec>({
      holderIdentity: orAbsent(isText),
      leaseDurationSeconds: orAbsent(isNumber),
      acquireTime: orAbsent(isText),
      renewTime: orAbsent(isText),
      leaseTransitions: orAbsent(isNumber),
    }),
  ),
})

/** @throws KubeError if the answer is no Lease: nobody knows then who holds it. */
async function requestLease(client: KubeClient, request: KubeRequest): Promise<LeaseObject> {
  const answer = await client.request(request)
  if (isLease(answer)) return answer
  throw new KubeError(0, 'NoLease', 'the answer of the API server is not a Lease')
}

export function startLeader(options: LeaderOptions): Leader {
  const election = new Election(options)
  const running = election.run()
  return {
    isLeading: () => election.isLeading,
    mayWrite: () => election.mayWrite(),
    close: async () => {
      election.abort.abort()
      await running
      await election.release()
    },
  }
}

class Election {
  readonly abort = new AbortController()
  isLeading = false
  readonly #options: LeaderOptions
  #lease: LeaseObject | null = null
  #seenVersion = ''
  #seenAtMs = 0
  #renewedAtMs = 0

  constructor(options: LeaderOptions) {
    this.#options = options
  }

  async run(): Promise<void> {
    while (!this.abort.signal.aborted) {
      const beganMs = this.#options.time.clockMs()
      await this.#step().catch((error: unknown) => this.#failed(error))
      const spread = 1 + this.#options.time.random() * 0.2
      // From one request to the next: an API server that is slow to answer must not make renewals rare.
      const tookMs = this.#options.time.clockMs() - beganMs
      await pause(Math.max(RETRY_MS * spread - tookMs, LEAST_PAUSE_MS), this.abort.signal)
    }
  }

  /** Releases the Lease; if that fails, another operator only waits longer. */
  async release(): Promise<void> {
    if (!this.isLeading || this.#lease === null) return
    this.isLeading = false
    const spec = { ...this.#lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: this.#now() }
    await this.#write('PUT', spec).catch(() => undefined)
  }

  mayWrite(): boolean {
    return this.isLeading && this.#options.time.clockMs() - this.#renewedAtMs < RENEW_DEADLINE_MS
  }

  async #step(): Promise<void> {
    if (await this.#renewed()) return
    const lease = await this.#read()
    if (lease === null) {
      await this.#write('POST', this.#claim(null))
      return
    }
    this.#see(lease)
    const holder = lease.spec?.holderIdentity ?? ''
    const isOurs = holder === this.#options.candidacy.identity && this.isLeading
    // Even under our own name, the holder may be another live process; waiting costs one duration at most.
    if (!isOurs && holder !== '' && this.#isFresh(lease)) {
      if (this.isLeading) this.#lost('another one holds the lease')
      return
    }
    await this.#write('PUT', this.#claim(lease))
  }

  /** In one request, since the version shows whether the Lease is as this operator left it. False: it must be read. */
  async #renewed(): Promise<boolean> {
    if (!this.isLeading || this.#lease === null) return false
    try {
      await this.#write('PUT', this.#claim(this.#lease))
      return true
    } catch (error) {
      if (error instanceof KubeError && CHANGED.has(error.status)) return false
      throw error
    }
  }

  #see(lease: LeaseObject): void {
    const version = lease.metadata.resourceVersion ?? ''
    this.#lease = lease
    if (version === this.#seenVersion) return
    this.#seenVersion = version
    this.#seenAtMs = this.#options.time.clockMs()
  }

  /** By our own clock: unchanged for less than its duration. */
  #isFresh(lease: LeaseObject): boolean {
    const durationMs = (lease.spec?.leaseDurationSeconds ?? DURATION_S) * 1_000
    return this.#options.time.clockMs() - this.#seenAtMs < durationMs
  }

  #claim(before: LeaseObject | null): LeaseSpec {
    const now = this.#now()
    const { identity } = this.#options.candidacy
    const { acquireTime = now, leaseTransitions = 0 } = before?.spec ?? {}
    const isRenewal = this.isLeading
    return {
      holderIdentity: identity,
      leaseDurationSeconds: DURATION_S,
      acquireTime: isRenewal ? acquireTime : now,
      renewTime: now,
      leaseTransitions: before === null || isRenewal ? leaseTransitions : leaseTransitions + 1,
    }
  }

  #won(sinceMs: number): void {
    this.#renewedAtMs = sinceMs
    if (this.isLeading) return
    this.isLeading = true
    this.#options.logger.info({ identity: this.#options.candidacy.identity }, 'leading')
    this.#options.onElected()
  }

  #failed(error: unknown): void {
    if (this.abort.signal.aborted) return
    const isLost = this.isLeading && this.#options.time.clockMs() - this.#renewedAtMs > RENEW_DEADLINE_MS
    if (isLost) this.#lost(String(error))
    else this.#options.logger.debug({ why: String(error) }, 'lease not renewed, retrying')
  }

  /** Final: once the Lease was lost, another operator may have written. */
  #lost(why: string): void {
    this.isLeading = false
    this.abort.abort()
    this.#options.logger.error({ why }, 'lease lost')
    this.#options.onLost()
  }

  async #read(): Promise<LeaseObject | null> {
    try {
      const signal = AbortSignal.any([this.abort.signal, AbortSignal.timeout(RENEW_DEADLINE_MS / 2)])
      return await requestLease(this.#options.client, { method: 'GET', path: this.#path(), signal })
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return null
      throw error
    }
  }

  async #write(method: 'POST' | 'PUT', spec: LeaseSpec): Promise<void> {
    const { client, candidacy, time } = this.#options
    const { name, namespace } = candidacy
    const resourceVersion = this.#lease?.metadata.resourceVersion
    const version = method === 'PUT' && resourceVersion !== undefined ? { resourceVersion } : {}
    const body = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace, ...version },
      spec,
    }
    const path = method === 'POST' ? this.#path().slice(0, -name.length - 1) : this.#path()
    const signal = AbortSignal.timeout(RENEW_DEADLINE_MS / 2)
    // The answer may come late, but others count from the moment of the write.
    const sentAtMs = time.clockMs()
    const lease = await requestLease(client, { method, path, body, signal })
    this.#lease = lease
    this.#seenVersion = lease.metadata.resourceVersion ?? ''
    this.#seenAtMs = time.clockMs()
    if (spec.holderIdentity !== '') this.#won(sentAtMs)
  }

  #path(): string {
    const { namespace, name } = this.#options.candidacy
    return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`
  }

  /** Microseconds, as in Leases. */
  #now(): string {
    return new Date(this.#options.time.nowMs()).toISOString().replace('Z', '000Z')
  }
}

function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, delayMs)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
