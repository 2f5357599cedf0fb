/**
 * What the end-to-end tests need of the service, however many processes it is: its address, its example website, and
 * ways to wait, to look, and to move its clock. To add another wiring, implement `System` and its start.
 */

import type { Explanation } from '../../../bin/tools/explain/explanation.ts'
import type { RecordedHit } from '../../../stand-ins/ga4.ts'
import type { Gate } from './gate.ts'

export interface System {
  /** The only connection to the service, for browsers and hooks: every connection goes through this gate. */
  readonly gate: Gate
  /** Opens the gate after it was shut. */
  readonly reopen: () => Promise<void>
  readonly website: string
  /** The website's GA4 measurement ID. */
  readonly measurementId: string
  /** The address of the example page. */
  readonly pageUrl: string
  /** The install command that the page shows, without a token. */
  readonly command: string
  /** Resolves when everything that was answered is in ClickHouse and at the providers. */
  readonly drain: () => Promise<void>
  /** What `whencectl explain --json` says of an event. */
  readonly explain: (eventId: string) => Promise<Explanation>
  /** The output of `whence` for these words; fails if its exit status is not 0. */
  readonly tool: (...words: readonly string[]) => Promise<string>
  /** What the stand-in for GA4 received. */
  readonly ga4Hits: () => readonly RecordedHit[]
  /** Rows in ClickHouse, by kind. */
  readonly counts: () => Promise<Readonly<Record<string, number>>>
  /** Moves the service's clock; browsers and hooks keep the real one. */
  readonly advance: (ms: number) => void
  readonly stop: () => Promise<void>
}

export interface SystemOptions {
  readonly plan: 'Free' | 'Standard'
  /** True: the plan's tracked events of this month are used up. */
  readonly isOverQuota?: boolean
}

export type StartSystem = (options: SystemOptions) => Promise<System>
