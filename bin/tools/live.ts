/** What the tools use: the stores, and what only a running process can answer. */

import type { MarkRequest } from '../../delivery/rollup/mark-hours.ts'
import type { SendTestReport } from '../../delivery/tools/send-test.ts'
import type { OrganizationErasure } from '../../delivery/tools/erase-organization.ts'
import type { ErasureReport } from '../../delivery/tools/erase.ts'
import type { ErasurePlan, ErasureSubject } from '../../delivery/tools/plan-erasure.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { StagedBackup } from '../wiring/backup.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { PeopleTools } from '../wiring/people/dashboard.ts'

/** The stores. */
export interface ToolStores {
  readonly run: Facts['run']
  readonly read: EventLog['read']
  readonly append: EventLog['append']
  /** Marks hours to be counted again; resolves with their number. */
  readonly markHours: (request: MarkRequest) => Promise<number>
}

interface ToolErasing {
  /** What an erasure would remove; changes nothing. */
  readonly planErasure: (subject: ErasureSubject) => Promise<ErasurePlan>
  readonly erase: (subject: ErasureSubject) => Promise<ErasureReport>
  /** The same for everything about an organisation. */
  readonly planOrganizationErasure: (organization: string) => Promise<OrganizationErasure>
  readonly eraseOrganization: (organization: string) => Promise<OrganizationErasure>
}

export interface ToolBackend extends ToolStores, ToolErasing {}

/** What a running process offers besides its stores. */
export interface LiveTools extends ToolBackend, PeopleTools {
  readonly sendTest: (request: SendTestRequest) => Promise<SendTestResult>
  /** Copies the stores into a folder, which the caller removes after use. */
  readonly stageBackup: () => Promise<StagedBackup>
}

export interface SendTestRequest {
  readonly destination: string
  /** Needed if destinations of several websites have the name. */
  readonly website: string | null
  readonly isLive: boolean
}

export type SendTestResult =
  | { readonly kind: 'report'; readonly report: SendTestReport }
  /** There is no such destination; the message completes `whencectl send-test: …`. */
  | { readonly kind: 'unknown'; readonly message: string }
