/** Saves an object in steps: credentials first, then a dry run, then the change itself. */

import { useMutation, useQueryClient } from '@tanstack/react-query'

import {
  keepSecret,
  save,
  tryOut,
  type StoredResource,
  type ResourceSpec,
  type Wanted,
  type Warning,
} from '../data/resources.ts'
import type { NewSecret } from './form-context.ts'
import { withValue } from './spec-edit.ts'

interface SaveWish {
  readonly wanted: Wanted
  readonly secrets: readonly NewSecret[]
  /** The person has read the warnings. */
  readonly isSure: boolean
}

type SaveOutcome =
  | { readonly kind: 'saved'; readonly resource: StoredResource }
  | { readonly kind: 'warned'; readonly warnings: readonly Warning[] }

interface Hooks {
  /** References are in it now, so that a second try makes no second Secret. */
  readonly onSecretsKept: (spec: ResourceSpec) => void
  readonly onSaved: (resource: StoredResource) => void
}

export function useSave({ onSecretsKept, onSaved }: Hooks) {
  const queries = useQueryClient()
  return useMutation({
    async mutationFn({ wanted, secrets, isSure }: SaveWish): Promise<SaveOutcome> {
      const spec = await withSecrets(wanted, secrets)
      onSecretsKept(spec)
      const ready = { ...wanted, spec }
      const warnings = isSure ? [] : await tryOut(ready)
      return warnings.length > 0 ? { kind: 'warned', warnings } : { kind: 'saved', resource: await save(ready) }
    },
    async onSuccess(outcome, { wanted: { organization } }) {
      if (outcome.kind !== 'saved') return
      await queries.invalidateQueries({ queryKey: ['resources', organization] })
      onSaved(outcome.resource)
    },
  })
}

async function withSecrets(wanted: Wanted, secrets: readonly NewSecret[]): Promise<ResourceSpec> {
  let { spec } = wanted
  for (const { place, isByKey, values } of secrets) {
    const name = await keepSecret(wanted, values)
    spec = withValue(spec, place, isByKey ? { name, key: Object.keys(values)[0] } : { name })
  }
  return spec
}
