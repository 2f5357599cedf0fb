/** What the pages of API keys and of share links have in common: when one ends, its state, and its end before that. */

import { Button, Modal, Select } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'

import { DAY_MS } from '../../domain/durations.ts'
import type { Condition } from '../../domain/resources/conditions.ts'
import { ask, path } from '../data/ask.ts'
import { MODAL } from '../parts/modals.ts'
import { Problem } from '../parts/states.tsx'
import { conditionWords } from '../resources/words.ts'

const DURATIONS = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
]

export const USUAL_DAYS = '90'

interface EndsInProps {
  readonly days: string
  readonly onChange: (days: string) => void
}

export function EndsIn({ days, onChange }: EndsInProps): ReactNode {
  return (
    <Select
      label="Ends in"
      allowDeselect={false}
      data={DURATIONS}
      value={days}
      onChange={(value) => onChange(value ?? USUAL_DAYS)}
    />
  )
}

/** RFC 3339 in UTC, whole seconds. */
export function inDays(days: string): string {
  return `${new Date(Date.now() + Number(days) * DAY_MS).toISOString().slice(0, 19)}Z`
}

interface PassStateProps {
  readonly pass: { readonly isInForce: boolean; readonly conditions: readonly Condition[] }
}

/** The list is a moment ahead of the conditions: what opens something is in force. */
export function PassState({ pass: { isInForce, conditions } }: PassStateProps): ReactNode {
  if (isInForce) return <span className="status good">In force</span>
  const { tone, words, fix } = conditionWords(conditions)
  return (
    <>
      <span className={`status ${tone === 'good' ? 'plain' : tone}`}>{tone === 'good' ? 'Ended' : words}</span>
      {fix !== '' && <span className="also">{fix}</span>}
    </>
  )
}

interface RevokeProps {
  /** What people call it. */
  readonly name: string
  /** Of its object, with its organisation; below the address of the list. */
  readonly address: string
  /** Of the list. */
  readonly queryKey: readonly string[]
  /** What its end means. */
  readonly children: ReactNode
}

export function Revoke({ name, address, queryKey, children }: RevokeProps): ReactNode {
  const queries = useQueryClient()
  const [isAsking, setIsAsking] = useState(false)
  const revoke = useMutation({
    mutationFn: () => ask(address, { method: 'DELETE' }),
    onSuccess: () => queries.invalidateQueries({ queryKey }),
  })
  return (
    <>
      <Button size="xs" variant="default" aria-label={`Revoke ${name}`} onClick={() => setIsAsking(true)}>
        Revoke
      </Button>
      <Modal opened={isAsking} onClose={() => setIsAsking(false)} title={`Revoke ${name}?`} {...MODAL}>
        <p>{children}</p>
        <Problem error={revoke.error} />
        <Button color="red" loading={revoke.isPending} onClick={() => revoke.mutate()}>
          Revoke
        </Button>
      </Modal>
    </>
  )
}

interface AddressedPass {
  readonly namespace: string
  readonly name: string
}

/** Where one of a list is revoked. */
export function addressOfPass(list: string, organization: string, { namespace, name }: AddressedPass): string {
  return path(`${list}/:namespace/:name`, { organization, namespace, name })
}
