/** Puts the dashboard's API together: each route of the table with its handler. */

import { keysOf } from '../domain/typed-keys.ts'
import type { LogWriter } from '../ports/event-log/event-log.ts'
import type { FactsReader } from '../ports/facts/facts.ts'
import type { ClaimRules } from '../domain/people/oidc-claims.ts'
import { KEY_IDS } from '../domain/receipt.ts'
import type { BILLING_ROUTES } from './api/billing.ts'
import { ROUTES, type RouteName } from './api/routes.ts'
import { billingHandlers, type BillingParts } from './billing/handlers.ts'
import { configurationHandlers } from './configuration/handlers.ts'
import type { SignUpParts } from './configuration/sign-up.ts'
import type { WriteParts } from './configuration/write.ts'
import { createActivity } from './events/activity.ts'
import { notingSignIns } from './events/notes.ts'
import { createStillAllowed, type EventStreams } from './events/event-streams.ts'
import { asCalled, scopeOf, type Call, type Handler } from './http/call.ts'
import { noteRefused } from './http/refused.ts'
import { createServe, type Serve, type ServeParts } from './http/serve.ts'
import { redeliveryHandlers } from './installs/handlers.ts'
import type { ReplayDeliveries } from './installs/replay.ts'
import { createCursors } from './logs/cursor.ts'
import type { ReferenceKeys } from './logs/reference.ts'
import { logWatchHandlers } from './logs/handlers.ts'
import { peopleHandlers } from './people/handlers.ts'
import type { InvitationParts } from './people/invitations.ts'
import type { Mailer } from './mail/mailer.ts'
import type { DashboardMetrics } from './http/metrics.ts'
import { createPost, type Post } from './mail/post.ts'
import { writeInvitation } from './people/invitation-letter.ts'
import { readingHandlers, type ReadingHandlers, type ReadingParts } from './reading.ts'
import { createReadScope } from './reads/scope.ts'
import type { PageClock } from './reads/walk-back.ts'
import { replayHandlers } from './replays/handlers.ts'
import { createSessions } from './sessions/sessions.ts'
import { writeSignIn } from './sign-in/mail-link.ts'
import { createReadGroups } from './sign-in/read-groups.ts'
import { signInHandlers, type SignInParts } from './sign-in/handlers.ts'
import { writeSupport } from './support/letter.ts'
import { streamHandlers } from './streams/handlers.ts'
import { supportHandlers } from './support/handlers.ts'
import { webhookHandlers } from './webhooks/handlers.ts'

type Shared = Omit<ServeParts, 'routes' | 'sessions' | 'onLimit' | 'metrics'> &
  Omit<SignInParts, 'sessions' | 'hash' | 'rules' | 'personId' | 'countSignIn' | 'countGroupsMissing'> &
  Omit<InvitationParts, 'hash' | 'onRemoved' | 'changeHash' | 'noteActivity' | 'hasBilling'> &
  Omit<WriteParts, 'changeHash' | 'noteActivity'> &
  Omit<SignUpParts, 'memberHash' | 'changeHash'> & {
    readonly facts: FactsReader
  }

/** What billing needs in addition to the parts of all areas. */
export type DashboardBilling = Pick<BillingParts, 'payments' | 'plans' | 'offers' | 'pageHosts' | 'webhookSecrets'>

/** Absent in an installation without billing. */
type Handlers = Readonly<Record<Exclude<RouteName, keyof typeof BILLING_ROUTES>, Handler>> &
  Readonly<Partial<Record<keyof typeof BILLING_ROUTES, Handler>>>

interface DashboardParts extends Shared {
  readonly claimRules: ClaimRules
  /** How long a page of a list takes to read. */
  readonly clock: PageClock
  /** Close them before the server. */
  readonly streams: EventStreams
  readonly metrics: DashboardMetrics
  readonly eventLog: LogWriter
  readonly replayDeliveries: ReplayDeliveries
  /** Runs them in a thread of their own; absent: in this one. */
  readonly readingHandlers?: (parts: ReadingParts) => ReadingHandlers
  /** Of this service. */
  readonly version: string
  /** Whether this service offers support. */
  readonly hasSupport: boolean
  /** Null: this service has no billing. */
  readonly billing: DashboardBilling | null
  /** Keyed hashes, one key for each use. */
  readonly keys: ReferenceKeys & {
    readonly cursorMac: (text: string) => string
    /** `p_` and 16 hex digits. */
    readonly personId: (email: string) => string
    /** Whether a master secret of this key ID is in use. */
    readonly hasKey: (keyId: number) => boolean
    readonly memberHash: (text: string) => string
    readonly signInHash: (text: string) => string
    readonly changeHash: (text: string) => string
  }
}

interface LetterPostParts extends Pick<
  DashboardParts,
  'hotState' | 'directory' | 'writer' | 'baseUrl' | 'nowMs' | 'logger'
> {
  readonly keys: Pick<DashboardParts['keys'], 'signInHash'>
  readonly mailer: Mailer
  /** If sign-up is open, anyone may sign in first. */
  readonly isOpen: boolean
  /** The service's name as people read it. */
  readonly brand: string
  /** Address for support requests; null if there is none. */
  readonly supportMail: string | null
}

/** Writes and sends the letters on the log. */
export function createLetterPost(parts: LetterPostParts): Post {
  const writers = {
    'sign-in': writeSignIn({ ...parts, hash: parts.keys.signInHash }),
    invitation: writeInvitation(parts),
    support: writeSupport(parts),
  }
  return createPost({ ...parts, writers })
}

export function createDashboard(parts: DashboardParts): Serve {
  const { personId, changeHash } = parts.keys
  const noteActivity = createActivity(parts)
  const readGroups = createReadGroups({ ...parts, rules: parts.claimRules })
  const sessions = notingSignIns(createSessions({ ...parts, personId, readGroups }), {
    ...parts,
    personId,
    noteActivity,
  })
  const websitesOf = (call: Call) => parts.directory.websites(scopeOf(call).organization.id)
  const scope = createReadScope({ ...parts, websitesOf })
  const reading = {
    ...parts,
    scope,
    cursors: createCursors(parts.keys.cursorMac),
    keyIds: KEY_IDS.filter(parts.keys.hasKey),
    stillAllowed: createStillAllowed({ ...parts, sessions }),
    noteActivity,
  }
  const { billing } = parts
  const handlers: Handlers = {
    ...(parts.readingHandlers ?? readingHandlers)(reading),
    ...asCalled({
      ...signInHandlers({
        ...parts,
        ...parts.keys,
        sessions,
        hash: parts.keys.signInHash,
        rules: parts.claimRules,
        countSignIn: parts.metrics.signIn,
        countGroupsMissing: parts.metrics.groupsMissing,
      }),
      ...peopleHandlers({
        ...parts,
        hash: parts.keys.memberHash,
        onRemoved: parts.pins.forget,
        changeHash,
        noteActivity,
        hasBilling: billing !== null,
      }),
      ...configurationHandlers({ ...parts, ...parts.keys, noteActivity }),
      ...logWatchHandlers(reading),
      ...redeliveryHandlers(reading),
      ...replayHandlers({ ...reading, sessions }),
      ...streamHandlers({ ...reading, changeHash }),
      ...webhookHandlers({ ...reading, changeHash }),
      ...supportHandlers({
        ...reading,
        hash: parts.keys.signInHash,
        outbox: parts.hasSupport ? parts.outbox : null,
      }),
    }),
    ...(billing === null ? {} : asCalled(billingHandlers({ ...parts, ...billing }))),
  }
  const routes = keysOf(handlers).flatMap((name) => {
    const handle = handlers[name]
    return handle === undefined ? [] : [{ row: ROUTES[name], handle }]
  })
  return createServe({ ...parts, routes, sessions, onLimit: noteRefused(parts) })
}
