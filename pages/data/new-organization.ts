/** Makes an organisation with its first website, for a person who signs up; and where somebody who joins one begins. */

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ApiProblem, ask, path } from './ask.ts'
import type { Checklist } from './checklist.ts'

export interface WantedOrganization {
  readonly displayName: string
  readonly timeZone: string
}

export function makeOrganization(wanted: WantedOrganization): Promise<JsonFrom<'signUp'>> {
  return ask('/api/organizations', { method: 'POST', body: wanted })
}

const TRIES = 10
const AGAIN_MS = 500

/** An organisation that has just been made is known everywhere within a second or two. */
export async function makeFirstWebsite(organization: string, primaryOrigin: string): Promise<void> {
  const address = path('/api/organizations/:organization/resources/:kind', { organization, kind: 'Website' })
  for (let tries = 1; ; tries += 1) {
    try {
      await ask(address, { method: 'POST', body: { spec: { primaryOrigin } } })
      return
    } catch (error) {
      if (tries === TRIES || !(error instanceof ApiProblem) || error.code !== 'not_found') throw error
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }
}

/** The step with which the set-up is done: what comes after it can wait. */
const LAST_STEP = 'install_matched'

/** What is open: the checklist until an install was matched, else the overview. */
export async function landingPage(organization: string): Promise<'checklist' | 'overview'> {
  const address = path('/api/organizations/:organization/checklist', { organization })
  const { lines } = await ask<Checklist>(address)
  return lines.find(({ id }) => id === LAST_STEP)?.isDone === true ? 'overview' : 'checklist'
}
