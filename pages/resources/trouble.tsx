/** What can stop a change: warnings, a change by someone else, or Git. Each comes with the way to continue. */

import { Button } from '@mantine/core'
import type { ReactNode } from 'react'

import { isObject, objectOf } from '../../domain/strict-json.ts'
import { shapeOf, isText } from '../../domain/guards.ts'
import { ApiProblem } from '../data/ask.ts'
import type { ResourceSpec, Warning } from '../data/resources.ts'
import { Snippet } from '../parts/copy.tsx'
import { Problem } from '../parts/states.tsx'
import { differingFields } from './spec-edit.ts'
import { labelOf } from './words.ts'

interface TroubleProps {
  readonly error: unknown
  readonly outcome: { readonly kind: string; readonly warnings?: readonly Warning[] } | undefined
  readonly base: ResourceSpec
  readonly mine: ResourceSpec
  readonly onRebase: (theirs: ResourceSpec, version: string) => void
  readonly onSure: () => void
}

export function Trouble({ error, outcome, base, mine, onRebase, onSure }: TroubleProps): ReactNode {
  if (error instanceof ApiProblem && error.code === 'managed_elsewhere') return <Managed detail={error.detail} />
  const current = error instanceof ApiProblem && error.code === 'conflict' ? currentOf(error.detail) : null
  if (current !== null) {
    return (
      <div className="notice" role="alert">
        <h3>Somebody else was faster</h3>
        <p>
          They changed: {wordsOf(differingFields(base, current.spec))}. You changed:{' '}
          {wordsOf(differingFields(base, mine))}. Where both did, yours will stand.
        </p>
        <Button variant="default" size="xs" onClick={() => onRebase(current.spec, current.version)}>
          Put my changes on top of theirs
        </Button>
      </div>
    )
  }
  if (outcome?.kind === 'warned') return <Warnings warnings={outcome.warnings ?? []} onSure={onSure} />
  return <Problem error={error} />
}

const isCurrent = shapeOf<{ readonly spec: ResourceSpec; readonly version: string }>({
  spec: isObject,
  version: isText,
})

function currentOf({
  current,
}: ApiProblem['detail']): { readonly spec: ResourceSpec; readonly version: string } | null {
  return isCurrent(current) ? current : null
}

function wordsOf(fields: readonly string[]): string {
  return fields.length === 0 ? 'nothing' : fields.map(labelOf).join(', ')
}

function Warnings({
  warnings,
  onSure,
}: Pick<TroubleProps, 'onSure'> & { readonly warnings: readonly Warning[] }): ReactNode {
  return (
    <div className="notice" role="alert">
      <h3>It can be saved, but</h3>
      <ul>
        {warnings.map(({ field, message }) => (
          <li key={field + message}>{message}</li>
        ))}
      </ul>
      <Button variant="default" size="xs" onClick={onSure}>
        Save all the same
      </Button>
    </div>
  )
}

function Managed({ detail }: { readonly detail: ApiProblem['detail'] }): ReactNode {
  const { yaml, kubectl } = objectOf(detail['patch'])
  const manager = typeof detail['manager'] === 'string' ? detail['manager'] : 'somebody else'
  return (
    <div className="notice" role="alert">
      <h3>Managed by {manager}: nothing was changed here</h3>
      {typeof yaml !== 'string' || typeof kubectl !== 'string' ? (
        <p>{typeof detail['object'] === 'string' ? `${detail['object']} needs it as it is.` : ''} Change it there.</p>
      ) : (
        <>
          <p>Commit this where {manager} takes it from:</p>
          <Snippet what="the YAML for Git" text={yaml} />
          <p>Or, if it is to be changed in the cluster by hand:</p>
          <Snippet what="the kubectl line" text={kubectl} />
        </>
      )}
    </div>
  )
}
