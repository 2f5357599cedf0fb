/** What the calls say of receipts: which were surely or possibly active and revoked when an event was decided. */

import type { Call, EventCall } from './history.ts'

export interface Candidates {
  /** Activated before the event was sent, and nothing that revokes it had begun when its call ended. */
  readonly certain: readonly string[]
  /** All that may have counted: activation begun by then, and not surely revoked before. */
  readonly possible: readonly string[]
}

interface Times {
  /** The first ok answer to an activation; Infinity without one. */
  activeMs: number
  /** The first activation that may have had an effect was begun. */
  maybeActiveMs: number
}

/** Reads each visit's activations and successors once. */
export class Receipts {
  readonly #times = new Map<string, Times>()
  /** The visits that name a visit as their predecessor. */
  readonly #successors = new Map<string, string[]>()

  constructor(calls: readonly Call[]) {
    for (const call of calls) {
      if (call.kind === 'activation' && call.outcome !== 'refused') this.#activated(call)
      if (call.kind === 'visit' && call.visit !== '' && call.previous !== '') {
        this.#successors.set(call.previous, [...(this.#successors.get(call.previous) ?? []), call.visit])
      }
    }
  }

  #activated({ visit, outcome, beganMs, endedMs }: Call): void {
    const times = this.#times.get(visit) ?? { activeMs: Infinity, maybeActiveMs: Infinity }
    times.maybeActiveMs = Math.min(times.maybeActiveMs, beganMs)
    if (outcome === 'ok') times.activeMs = Math.min(times.activeMs, endedMs)
    this.#times.set(visit, times)
  }

  /** When an activation was first answered; Infinity if none was. */
  activeMs(visit: string): number {
    return this.#times.get(visit)?.activeMs ?? Infinity
  }

  maybeActiveMs(visit: string): number {
    return this.#times.get(visit)?.maybeActiveMs ?? Infinity
  }

  /** When the activation of a successor was answered for the first time. */
  revokedMs(visit: string): number {
    return Math.min(Infinity, ...this.successors(visit).map((one) => this.activeMs(one)))
  }

  maybeRevokedMs(visit: string): number {
    return Math.min(Infinity, ...this.successors(visit).map((one) => this.maybeActiveMs(one)))
  }

  successors(visit: string): readonly string[] {
    return this.#successors.get(visit) ?? []
  }

  /** @param call the one whose record decides */
  candidates({ event, beganMs, endedMs }: EventCall): Candidates {
    const receipts = [...new Set(event.receipts)]
    return {
      certain: receipts.filter((visit) => this.activeMs(visit) <= beganMs && this.maybeRevokedMs(visit) > endedMs),
      possible: receipts.filter((visit) => this.maybeActiveMs(visit) <= endedMs && this.revokedMs(visit) > beganMs),
    }
  }
}

/** Visits carry the moment of their issue in front of their ID, behind a byte of flags: the greater one is the newer. */
export function newest(visits: readonly string[]): string {
  return visits.toSorted((one, other) => (one.slice(2) < other.slice(2) ? -1 : 1)).at(-1) ?? ''
}
