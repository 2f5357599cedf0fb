/** The organisation of the pages: the one in the address. */

import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { meQuery, type Me } from '../data/queries.ts'

export type OwnOrganization = Me['organizations'][number]

/** Null while loading, and if the person does not belong to it. */
export function useOrganization(): OwnOrganization | null {
  const { organization } = useParams({ strict: false })
  const { data } = useQuery({ ...meQuery, enabled: organization !== undefined })
  return data?.organizations.find(({ id }) => id === organization) ?? null
}

/** Shown only to people who belong to several. */
export function OrganizationChoice(): ReactNode {
  const navigate = useNavigate()
  const current = useOrganization()
  const { data } = useQuery({ ...meQuery, enabled: current !== null })
  const organizations = data?.organizations ?? []
  if (current === null) return null
  if (organizations.length < 2)
    return (
      <bdi className="organization" title={current.displayName}>
        {current.displayName}
      </bdi>
    )
  return (
    <Select
      aria-label="Organisation"
      size="xs"
      allowDeselect={false}
      data={organizations.map(({ id, displayName }) => ({ value: id, label: displayName }))}
      value={current.id}
      onChange={(id) => {
        if (id !== null) void navigate({ to: '/app/$organization/overview', params: { organization: id } })
      }}
    />
  )
}
