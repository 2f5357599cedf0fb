/**
 * For each alert of the chart series on which it fires, and such on which it must not. `OURS` stands for the labels of the
 * installation; values are promtool's, one a minute for two hours: `0+1x120` grows by one, `5x120` stays.
 */

type Series = readonly (readonly [series: string, values: string])[]

export interface AlertCase {
  readonly alert: string
  readonly fires: Series
  /** Each by itself. */
  readonly quiet: readonly Series[]
  /** Of the alert, without its name and severity. */
  readonly labels: Readonly<Record<string, string>>
  /** It fires if something is missing: another installation's must not stand in for it. */
  readonly isAbsence?: true
}

const TARGET = { job: 'w-whence-metrics', namespace: 'acme' }
const GROWS = '0+60x120'
const STAYS = '5x120'

const collection: readonly AlertCase[] = [
  {
    alert: 'WhenceApiDown',
    fires: [['whence_info{program="delivery",OURS}', '1x120']],
    quiet: [
      [['whence_info{program="api",OURS}', '1x120']],
      [['whence_info{program="embedded",OURS}', '1x120']],
    ],
    labels: TARGET,
    isAbsence: true,
  },
  {
    alert: 'WhenceRefusing',
    fires: [['whence_requests_total{status="503",route="/v1/visits",OURS}', GROWS]],
    quiet: [
      [
        ['whence_requests_total{status="503",OURS}', STAYS],
        ['whence_requests_total{status="200",OURS}', GROWS],
      ],
    ],
    labels: {},
  },
  {
    alert: 'WhenceLogRefuses',
    // Two pods, which are seen to refuse in turns.
    fires: [
      ['whence_event_log_refusing{pod="p",why="late",OURS}', '1 _ _x118 1'],
      ['whence_event_log_refusing{pod="q",why="late",OURS}', '_ _ 1x118'],
    ],
    quiet: [[['whence_event_log_refusing{pod="p",why="late",OURS}', '1 _x119']]],
    labels: { why: 'late' },
  },
  gauge('WhenceSpooling', 'whence_spool_oldest_seconds{pod="p",OURS}', 301, 300),
  {
    alert: 'WhenceSpoolFilling',
    fires: spool(81),
    quiet: [spool(80)],
    labels: {},
  },
  {
    alert: 'WhenceServerErrors',
    fires: [['whence_requests_total{status="500",OURS}', GROWS]],
    quiet: [
      [
        ['whence_requests_total{status="500",OURS}', STAYS],
        ['whence_requests_total{status="503",OURS}', GROWS],
        ['whence_requests_total{status="404",OURS}', GROWS],
      ],
    ],
    labels: {},
  },
  { alert: 'WhenceSlow', fires: latency(98), quiet: [latency(100)], labels: {} },
  counter('WhenceRecordsShed', 'whence_records_shed_total{OURS}', GROWS, STAYS),
  counter('WhenceReceiptsLookedUp', 'whence_fact_lookups_total{OURS}', '0+360x120', '0+240x120'),
]

const facts: readonly AlertCase[] = [
  gauge('WhenceFactsBehind', 'whence_facts_lag_seconds{OURS}', 301, 300),
  {
    alert: 'WhenceFactsStopped',
    fires: factsAndRequests(GROWS, STAYS),
    quiet: [factsAndRequests(GROWS, GROWS), factsAndRequests(STAYS, STAYS)],
    labels: {},
  },
  {
    alert: 'WhenceFactsStopped',
    fires: [['whence_requests_total{status="200",OURS}', GROWS]],
    quiet: [],
    labels: {},
  },
  {
    ...gauge('WhenceHeldByNewerRelease', 'whence_held_partitions{topic="visits",role="state",OURS}', 1, 0),
    labels: { topic: 'visits', role: 'state' },
  },
  unreadable('whence_unreadable_entries_total', { topic: 'visits', role: 'dispatch' }),
  unreadable('whence_unreadable_rows_total', { table: 'installs' }),
]

const deliveries: readonly AlertCase[] = [
  {
    alert: 'WhenceDeliveriesFailing',
    fires: states('failed', '0+6x120'),
    quiet: [states('failed', '0+3x120'), states('failed', STAYS)],
    labels: { provider: 'ga4' },
  },
  {
    alert: 'WhenceDeliveriesExpired',
    fires: states('expired', '0+1x120'),
    quiet: [states('expired', STAYS)],
    labels: { provider: 'ga4' },
  },
  {
    ...gauge('WhenceDestinationsTroubled', 'whence_delivery_troubled_destinations{provider="meta",OURS}', 1, 0),
    labels: { provider: 'meta' },
  },
  {
    alert: 'WhenceStreamsFailing',
    fires: streams({ Delivering: 4, Failing: 4, NotVerified: 1 }),
    quiet: [streams({ Delivering: 5, Failing: 4 }), streams({ Failing: 2, NotVerified: 1 }), []],
    labels: {},
  },
  {
    alert: 'WhenceStreamRecordsTooLarge',
    fires: [['whence_stream_dropped_records_total{reason="too_large",OURS}', '0x100 1x20']],
    quiet: [
      [['whence_stream_dropped_records_total{reason="too_large",OURS}', '0x30 2x90']],
      [['whence_stream_dropped_records_total{reason="overflow",OURS}', GROWS]],
    ],
    labels: {},
  },
  {
    alert: 'WhenceLogRenewed',
    fires: [['whence_stream_news_total{type="stream_log_renewed",OURS}', '_x100 1x20']],
    quiet: [
      [['whence_stream_news_total{type="stream_log_renewed",OURS}', '0x30 2x90']],
      [['whence_stream_news_total{type="stream_failing",OURS}', GROWS]],
    ],
    labels: {},
  },
  {
    alert: 'WhenceRestarting',
    fires: [['process_start_time_seconds{pod="p",OURS}', '1x60 2x14 3x14 4x14 5x20']],
    quiet: [[['process_start_time_seconds{pod="p",OURS}', '1x60 2x14 3x14 4x40']]],
    labels: { ...TARGET, pod: 'p' },
  },
]

const operator: readonly AlertCase[] = [
  {
    alert: 'WhenceOperatorDown',
    fires: [],
    quiet: [operatorSeries(1)],
    labels: { ...TARGET, program: 'operator' },
    isAbsence: true,
  },
  { alert: 'WhenceOperatorDown', fires: operatorSeries(0), quiet: [], labels: {} },
  {
    alert: 'WhenceOperatorRefused',
    fires: [['whence_operator_writes_total{what="ConfigMap",result="refused",OURS}', GROWS]],
    quiet: [
      [
        ['whence_operator_writes_total{what="ConfigMap",result="refused",OURS}', STAYS],
        ['whence_operator_writes_total{what="ConfigMap",result="written",OURS}', GROWS],
      ],
    ],
    labels: { what: 'ConfigMap' },
  },
  gauge('WhenceCatalogNotPublished', 'whence_operator_unpublished_seconds{OURS}', 61, 60),
  {
    ...gauge('WhenceNamespaceUnreadable', 'whence_operator_namespace_unreadable{watched="team-a",OURS}', 1, 0),
    labels: { watched: 'team-a' },
  },
  {
    ...gauge('WhenceObjectsCut', 'whence_operator_cut_objects{watched="team-a",OURS}', 1, 0),
    labels: { watched: 'team-a' },
  },
  gauge('WhenceWebsitesHeld', 'whence_operator_held_websites{OURS}', 1, 0),
  gauge('WhenceResourcesRefused', 'whence_operator_refused_objects{OURS}', 1, 0),
  { alert: 'WhenceWorkerMissing', fires: workers(10), quiet: [workers(11)], labels: {} },
  { alert: 'WhenceWorkerMissing', fires: [], quiet: [workers(11)], labels: { ...TARGET, program: 'delivery' }, isAbsence: true },
]

const people: readonly AlertCase[] = [
  {
    alert: 'WhenceDashboardDown',
    fires: [['whence_info{program="api",OURS}', '1x120']],
    quiet: [[['whence_info{program="dashboard",OURS}', '1x120']]],
    labels: { ...TARGET, program: 'dashboard' },
    isAbsence: true,
  },
  {
    alert: 'WhenceDashboardErrors',
    fires: shareOf('whence_dashboard_requests_total', 'status', { 500: 6, 200: 94 }),
    quiet: [shareOf('whence_dashboard_requests_total', 'status', { 503: 5, 200: 85, 429: 10 })],
    labels: {},
  },
  {
    alert: 'WhencePaymentsUnavailable',
    fires: shareOf('whence_payment_requests_total', 'outcome', { unavailable: 30, failed: 21, ok: 49 }),
    quiet: [shareOf('whence_payment_requests_total', 'outcome', { unavailable: 50, ok: 50 }), []],
    labels: {},
  },
  {
    alert: 'WhenceMailsFailing',
    fires: shareOf('whence_mails_total', 'outcome', { later: 51, sent: 49 }),
    quiet: [shareOf('whence_mails_total', 'outcome', { refused: 50, sent: 50 }), []],
    labels: {},
  },
  {
    alert: 'WhenceWebhooksFailing',
    fires: shareOf('whence_webhook_attempts_total', 'state', { retrying: 40, failed: 11, delivered: 49, dropped: 500 }),
    quiet: [shareOf('whence_webhook_attempts_total', 'state', { retrying: 50, delivered: 50, dropped: 500 }), []],
    labels: {},
  },
]

export const CASES: readonly AlertCase[] = [...collection, ...facts, ...deliveries, ...operator, ...people]

function gauge(alert: string, series: string, fires: number, quiet: number): AlertCase {
  return { alert, fires: [[series, `${fires}x120`]], quiet: [[[series, `${quiet}x120`]], []], labels: {} }
}

function counter(alert: string, series: string, fires: string, quiet: string): AlertCase {
  return { alert, fires: [[series, fires]], quiet: [[[series, quiet]], []], labels: {} }
}

/** Of these so many are counted each minute. */
function shareOf(metric: string, label: string, counts: Readonly<Record<string, number>>): Series {
  return Object.entries(counts).map(([value, count]) => [`${metric}{${label}="${value}",OURS}`, `0+${count}x120`])
}

function spool(percent: number): Series {
  return [
    ['whence_spool_bytes{pod="p",OURS}', `${percent}x120`],
    ['whence_spool_max_bytes{pod="p",OURS}', '100x120'],
  ]
}

/** Of a hundred requests a minute so many take no longer than half a second. */
function latency(quick: number): Series {
  const upTo = (le: string, each: number) => [`whence_request_seconds_bucket{le="${le}",OURS}`, `0+${each}x120`] as const
  return [upTo('0.25', 50), upTo('0.5', quick), upTo('1', 100), upTo('+Inf', 100)]
}

function factsAndRequests(requests: string, rows: string): Series {
  return [
    ['whence_requests_total{status="200",OURS}', requests],
    ['whence_facts_rows_total{table="visits",OURS}', rows],
  ]
}

/** A counter that appears with its first entry must fire, and one that grew long ago must not. */
function unreadable(metric: string, own: Readonly<Record<string, string>>): AlertCase {
  const labels = Object.entries(own).map(([name, value]) => `${name}="${value}"`)
  const series = `${metric}{${[...labels, 'OURS'].join()}}`
  const quiet = [[[series, '0x30 2x90']], []] as const
  return { alert: 'WhenceUnreadable', fires: [[series, '_x100 1x20']], quiet, labels: { ...TARGET, ...own } }
}

/** A hundred deliveries a minute go well beside. */
function states(status: string, values: string): Series {
  return [
    [`whence_delivery_states_total{provider="ga4",status="${status}",OURS}`, values],
    ['whence_delivery_states_total{provider="ga4",status="delivered",OURS}', '0+100x120'],
    ['whence_delivery_states_total{provider="meta",status="delivered",OURS}', '0+100x120'],
  ]
}

function streams(counts: Readonly<Record<string, number>>): Series {
  return Object.entries(counts).map(([state, count]) => [`whence_streams{state="${state}",OURS}`, `${count}x120`])
}

function operatorSeries(leading: number): Series {
  return [
    ['whence_info{program="operator",OURS}', '1x120'],
    ['whence_operator_leader{pod="a",OURS}', `${leading}x120`],
    ['whence_operator_leader{pod="b",OURS}', '0x120'],
  ]
}

function workers(components: number): Series {
  return Array.from({ length: components }, (_, number) => [
    `whence_info{program="delivery",app_kubernetes_io_component="c${number}",OURS}`,
    '1x120',
  ])
}
