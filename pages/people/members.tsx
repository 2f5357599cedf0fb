/** Members: who belongs to the organisation, open invitations, and groups of the identity provider. */

import { Button, Modal, Select, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent, type ReactNode } from 'react'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask } from '../data/ask.ts'
import { membersPath, membersQuery, type MemberRow } from '../data/members.ts'
import { MEMBER_ROLES, type MemberRole } from '../../domain/model.ts'
import { ROLE_ACTIONS } from '../../domain/people/roles.ts'
import { FORM_MODAL, MODAL } from '../parts/modals.ts'
import { Snippet } from '../parts/copy.tsx'
import { CsvLink, csvTime } from '../parts/csv-link.tsx'
import { Loading, Page, Problem } from '../parts/states.tsx'
import { problemWords } from '../resources/words.ts'
import { TableHead } from '../parts/table-head.tsx'
import { Moment } from '../parts/time.tsx'
import { Unsaved } from '../parts/unsaved.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'

export function MembersPage(): ReactNode {
  const organization = useOrganization()
  return organization === null ? null : <Members organization={organization} />
}

function Members({ organization }: { readonly organization: OwnOrganization }): ReactNode {
  const { data, error } = useQuery(membersQuery(organization.id))
  const [isInviting, setIsInviting] = useState(false)
  const mayWrite = organization.role === 'Owner' || organization.role === 'Admin'
  return (
    <Page
      title="Members"
      question="Who belongs here, and what may they do?"
      actions={mayWrite ? <Button onClick={() => setIsInviting(true)}>Invite</Button> : undefined}
    >
      <Problem error={error} />
      {data === undefined ? (
        error === null && <Loading what="members" />
      ) : (
        <MemberTable members={data} organization={organization.id} mayWrite={mayWrite} />
      )}
      <Roles />
      <Modal opened={isInviting} onClose={() => setIsInviting(false)} title="Invite a person" {...FORM_MODAL}>
        <InviteForm organization={organization.id} onDone={() => setIsInviting(false)} />
      </Modal>
    </Page>
  )
}

/** What each role adds to those below it, the lowest first. */
function Roles(): ReactNode {
  return (
    <section aria-labelledby="roles">
      <h2 id="roles">What each role may do</h2>
      <dl className="facts">
        {MEMBER_ROLES.toReversed().map((role, place) => (
          <div key={role} className="fact">
            <dt>{role}</dt>
            <dd>
              {place > 0 && 'also '}
              {rightsOf(role)}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

/** Without those of the roles below it. */
function rightsOf(role: MemberRole): string {
  const rights = Object.values(ROLE_ACTIONS).filter(({ least }) => least === role)
  return rights.map(({ what }) => what).join('; ')
}

interface TableProps {
  readonly members: readonly MemberRow[]
  readonly organization: string
  readonly mayWrite: boolean
}

function MemberTable({ members, organization, mayWrite }: TableProps): ReactNode {
  return (
    <div className="wide">
      <table className="list stacks">
        <TableHead columns={['Who', 'Role', 'State', ...(mayWrite ? [null] : [])]} />
        <tbody>
          {members.map((member) => (
            <tr key={member.name}>
              <th scope="row" translate="no">
                {nameOf(member)}
              </th>
              <td>{mayWrite ? <RoleChoice member={member} organization={organization} /> : member.role}</td>
              <td>{stateOf(member)}</td>
              {mayWrite && (
                <td className="actions">
                  <MemberActions member={member} organization={organization} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      <CsvLink
        name="members"
        head={['who', 'role', 'state']}
        rows={members.map((member) => [nameOf(member), member.role, stateText(member)])}
      />
    </div>
  )
}

function stateText({ kind, invitedUntil, outOfForce }: MemberRow): string {
  if (outOfForce !== undefined) return `not active: ${problemWords(outOfForce).words}`
  if (invitedUntil !== undefined) return `invited until ${csvTime(invitedUntil)}`
  return kind === 'group' ? 'everybody in it' : 'has joined'
}

function nameOf({ kind, email, group, name }: MemberRow): string {
  return kind === 'group' ? `Group ${group ?? name}` : (email ?? name)
}

function stateOf({ kind, invitedUntil, outOfForce }: MemberRow): ReactNode {
  if (outOfForce !== undefined) {
    const { words, fix } = problemWords(outOfForce)
    return (
      <>
        <span className="status bad">Not active{words !== '' && `: ${words}`}</span>
        {fix !== '' && <span className="also">{fix}</span>}
      </>
    )
  }
  if (invitedUntil !== undefined) {
    return (
      <>
        invited until <Moment ms={invitedUntil} />
      </>
    )
  }
  return kind === 'group' ? 'everybody in it' : 'has joined'
}

interface MemberProps {
  readonly member: MemberRow
  readonly organization: string
}

function RoleChoice({ member, organization }: MemberProps): ReactNode {
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: (role: MemberRole) => ask(membersPath(organization, member.name), { method: 'PUT', body: { role } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['members', organization] }),
  })
  return (
    <>
      <Select
        className="role"
        aria-label={`Role of ${nameOf(member)}`}
        size="xs"
        allowDeselect={false}
        data={MEMBER_ROLES}
        value={member.role}
        disabled={change.isPending}
        onChange={(role) => {
          if (role !== null) change.mutate(role)
        }}
      />
      <Problem error={change.error} />
    </>
  )
}

function MemberActions({ member, organization }: MemberProps): ReactNode {
  const queries = useQueryClient()
  const [isAsking, setIsAsking] = useState(false)
  const address = membersPath(organization, member.name)
  const onSuccess = () => queries.invalidateQueries({ queryKey: ['members', organization] })
  const remove = useMutation({ mutationFn: () => ask(address, { method: 'DELETE' }), onSuccess })
  const again = useMutation({
    mutationFn: () => ask<JsonFrom<'inviteAgain'>>(`${address}/invitation`, { method: 'POST', body: {} }),
    onSuccess,
  })
  const who = nameOf(member)
  return (
    <>
      {member.invitedUntil !== undefined && member.outOfForce === undefined && (
        <Button size="xs" variant="default" loading={again.isPending} onClick={() => again.mutate()}>
          Send again
        </Button>
      )}
      <Button size="xs" variant="default" aria-label={`Remove ${who}`} onClick={() => setIsAsking(true)}>
        Remove
      </Button>
      {again.data !== undefined && again.data.link === undefined && <span role="status">Sent again</span>}
      <Problem error={again.error} />
      <Modal
        opened={again.data?.link !== undefined}
        onClose={() => again.reset()}
        title={`The invitation of ${who}`}
        {...MODAL}
      >
        <LinkToPassOn link={again.data?.link ?? ''} />
      </Modal>
      <Modal opened={isAsking} onClose={() => setIsAsking(false)} title={`Remove ${who}?`} {...MODAL}>
        <p>They lose access on every page within a second. What they have set up stays.</p>
        <Problem error={remove.error} />
        <Button color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
          Remove
        </Button>
      </Modal>
    </>
  )
}

/** Of a service that sends no mail. */
function LinkToPassOn({ link }: { readonly link: string }): ReactNode {
  return (
    <>
      <p>
        This service sends no mail. Pass this link on to the person: it works once, within seven days, for whoever signs
        in with that address. It is not shown again.
      </p>
      <Snippet what="the link" text={link} />
    </>
  )
}

function InviteForm({
  organization,
  onDone,
}: {
  readonly organization: string
  readonly onDone: () => void
}): ReactNode {
  const queries = useQueryClient()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<MemberRole>('Member')
  const invite = useMutation({
    mutationFn: () => ask<JsonFrom<'invite'>>(membersPath(organization), { method: 'POST', body: { email, role } }),
    async onSuccess({ link }) {
      await queries.invalidateQueries({ queryKey: ['members', organization] })
      if (link === undefined) onDone()
    },
  })
  const send = (event: FormEvent): void => {
    event.preventDefault()
    invite.mutate()
  }
  if (invite.data?.link !== undefined) return <LinkToPassOn link={invite.data.link} />
  return (
    <form onSubmit={send} className="form">
      <Unsaved isChanged={email !== ''} />
      <TextInput
        label="E-mail address"
        type="email"
        required
        data-autofocus
        value={email}
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
      />
      <Select
        label="Role"
        description={`May ${role === 'Viewer' ? '' : 'also '}${rightsOf(role)}.`}
        allowDeselect={false}
        data={MEMBER_ROLES}
        value={role}
        onChange={(value) => setRole(value ?? 'Member')}
      />
      <Problem error={invite.error} />
      <Button type="submit" loading={invite.isPending}>
        Send the invitation
      </Button>
    </form>
  )
}
