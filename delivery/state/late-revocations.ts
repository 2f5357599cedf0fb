/**
 * Revokes a receipt later if an activation could not revoke it at once, because neither the hot state nor the facts had its visit.
 *
 * Such an activation waits in tiers of the log until its visit has reached the facts. Then the receipt it replaced is revoked
 * in the hot state, and its record is appended again, completed, so that the facts learn the revocation like any other. A
 * crash in between repeats both, which changes nothing.
 */

import { takeDue } from '../tiers.ts'
import { Counter } from 'prom-client'
import type { Registry } from 'prom-client'

import { holdMs, JITTER, tierFor } from '../../domain/delivery/attempts.ts'
import { LIMITS } from '../../domain/limits.ts'
import {
  encodeRecord,
  recordKey,
  WAITING_TIERS,
  type ActivationRecord,
  type TierName,
  type WaitingActivation,
} from '../../domain/records.ts'
import type { Batch, BatchOutcome, Consumer, LogWriter, LogConsumers } from '../../ports/event-log/event-log.ts'
import type { ReceiptRef, ReceiptVerbs } from '../../ports/hot-state/hot-state.ts'
import type { Telemetry } from '../../runtime/metrics.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import { readPredecessors, type Predecessors } from '../recovery/predecessors.ts'
import { createRecordReader, type ReadEntry } from '../record-reader.ts'
import { consumeReadable } from '../version-guard.ts'
import { within } from '../../common/deadline.ts'

export interface LateRevocationDeps {
  readonly eventLog: LogWriter & LogConsumers
  readonly hotState: ReceiptVerbs
  readonly facts: FactsReader
  readonly telemetry: Telemetry
  readonly nowMs: () => number
  /** In [0, 1). */
  readonly random: () => number
}

export const STATE_GROUP = 'state'
const BATCH_ACTIVATIONS = 500
const APPEND_DEADLINE_MS = 5_000
/** The facts may be slow or hang: the activations then keep waiting. */
const LOOKUP_MS = 5_000
/** Marks the records that wait; all others need not be decoded. */
const UNKNOWN_MARK = '"isPredecessorUnknown":true'
/** No caller waits for it, and a process that also serves requests should not be woken for each activation. */
const LINGER_MS = 250

/** For a process whose hot state needs no activation applied again: handles only activations with an unknown predecessor. */
export async function startLateRevocations(deps: LateRevocationDeps): Promise<{ close(): Promise<void> }> {
  const late = new LateRevocations(deps)
  const read = createRecordReader(deps.telemetry, STATE_GROUP)
  const handle = async (batch: Batch): Promise<BatchOutcome> => {
    const marked = batch.entries.filter(({ value }) => value.includes(UNKNOWN_MARK))
    await late.take(marked.flatMap((entry) => read('activation', entry, batch.topic) ?? []))
    return { done: batch.entries.length }
  }
  const options = { maxEntries: BATCH_ACTIVATIONS, lingerMs: LINGER_MS }
  const consumer = await consumeReadable(deps)('activations', STATE_GROUP, handle, options)
  try {
    await late.start()
  } catch (error) {
    await consumer.close()
    throw error
  }
  return {
    async close() {
      await Promise.all([consumer.close(), late.close()])
    },
  }
}

export class LateRevocations {
  readonly #deps: LateRevocationDeps
  readonly #givenUp: Counter | null
  readonly #read: ReadEntry
  #consumers: Consumer[] = []

  constructor(deps: LateRevocationDeps) {
    this.#deps = deps
    this.#givenUp = givenUpCounter(deps.telemetry.registry)
    this.#read = createRecordReader(deps.telemetry, STATE_GROUP)
  }

  /** Starts to consume the waiting activations. */
  async start(): Promise<void> {
    const consume = consumeReadable(this.#deps)
    try {
      for (const tier of WAITING_TIERS) {
        const handle = (batch: Batch): Promise<BatchOutcome> => this.#takeWaiting(batch, tier)
        const options = { maxEntries: BATCH_ACTIVATIONS }
        this.#consumers.push(await consume(`state.${tier}`, STATE_GROUP, handle, options))
      }
    } catch (error) {
      await this.close()
      throw error
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#consumers.map((consumer) => consumer.close()))
  }

  /** Handles activations with an unknown predecessor: revokes it now, or as soon as their visits arrive. */
  async take(records: readonly ActivationRecord[]): Promise<void> {
    const open = records.filter(({ isPredecessorUnknown }) => isPredecessorUnknown)
    if (open.length === 0) return
    const unique = [...new Map(open.map((record) => [activationKey(record), record])).values()]
    const known = await this.#predecessorsOf(unique)
    await Promise.all(unique.map((record) => this.#settle(record, known)))
  }

  async #takeWaiting(batch: Batch, tier: TierName): Promise<BatchOutcome> {
    const { due, outcome } = takeDue(batch, {
      tier,
      nowMs: this.#deps.nowMs,
      read: (entry) => this.#read('waitingActivation', entry, batch.topic),
    })
    await this.take(due.map(({ record }) => record))
    return outcome
  }

  /** The known predecessors; none if the facts did not answer in time. */
  async #predecessorsOf(records: readonly ActivationRecord[]): Promise<Predecessors> {
    try {
      return await within(readPredecessors(this.#deps.facts, records), LOOKUP_MS)
    } catch (error) {
      this.#deps.telemetry.logger.warn({ err: error }, 'predecessors could not be looked up')
      return new Map()
    }
  }

  async #settle(record: ActivationRecord, known: Predecessors): Promise<void> {
    const { organization, website, visitId, issuedAtMs } = record
    const previous = known.get(activationKey(record))
    const isOver = this.#deps.nowMs() - record.activatedAtMs >= LIMITS.eventLogKeepMs
    if (previous === undefined && !isOver) return this.#wait(record)
    if (previous === undefined) this.#giveUp(record)
    await this.#deps.hotState.learn(
      { organization, website, visitId, issuedAtMs, previous: previous ?? null },
      'active',
    )
    if (previous !== undefined && previous !== null) await this.#complete(record, previous)
  }

  async #complete(record: ActivationRecord, { visitId, issuedAtMs }: ReceiptRef): Promise<void> {
    const completed: ActivationRecord = {
      ...record,
      revokedVisitId: visitId,
      revokedIssuedAtMs: issuedAtMs,
      isPredecessorUnknown: false,
    }
    await this.#append('activations', activationKey(record), encodeRecord(completed))
  }

  async #wait(record: ActivationRecord): Promise<void> {
    const nowMs = this.#deps.nowMs()
    const waitMs = Math.round(holdMs(nowMs - record.activatedAtMs) * (1 + JITTER * this.#deps.random()))
    const waiting: WaitingActivation = { v: record.v, record, dueAtMs: nowMs + waitMs }
    await this.#append(`state.${tierFor(waitMs)}`, activationKey(record), encodeRecord(waiting))
  }

  /** The visit is no longer on the log either, so it will never arrive. */
  #giveUp({ website, visitId }: ActivationRecord): void {
    this.#givenUp?.inc()
    this.#deps.telemetry.logger.error({ website, visitId }, 'no visit for an activation: its predecessor stays unknown')
  }

  async #append(topic: 'activations' | `state.${TierName}`, key: string, value: string): Promise<void> {
    await this.#deps.eventLog.append(topic, [{ key, value }], { deadlineMs: APPEND_DEADLINE_MS })
  }
}

function activationKey(record: ActivationRecord): string {
  return recordKey(record, record.visitId)
}

function givenUpCounter(registry: Registry | undefined): Counter | null {
  if (registry === undefined) return null
  return new Counter({
    name: 'whence_predecessors_given_up_total',
    help: 'Activations whose visit never arrived, so that the receipt they revoked is unknown.',
    registers: [registry],
  })
}
