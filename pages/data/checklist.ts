/** What is set up, as the traffic of 30 days proves it; asked again every few seconds until all of it is. */

import { queryOptions } from '@tanstack/react-query'

import { ask, path, query } from './ask.ts'

export interface ChecklistLine {
  readonly id: string
  readonly isDone: boolean
  readonly count: number
}

interface Checklist {
  /** Unix ms. */
  readonly since: number
  readonly lines: readonly ChecklistLine[]
}

/** As it stands in the address. */
export interface WebsiteFilter {
  readonly website?: string
}

export function websiteFilterOf({ website }: Readonly<Record<string, unknown>>): WebsiteFilter {
  return typeof website === 'string' && website !== '' ? { website } : {}
}

const AGAIN_MS = 3_000

/** Everything counts if no website is named. */
export function checklistQuery(organization: string, { website }: WebsiteFilter = {}) {
  return queryOptions({
    queryKey: ['checklist', organization, website ?? null],
    queryFn: ({ signal }) =>
      ask<Checklist>(path('/api/organizations/:organization/checklist', { organization }) + query({ website }), {
        signal,
      }),
    refetchInterval: ({ state }) => (state.data?.lines.every(({ isDone }) => isDone) === true ? false : AGAIN_MS),
  })
}

/** Whether somebody who comes in is still about to set things up: nothing was matched yet. */
export function isNew({ lines }: Checklist): boolean {
  return lines.some(({ id, isDone }) => id === 'install_matched' && !isDone)
}
