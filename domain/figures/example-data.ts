/** How made-up traffic is told from real traffic, so that pages say when they count it. */

import { DAY_MS } from '../durations.ts'

export const EXAMPLE_DATA = {
  /** Of every page. */
  origin: 'https://made-up.example',
  /** The IDs of events and installations begin with it. */
  idPrefix: 'made-up-',
  /** Type of the entry in the activity that says when it was filled in; its subject is the website. */
  activityType: 'example_data',
} as const

/** When the newest made-up traffic ends that was filled in at this moment: with the day before, in UTC. */
export function exampleEndMs(filledInMs: number): number {
  return Math.floor(filledInMs / DAY_MS) * DAY_MS
}
