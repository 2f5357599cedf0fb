/**
 * The one table of event webhooks: when each is sent, with what data, and an example. Receivers rely on it: fields may be added,
 * but none is ever removed. Data are IDs and reasons of this service, and names of sources and campaigns; never identifiers of visitors
 * and machines, addresses or referring pages.
 */

import { ALERT_ENDS, ALERT_KINDS, ARRIVALS } from '../alerts/alert.ts'
import { EVENT_TYPES, WEBHOOK_EVENT_TYPES, type WebhookMessageType } from '../model.ts'
import { PROVIDER_IDS } from '../providers/index.ts'
import { objectSchema, type JsonSchema } from '../schema/json-schema.ts'
import { WEEKLY_DATA, WEEKLY_EXAMPLE } from './weekly-payload.ts'

/** The body of a call, as JSON. */
export interface WebhookPayload {
  readonly type: WebhookMessageType
  /** RFC 3339: when it happened, not when it is sent. */
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

interface WebhookMessageRow {
  /** Completes the sentence "It is sent when". */
  readonly when: string
  readonly data: JsonSchema
  readonly example: Readonly<Record<string, unknown>>
}

const textData = (description: string): JsonSchema => ({ type: 'string', description })
const flagData = (description: string): JsonSchema => ({ type: 'boolean', description })
const one = (description: string, of: readonly string[]): JsonSchema => ({ type: 'string', description, enum: of })

const website = textData('ID of the website.')
const eventId = textData('ID of the install event, as the hook sent it.')
const INSTALL = {
  website,
  eventId,
  eventType: one('Which event it is.', EVENT_TYPES),
  installPath: textData('ID of the install path; absent if there is none.'),
  ci: flagData('Whether it ran in CI.'),
  container: flagData('Whether it ran in a container.'),
  place: textData('Where the command stood, as the hook said; empty if it said nothing.'),
  version: textData('Version of the product, as the hook said; empty if it said nothing.'),
}
const INSTALL_REQUIRED = ['website', 'eventId', 'eventType', 'ci', 'container', 'place', 'version']
const DELIVERY = {
  website,
  eventId,
  destination: textData('ID of the destination.'),
  provider: one('The provider of the destination.', PROVIDER_IDS),
  reason: textData('Why, as docs/deliveries.md lists the reasons.'),
  attempts: { type: 'integer', description: 'Attempts that were made.', minimum: 0 },
} as const satisfies Record<string, JsonSchema>
const numberData = (description: string): JsonSchema => ({ type: 'integer', description })
const ALERT = {
  alert: textData('ID of the alert, the same when it is opened and closed.'),
  rule: one('What was judged, as `spec.alerts` of the Organization calls it.', ALERT_KINDS),
  of: one('What does not arrive; absent for other rules.', ARRIVALS),
  website: textData('ID of the website; absent if it is about the organisation.'),
  period: textData("The day of the organisation's time zone that opened it, or the month: 2026-11-27, 2026-11."),
  value: numberData('What was measured; a rate in per cent.'),
  expected: numberData('What is usual; of deliveries and quotas the whole.'),
  threshold: numberData('From which value on it is opened, in the unit of the rule.'),
  message: textData('The same in words.'),
}
const ALERT_REQUIRED = ['alert', 'rule', 'period', 'value', 'expected', 'threshold', 'message']
const ACME_ALERT = {
  alert: '7a1d0c52e86f4b39a5c1d20f9b8e7a64',
  rule: 'InstallsDown',
  website: 'acme-dev',
  period: '2026-11-27',
  value: 12,
  expected: 40,
  threshold: 50,
  message: 'acme-dev: 12 installs on 27 November 2026; the same weekday usually has 40.',
}
const ACME = { website: 'acme-dev', eventId: '2f0c6f6c-6a3e-4f5e-9c57-0d6d7a3f6f11' }
const ACME_INSTALL = {
  ...ACME,
  eventType: 'install_completed',
  installPath: 'cli',
  ci: false,
  container: false,
  place: '',
  version: '1.4.0',
}
const ACME_DELIVERY = { ...ACME, destination: 'acme-ga4', provider: 'ga4' }

export const WEBHOOK_MESSAGES: { readonly [T in WebhookMessageType]: WebhookMessageRow } = {
  'install.matched': {
    when: 'an install event is tied to a visit',
    data: objectSchema(
      {
        ...INSTALL,
        policy: textData('How the visit was chosen.'),
        visitId: textData('ID of the visit.'),
        visitAt: textData('When the visit began, RFC 3339; absent if that is not known.'),
        source: textData(
          'Where the visit came from, by name; empty if it was direct. Absent, as are the next three, if the visit is not known.',
        ),
        medium: textData('How it came, for example `referral` or `cpc`; empty if there is none.'),
        campaign: textData('Its campaign; empty if there is none.'),
        landingPath: textData('Path of the page that the visitor landed on, without query; empty if it is not known.'),
      },
      [...INSTALL_REQUIRED, 'policy', 'visitId'],
    ),
    example: {
      ...ACME_INSTALL,
      policy: 'latest_visit',
      visitId: '0313f1a2b3c4d5e6f708192a3b4c5d6e',
      visitAt: '2026-11-22T05:12:00.000Z',
      source: 'news.ycombinator.com',
      medium: 'referral',
      campaign: '',
      landingPath: '/docs/install',
    },
  },
  'install.unmatched': {
    when: 'an install event cannot be tied to a visit',
    data: objectSchema({ ...INSTALL, reason: textData('The reason; docs/tasks/unmatched.md lists them.') }, [
      ...INSTALL_REQUIRED,
      'reason',
    ]),
    example: { ...ACME_INSTALL, reason: 'no_receipt' },
  },
  'delivery.failed': {
    when: 'a delivery to a provider has failed for good; it can be replayed',
    data: objectSchema(DELIVERY, Object.keys(DELIVERY)),
    example: { ...ACME_DELIVERY, reason: 'refused', attempts: 1 },
  },
  'delivery.expired': {
    when: 'a delivery could not be made while the provider would still accept it',
    data: objectSchema(DELIVERY, Object.keys(DELIVERY)),
    example: { ...ACME_DELIVERY, reason: 'deadline_passed', attempts: 14 },
  },
  'destination.paused': {
    when: 'a provider refuses the credentials of a destination, which has paused itself',
    data: objectSchema({ website, destination: DELIVERY.destination }, ['website', 'destination']),
    example: { website: 'acme-dev', destination: 'acme-ga4' },
  },
  'quota.reached': {
    when: '80 % of the tracked events of the month are used, and when all of them are',
    data: objectSchema(
      {
        month: textData('The month in UTC, for example 2026-11.'),
        percent: { type: 'integer', description: '80 or 100.', minimum: 80, maximum: 100 },
      },
      ['month', 'percent'],
    ),
    example: { month: '2026-11', percent: 80 },
  },
  'limit.reached': {
    when: 'a rate limit or a limit of the plan is reached',
    data: objectSchema(
      {
        of: one('`rate`: it ends with time. `plan`: a larger plan lifts it.', ['rate', 'plan']),
        limit: textData('Name of the limit, as docs/limits.md lists them.'),
        website: textData('ID of the website; absent if it is a limit of the organisation.'),
      },
      ['of', 'limit'],
    ),
    example: { of: 'rate', limit: 'events', website: 'acme-dev' },
  },
  'plan.changed': {
    when: 'the organisation has another plan',
    data: objectSchema({ plan: textData('The plan since this change.') }, ['plan']),
    example: { plan: 'Enterprise' },
  },
  'member.joined': {
    when: 'a person accepts an invitation',
    data: objectSchema({ member: textData('Name of the Member; no address.') }, ['member']),
    example: { member: 'm-0123456789abcdef' },
  },
  'stream.failing': {
    when: 'the receiver of a log stream does not accept a batch; at most once an hour',
    data: objectSchema({ stream: textData('Namespace and name of the LogStream.') }, ['stream']),
    example: { stream: 'default/acme-logs' },
  },
  'summary.weekly': {
    when: 'a week has ended in the time zone of the organisation: on Monday at 9',
    data: WEEKLY_DATA,
    example: WEEKLY_EXAMPLE,
  },
  'website.not_accepted': {
    when: 'an object of a website is not in force, or not as it was written',
    data: objectSchema({ website: textData('Name of the Website.'), message: textData('What is wrong with it.') }, [
      'website',
      'message',
    ]),
    example: { website: 'acme-dev', message: 'spec.primaryOrigin: another website has this origin' },
  },
  'alert.opened': {
    when: 'an alert is opened: a day had far fewer installs than usual, for example ([alerts](alerts.md))',
    data: objectSchema(ALERT, ALERT_REQUIRED),
    example: ACME_ALERT,
  },
  'alert.closed': {
    when: 'an alert is closed',
    data: objectSchema({ ...ALERT, end: one('Why it was closed.', ALERT_ENDS) }, [...ALERT_REQUIRED, 'end']),
    example: {
      ...ACME_ALERT,
      value: 44,
      message: 'acme-dev: No longer: fewer installs than usual (since 27 November 2026).',
      end: 'usual',
    },
  },
  test: {
    when: 'a person requests a test',
    data: objectSchema({ message: textData('A text that says that nothing happened.') }, ['message']),
    example: { message: 'A test of this webhook. Nothing happened.' },
  },
}

/** Types that every webhook may get, tests included. */
const MESSAGE_TYPES: readonly WebhookMessageType[] = [...WEBHOOK_EVENT_TYPES, 'test']

/** JSON Schema 2020-12 of everything that is posted: one definition for each type. */
export function webhookSchemaDocument(): object {
  const definitions = MESSAGE_TYPES.map((type) => [type, payloadSchema(type)] as const)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'What event webhooks post',
    oneOf: MESSAGE_TYPES.map((type) => ({ $ref: `#/$defs/${type}` })),
    $defs: Object.fromEntries(definitions),
  }
}

/** Other fields may come with later releases: receivers must ignore them. */
function payloadSchema(type: WebhookMessageType): object {
  const { data, when, example } = WEBHOOK_MESSAGES[type]
  const timestamp = { type: 'string', format: 'date-time', description: 'When it happened.' }
  return {
    type: 'object',
    description: `Sent when ${when}.`,
    required: ['type', 'timestamp', 'data'],
    properties: { type: { const: type }, timestamp, data },
    examples: [{ type, timestamp: '2026-11-22T06:00:00.000Z', data: example }],
  }
}
