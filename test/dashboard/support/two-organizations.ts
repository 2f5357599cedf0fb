/** The dashboard over real facts with two organisations: `acme` with a Member and a Viewer, `other` with an Owner. */

import { decodeRecord, type ActivityRecord } from '../../../domain/records.ts'
import { openTestFacts, type TestFacts } from '../../support/facts.ts'
import { organizationOf, startStage, websiteOf, type Stage, type Told } from './stage.ts'

const HOUR_MS = 3_600_000

export const ROOT = '/api/organizations'
/** Whose most facts of these tests are. */
export const MINE = { website: 'acme-one', organization: 'acme' }

export interface TwoOrganizations {
  readonly facts: TestFacts
  readonly stage: Stage
  /** Cookies of a Member and a Viewer of `acme`, and of the Owner of `other`. */
  readonly anna: string
  readonly vera: string
  readonly bert: string
  /** As anna about `acme`, unless told otherwise. */
  readonly get: (path: string, cookies?: string, organization?: string) => Promise<Told>
  /** Entries of this type, in the order they were written. */
  readonly activity: (type: string) => Promise<readonly ActivityRecord[]>
  readonly stop: () => Promise<void>
}

/** `websites` belong to `acme`; `other` has `other-one`. */
export async function startTwoOrganizations(websites: readonly string[]): Promise<TwoOrganizations> {
  const manifests = [
    organizationOf('acme', { members: { 'anna@acme.dev': 'Member', 'vera@acme.dev': 'Viewer' } }),
    ...websites.map((id) => websiteOf(id, 'acme')),
    `---\n${organizationOf('other', { members: { 'bert@other.dev': 'Owner' } })}`,
    websiteOf('other-one', 'other'),
  ].join('')
  const facts = await openTestFacts()
  const stage = await startStage({ manifests, facts })
  const anna = await stage.signIn('anna@acme.dev')
  return {
    facts,
    stage,
    anna,
    vera: await stage.signIn('vera@acme.dev'),
    bert: await stage.signIn('bert@other.dev'),
    get: (path, cookies = anna, organization = 'acme') =>
      stage.ask('GET', `${ROOT}/${organization}/${path}`, { cookies }),
    async activity(type) {
      const entries = await stage.eventLog.read('activity', 0, 1_000)
      return entries.map(({ value }) => decodeRecord<ActivityRecord>(value)).filter((entry) => entry.type === type)
    },
    async stop() {
      await stage.stop()
      await facts.close()
    },
  }
}

/** Within the last hour; a larger index is later. */
export function recently(index: number): number {
  return Date.now() - HOUR_MS + index * 1_000
}
