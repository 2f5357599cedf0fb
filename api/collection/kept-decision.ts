/**
 * The decision about an event, as the hot state keeps it from before its append until its claim is settled. The next try of
 * the event, which may be answered by a process of another release, stores the same decision.
 *
 * Its version is that of the records, since it becomes one: fields may be added within a version, all else is a new one.
 */

import { isInstall } from '../../domain/collection/stored-install.ts'
import { shapeOf, isNumber, parsedAs } from '../../domain/guards.ts'
import type { Install } from '../../domain/model.ts'
import { newerVersionOf } from '../../domain/read-record.ts'

/** `newer`: a later release made it, in a form that would lose something if this one wrote it to the log. */
export type KeptReading =
  | { readonly kind: 'none' }
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'decision'; readonly install: Install }

/** The version comes first, where it is read without parsing the rest. */
export function encodeDecision(install: Install): string {
  return JSON.stringify({ v: 1, ...install })
}

const isVersioned = shapeOf<{ readonly v: number }>({ v: isNumber })

function isKeptDecision(value: unknown): value is Install & { readonly v: number } {
  return isVersioned(value) && isInstall(value)
}

export function readKeptDecision(kept: string | null): KeptReading {
  if (kept === null) return { kind: 'none' }
  const version = newerVersionOf(kept)
  if (version !== null) return { kind: 'newer', version }
  const decision = parsedAs(isKeptDecision, kept)
  if (decision === null) throw new Error('the decision that the hot state keeps cannot be read')
  const { v: _, ...install } = decision
  return { kind: 'decision', install }
}
