/** API keys: which programs may read, until when, and the end of one. */

import { Button, Modal, TextInput } from '@mantine/core'
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent, type ReactNode } from 'react'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { KEY_SCOPES, type KeyScope } from '../../domain/model.ts'
import { mayDo } from '../../domain/people/roles.ts'
import { ask, path } from '../data/ask.ts'
import { FORM_MODAL } from '../parts/modals.ts'
import { Snippet } from '../parts/copy.tsx'
import { Loading, Page, Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Moment } from '../parts/time.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import { Unsaved } from '../parts/unsaved.tsx'
import { addressOfPass, EndsIn, inDays, PassState, Revoke, USUAL_DAYS } from './passes.tsx'

type KeyRow = JsonFrom<'apiKeys'>['keys'][number]

const KEYS = '/api/organizations/:organization/keys'

/** What each scope opens, for whoever gives it. */
const SCOPE_WORDS: Readonly<Record<KeyScope, string>> = {
  figures: 'Figures: installs, visits and matches, counted by day, source, version and more',
  installs: 'Installs: each install event, with its machine and where it came from',
}

function keysQuery(organization: string) {
  return queryOptions({
    queryKey: ['keys', organization],
    queryFn: ({ signal }) =>
      ask<JsonFrom<'apiKeys'>>(path(KEYS, { organization }), { signal }).then(({ keys }) => keys),
  })
}

export function KeysPage(): ReactNode {
  const organization = useOrganization()
  return organization === null ? null : <Keys organization={organization} />
}

function Keys({ organization: { id, role } }: { readonly organization: OwnOrganization }): ReactNode {
  const { data, error } = useQuery(keysQuery(id))
  const [isMaking, setIsMaking] = useState(false)
  const mayWrite = mayDo(role, 'manageKeys')
  return (
    <Page
      title="API keys"
      question="Which programs may read the figures, and until when?"
      actions={mayWrite ? <Button onClick={() => setIsMaking(true)}>New key</Button> : undefined}
    >
      <Problem error={error} />
      {data === undefined ? (
        error === null && <Loading what="keys" />
      ) : data.length === 0 ? (
        <p>
          There is no key yet. With one, Grafana, a spreadsheet or a program of yours reads the numbers of these pages.
        </p>
      ) : (
        <KeyTable keys={data} organization={id} mayWrite={mayWrite} />
      )}
      <Modal opened={isMaking} onClose={() => setIsMaking(false)} title="A new key" {...FORM_MODAL}>
        <NewKey organization={id} />
      </Modal>
    </Page>
  )
}

interface KeyTableProps {
  readonly keys: readonly KeyRow[]
  readonly organization: string
  readonly mayWrite: boolean
}

function KeyTable({ keys, organization, mayWrite }: KeyTableProps): ReactNode {
  return (
    <div className="wide">
      <table className="list stacks">
        <TableHead columns={['Name', 'May read', 'Ends', 'KeyState', ...(mayWrite ? [null] : [])]} />
        <tbody>
          {keys.map((key) => (
            <tr key={`${key.namespace}/${key.name}`}>
              <th scope="row" translate="no">
                {key.displayName}
              </th>
              <td>{key.scopes.join(', ')}</td>
              <td>
                <Moment ms={key.expiresAt} />
              </td>
              <td>
                <PassState pass={key} />
              </td>
              {mayWrite && (
                <td className="actions">
                  <Revoke
                    name={key.displayName}
                    address={addressOfPass(KEYS, organization, key)}
                    queryKey={['keys', organization]}
                  >
                    Programs that use it read nothing any more, within a second. It cannot be taken back: make a new key
                    instead.
                  </Revoke>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function NewKey({ organization }: { readonly organization: string }): ReactNode {
  const queries = useQueryClient()
  const [displayName, setDisplayName] = useState('')
  const [scopes, setScopes] = useState<readonly KeyScope[]>(['figures'])
  const [days, setDays] = useState(USUAL_DAYS)
  const make = useMutation({
    mutationFn: () => {
      const body = { displayName, scopes, expiresAt: inDays(days) }
      return ask<JsonFrom<'createApiKey', 201>>(path(KEYS, { organization }), { method: 'POST', body })
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys', organization] }),
  })
  if (make.data !== undefined) return <ShownKey text={make.data.key} />
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    make.mutate()
  }
  const toggle = (scope: KeyScope): void =>
    setScopes(KEY_SCOPES.filter((each) => (each === scope ? !scopes.includes(each) : scopes.includes(each))))
  return (
    <form className="form" onSubmit={submit} noValidate>
      <Unsaved isChanged={displayName !== ''} />
      <TextInput
        label="Name"
        description="What reads with it, so that you know later which one to revoke."
        data-autofocus
        value={displayName}
        onChange={({ currentTarget }) => setDisplayName(currentTarget.value)}
      />
      <fieldset className="group">
        <legend>May read</legend>
        {KEY_SCOPES.map((scope) => (
          <label key={scope} className="check">
            <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} />{' '}
            {SCOPE_WORDS[scope]}
          </label>
        ))}
      </fieldset>
      <EndsIn days={days} onChange={setDays} />
      <Problem error={make.error} />
      <Button type="submit" loading={make.isPending}>
        Make the key
      </Button>
    </form>
  )
}

function ShownKey({ text }: { readonly text: string }): ReactNode {
  return (
    <div role="status">
      <p>Give this key to the program now: it is never shown again. Whoever has it can read what it may read.</p>
      <Snippet what="the key" text={text} />
    </div>
  )
}
