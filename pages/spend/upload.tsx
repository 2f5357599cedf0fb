/** The form that imports a file of ad spend. */

import { Button, Select, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent, type ReactNode } from 'react'

import { SPEND_COLUMNS } from '../../domain/spend/spend-form.ts'
import { websitesQuery } from '../data/overview.ts'
import { shownCount } from '../parts/numbers.tsx'
import { Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Unsaved } from '../parts/unsaved.tsx'
import { problemsOf, sendSpend, spendKey, type FileProblem, type SpendUpload } from './spend-data.ts'

interface UploadDraft extends Omit<SpendUpload, 'website' | 'file'> {
  /** Null: the first one. */
  readonly website: string | null
  readonly file: File | null
}

const EMPTY_DRAFT: UploadDraft = { website: null, file: null, columns: '', source: '', currency: '' }

export function SpendForm({ organization }: { readonly organization: string }): ReactNode {
  const queries = useQueryClient()
  const { data: websites = [] } = useQuery(websitesQuery(organization))
  const [draft, setDraft] = useState(EMPTY_DRAFT)
  const change = (part: Partial<UploadDraft>): void => setDraft({ ...draft, ...part })
  const website = draft.website ?? websites[0]?.id ?? null
  const send = useMutation({
    mutationFn: (upload: SpendUpload) => sendSpend(organization, upload),
    onSuccess: () => queries.invalidateQueries({ queryKey: spendKey(organization) }),
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const { file, ...form } = draft
    if (website !== null && file !== null) send.mutate({ ...form, website, file })
  }
  return (
    <section className="spend-part">
      <h2>Import a file</h2>
      <p>
        A CSV file with the columns {SPEND_COLUMNS.map(codeWithComma)}. Each day and source in it replaces what was
        imported of them before. If anything in the file is wrong, nothing of it is imported.
      </p>
      <form onSubmit={submit} className="spend-form">
        <Unsaved isChanged={draft.file !== null && !send.isSuccess} />
        {websites.length > 1 && (
          <Select
            label="Spent for"
            allowDeselect={false}
            data={websites.map(({ id, displayName }) => ({ value: id, label: displayName }))}
            value={website}
            onChange={(to) => change({ website: to })}
          />
        )}
        <label className="file">
          File
          <input
            type="file"
            accept=".csv,text/csv"
            required
            onChange={({ target }) => {
              send.reset()
              change({ file: target.files?.[0] ?? null })
            }}
          />
        </label>
        <OtherColumns draft={draft} onChange={change} />
        <Button type="submit" loading={send.isPending} disabled={website === null || draft.file === null}>
          Import
        </Button>
        <span role="status" className="sent">
          {send.isSuccess && `${shownCount(send.data.rows)} rows were imported.`}
        </span>
      </form>
      <Problem error={send.error} />
      <FileProblems problems={problemsOf(send.error)} />
    </section>
  )
}

function codeWithComma(name: string, index: number): ReactNode {
  return (
    <span key={name}>
      {index > 0 && ', '}
      <code translate="no">{name}</code>
    </span>
  )
}

interface OtherColumnsProps {
  readonly draft: UploadDraft
  readonly onChange: (part: Partial<UploadDraft>) => void
}

const OTHERS = [
  {
    name: 'columns',
    label: 'Names of columns',
    description: 'Of those that differ',
    placeholder: 'day=Day,campaign=Campaign,amount=Cost',
  },
  { name: 'source', label: 'Source of all rows', description: 'In place of a column', placeholder: 'google' },
  { name: 'currency', label: 'Currency of all rows', description: 'In place of a column', placeholder: 'EUR' },
] as const

function OtherColumns({ draft, onChange }: OtherColumnsProps): ReactNode {
  return (
    <details>
      <summary>The columns have other names, or a column is missing</summary>
      <div className="spend-form">
        {OTHERS.map(({ name, ...words }) => (
          <TextInput
            key={name}
            {...words}
            value={draft[name]}
            onChange={({ currentTarget }) => onChange({ [name]: currentTarget.value })}
          />
        ))}
      </div>
    </details>
  )
}

function FileProblems({ problems }: { readonly problems: readonly FileProblem[] }): ReactNode {
  if (problems.length === 0) return null
  return (
    <table className="list" aria-label="Problems of the file">
      <TableHead columns={[{ number: 'Line' }, 'Column', 'Problem']} />
      <tbody>
        {problems.map(({ line, column, message }) => (
          <tr key={`${line} ${column}`}>
            <td className="number">{line}</td>
            <td>{column}</td>
            <td>{message}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
