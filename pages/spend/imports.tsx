/** The files of ad spend that were imported, and the button that removes one. */

import { Button, Modal } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'

import { mayDo } from '../../domain/people/roles.ts'
import { shownCount } from '../parts/numbers.tsx'
import { Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Moment } from '../parts/time.tsx'
import type { OwnOrganization } from '../shell/organization.tsx'
import { moneyText } from './money.ts'
import { sendSpendRemoval, spendImportsQuery, spendKey, type SpendFilters, type SpendImport } from './spend-data.ts'

interface ImportsProps {
  readonly organization: OwnOrganization
  readonly filters: SpendFilters
}

export function SpendImports({ organization, filters }: ImportsProps): ReactNode {
  const { data, error } = useQuery(spendImportsQuery(organization.id, filters))
  if (data === undefined) return <Problem error={error} />
  if (data.length === 0) return null
  const mayRemove = mayDo(organization.role, 'importSpend')
  return (
    <section className="spend-part" aria-label="Imports">
      <h2>Imported files</h2>
      <div className="wide">
        <table className="list stacks spend">
          <TableHead columns={['File', 'Imported', 'Website', 'Days', { number: 'Rows' }, { number: 'Spent' }, null]} />
          <tbody>
            {data.map((each) => (
              <tr key={each.id}>
                <th scope="row">
                  <span className="value">{each.fileName === '' ? each.id : each.fileName}</span>
                </th>
                <td>
                  <Moment ms={each.importedAt} />
                </td>
                <td data-label="website">{each.website}</td>
                <td data-label="days">{importedDays(each)}</td>
                <td className="number" data-label="rows">
                  {shownCount(each.rows)}
                </td>
                <td className="number" data-label="spent">
                  {each.totals.map((total) => moneyText(total.amount, total)).join(', ')}
                </td>
                <td className="actions">{mayRemove && <SpendRemoval organization={organization.id} of={each} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function importedDays({ firstDay, lastDay }: SpendImport): string {
  return firstDay === lastDay ? firstDay : `${firstDay} to ${lastDay}`
}

interface RemovalProps {
  readonly organization: string
  readonly of: SpendImport
}

function SpendRemoval({ organization, of }: RemovalProps): ReactNode {
  const queries = useQueryClient()
  const [isAsking, setIsAsking] = useState(false)
  const remove = useMutation({
    mutationFn: () => sendSpendRemoval(organization, of.id),
    async onSuccess() {
      setIsAsking(false)
      await queries.invalidateQueries({ queryKey: spendKey(organization) })
    },
  })
  return (
    <>
      <Button
        size="xs"
        variant="default"
        loading={remove.isPending}
        disabled={remove.isSuccess}
        onClick={() => setIsAsking(true)}
      >
        {remove.isSuccess ? 'Removed' : 'Remove'}
      </Button>
      <Modal
        opened={isAsking}
        onClose={() => setIsAsking(false)}
        title="Remove this import?"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <p>What it says was spent no longer counts. What it had replaced counts again.</p>
        <Problem error={remove.error} />
        <Button data-autofocus loading={remove.isPending} onClick={() => remove.mutate()}>
          Remove
        </Button>
      </Modal>
    </>
  )
}
