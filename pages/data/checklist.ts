/** What is set up, as the traffic of 30 days proves; polled every few seconds until everything is. */

import { queryOptions } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ask, path, query } from './ask.ts'

export type Checklist = JsonFrom<'checklist'>

/** As in the address. */
interface WebsiteFilter {
  readonly website?: string
}

export function websiteFilterOf({ website }: Readonly<Record<string, unknown>>): WebsiteFilter {
  return typeof website === 'string' && website !== '' ? { website } : {}
}

const AGAIN_MS = 3_000

/** Counts all websites if none is named. */
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

export type TestMark = JsonFrom<'createTestMark'>

export function askForTestMark(organization: string, website: string): Promise<TestMark> {
  const names = { organization, website }
  return ask<TestMark>(path('/api/organizations/:organization/websites/:website/test', names), {
    method: 'POST',
    body: {},
  })
}
