/** Compiles what was gathered, within the room that the cluster has. */

import type { SmallSteps } from '../../domain/published/steps.ts'
import type { CatalogInput, Compilation } from '../../domain/catalog/compile-catalog.ts'
import { compileInSteps, emptyCompileMemory } from '../../domain/catalog/compile-catalog.ts'
import type { HeldForms } from '../../domain/catalog/compile-held.ts'
import type { Gathered } from './gathered.ts'
import { overflow } from './overflow.ts'

/**
 * Compiles again without what does not fit, if anything does not. `kept`: null for results that follow from namespaces
 * alone.
 */
export function* compileWithin(
  gathered: Gathered,
  input: CatalogInput,
  kept: HeldForms | null,
): SmallSteps<Compilation> {
  const { credentialSlots, ownSecrets, before, heldNamespaces, paused } = gathered
  const isHolding = before !== null && heldNamespaces.size + paused.size > 0
  const held = kept ?? (isHolding ? { ...before, namespaces: heldNamespaces, objects: paused } : null)
  const { memory = emptyCompileMemory() } = input
  const { texts } = memory.digests
  const compilation = yield* compileInSteps({ ...input, rules: { ownSecrets }, held, memory })
  const withoutRoom = yield* overflow(compilation, credentialSlots, texts)
  if (withoutRoom.size === 0) return compilation
  return yield* compileInSteps({
    ...input,
    rules: { ownSecrets, withoutRoom },
    held,
    memory: emptyCompileMemory(texts),
  })
}
