/** Saves an object in steps: credentials first, then a dry run, then the change itself. */

import { useMutation, useQueryClient, type QueryClient } from '@tanstack/react-query'

import {
  keepSecret,
  lastSaveQuery,
  type LastSave,
  save,
  tryOut,
  type StoredResource,
  type ResourceSpec,
  type Wanted,
  type Warning,
} from '../data/resources.ts'
import { STREAMS_KEY } from '../streams/streams-data.ts'
import type { NewSecret } from './form-context.ts'
import { withValue } from './spec-edit.ts'

interface SaveWish {
  readonly wanted: Wanted
  readonly secrets: readonly NewSecret[]
  /** The person has read the warnings. */
  readonly isSure: boolean
}

type SaveOutcome =
  | { readonly kind: 'saved'; readonly resource: StoredResource; readonly sentAt: number }
  | { readonly kind: 'warned'; readonly warnings: readonly Warning[] }

interface Hooks {
  /** It has its references now, so that another attempt creates no second Secret. */
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
      if (warnings.length > 0) return { kind: 'warned', warnings }
      const sentAt = performance.now()
      return { kind: 'saved', resource: await save(ready), sentAt }
    },
    async onSuccess(outcome, { wanted: { organization } }) {
      if (outcome.kind !== 'saved') return
      const { resource, sentAt } = outcome
      const saved: LastSave = { version: resource.version, sentAt, liveAfterMs: null }
      queries.setQueryData<LastSave | null>(lastSaveQuery({ organization, ...resource }).queryKey, saved)
      await forgetLists(queries, organization)
      onSaved(resource)
    },
  })
}

/** Lists of objects, and of what log streams and webhooks do, are asked for again. */
export async function forgetLists(queries: QueryClient, organization: string): Promise<void> {
  const lists = ['resources', STREAMS_KEY].map((key) => queries.invalidateQueries({ queryKey: [key, organization] }))
  await Promise.all(lists)
}

async function withSecrets(wanted: Wanted, secrets: readonly NewSecret[]): Promise<ResourceSpec> {
  let { spec } = wanted
  for (const { place, isByKey, values } of secrets) {
    const name = await keepSecret(wanted, values)
    spec = withValue(spec, place, isByKey ? { name, key: Object.keys(values)[0] } : { name })
  }
  return spec
}
