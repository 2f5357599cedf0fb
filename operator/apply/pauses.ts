/** Sets the condition on a Destination while its deliveries are paused because the provider refuses its credentials. */

import { refIn } from '../../domain/resources/resources.ts'
import type { Condition } from '../../domain/resources/conditions.ts'
import { deliveringCondition, conditionsIn } from '../../domain/resources/conditions.ts'
import { destinationKey } from '../../domain/catalog.ts'
import type { OwnedWebsite } from '../../domain/model.ts'
import { objectKey } from '../../domain/catalog/objects.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { kubeKey } from '../../runtime/kube/objects.ts'
import type { Decision } from '../decide/decide.ts'
import type { StatusWriter } from './writer.ts'

/** The latest state of a destination that workers reported. */
export interface DestinationState extends OwnedWebsite {
  readonly destination: string
  readonly isPaused: boolean
  readonly sinceMs: number
}

interface PausesOptions {
  readonly writer: StatusWriter
  readonly current: (destination: KubeObject) => KubeObject | undefined
}

/** A separate field manager, so that this condition and the others never remove each other. */
const PAUSES_MANAGER = 'whence-operator-deliveries'
/** What exceeds this is written a minute later. */
const MOST_WRITES = 100

/**
 * Writes changed states; a destination that was never paused costs nothing. A failed write is repeated in the next
 * round.
 */
export function createPauses({ writer, current }: PausesOptions) {
  /** Last written, by key: the copy of the cluster lags a moment behind. */
  const written = new Map<string, Condition>()
  /** The condition to write; null if there is none or the object has it already. */
  const dueOf = (there: KubeObject, state: DestinationState): Condition | null => {
    if (isOlder(state, there)) return null
    const wanted = deliveringCondition(state.isPaused, state.sinceMs)
    const shown = conditionIn(there)
    if (isSameCondition(written.get(keyIn(there)), wanted) || isSameCondition(shown, wanted)) return null
    // No condition for resumed deliveries if their pause was never shown.
    return state.isPaused || shown !== undefined ? wanted : null
  }
  return async (states: readonly DestinationState[], decision: Decision): Promise<void> => {
    const byKey = new Map(states.map((state) => [destinationKey(state, state.destination), state]))
    let writes = 0
    for (const [key, { kind, object, isInForce }] of decision.objects) {
      if (kind !== 'Destination' || !isInForce) continue
      const there = current(object)
      const owner = { organization: decision.owners.get(key) ?? '', website: pausedWebsite(object, decision) }
      const state = byKey.get(destinationKey(owner, object.metadata.name))
      const wanted = there === undefined || state === undefined ? null : dueOf(there, state)
      if (there === undefined || wanted === null) continue
      if (writes === MOST_WRITES) return
      writes += 1
      const write = writer.applyStatus('Destination', there, { conditions: [wanted] }, PAUSES_MANAGER)
      await write.then(
        () => written.set(keyIn(there), wanted),
        () => undefined,
      )
    }
  }
}

/** With its uid, so that a new object of the same name is a different one. */
function keyIn(object: KubeObject): string {
  return `${kubeKey(object)} ${object.metadata.uid ?? ''}`
}

/** The ID in effect; empty if there is none. */
function pausedWebsite({ metadata, spec }: KubeObject, { objects }: Decision): string {
  const { name = '', namespace = metadata.namespace ?? '' } = refIn(spec, 'websiteRef')
  const id = objects.get(objectKey('Website', namespace, name))?.fields['id']
  return typeof id === 'string' ? id : ''
}

/** Reported for an earlier object of this name. */
function isOlder({ sinceMs }: DestinationState, { metadata }: KubeObject): boolean {
  return sinceMs < Date.parse(metadata.creationTimestamp ?? '')
}

function conditionIn(object: KubeObject): Condition | undefined {
  return conditionsIn(object['status']).find(({ type }) => type === 'Delivering')
}

function isSameCondition(a: Condition | undefined, b: Condition): boolean {
  return a?.status === b.status && a.lastTransitionTime === b.lastTransitionTime
}
