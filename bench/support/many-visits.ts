/** Millions of visits of one website in 30 days, made by the engine itself and then counted by hour as the service does. */

import { rollUp } from '../../delivery/rollup/rollup.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, hourOf } from '../../domain/durations.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import { migrate } from '../../ports/facts/migrate.ts'

/** Visits of one statement. */
const AT_ONCE = 250_000
const DAYS = 30
/** Only for making them: the service has its own limit. */
const MEMORY_BYTES = 4 * 1_024 ** 3
/** Lines of Logs of the last minutes, with bodies as long as those of visits. */
const LINES = 1_000
/** Each visit of ten is not activated, of twenty one is copied, of a hundred one installs. */
const SHARE = { idle: 10, copied: 20, installs: 100 } as const

interface ManyVisits {
  /** Of the engine's data. */
  readonly folder: string
  readonly website: string
  readonly organization: string
  readonly visits: number
}

interface MadeVisits {
  readonly fillS: number
  readonly countS: number
  readonly hours: number
}

/** Resolves when all of it is stored and every hour that is over is counted. */
export async function makeVisits(wish: ManyVisits): Promise<MadeVisits> {
  const connection = await openChdb(wish.folder, { memoryBytes: MEMORY_BYTES })
  await migrate(connection)
  const facts = clickhouseFacts(connection, { nowMs: Date.now })
  try {
    const startedMs = performance.now()
    const hours = await fill(connection, wish, Date.now())
    const filledMs = performance.now()
    await rollUp({ facts, nowMs: Date.now, logger: console })
    return { fillS: (filledMs - startedMs) / 1_000, countS: (performance.now() - filledMs) / 1_000, hours }
  } finally {
    await facts.close()
  }
}

async function fill(connection: FactsConnection, wish: ManyVisits, nowMs: number): Promise<number> {
  const sinceMs = nowMs - DAYS * DAY_MS
  for (let from = 0; from < wish.visits; from += AT_ONCE) {
    const part = visitsSql(wish, { from, count: Math.min(AT_ONCE, wish.visits - from), sinceMs })
    for (const insert of [visitRows, activationRows, handoffRows, installRows])
      await connection.command(insert(wish, part))
  }
  await connection.command(lineRows(wish, nowMs))
  const hours = Math.floor((nowMs - hourOf(sinceMs)) / HOUR_MS) + 1
  await connection.command(`INSERT INTO hour_marks (website, hour, writer, made_at, row_version)
    SELECT '${wish.website}', fromUnixTimestamp64Milli(toInt64(${hourOf(sinceMs)} + number * ${HOUR_MS}), 'UTC'), 'made', now64(3), 1
    FROM numbers(${hours})`)
  return hours
}

interface Part {
  readonly from: number
  readonly count: number
  readonly sinceMs: number
}

/** Number, time and ID of each visit of a part: spread evenly over the days. */
function visitsSql({ visits }: ManyVisits, { from, count, sinceMs }: Part): string {
  return `SELECT number AS n, toInt64(${sinceMs} + intDiv(number * ${DAYS * DAY_MS}, ${visits})) AS ms,
    fromUnixTimestamp64Milli(ms, 'UTC') AS at,
    concat('01', leftPad(lower(hex(ms)), 12, '0'), leftPad(lower(hex(number)), 18, '0')) AS id
    FROM numbers(${from}, ${count})`
}

const PLACE = 'retention_days, log_topic, log_partition, log_offset, row_version'
const place = (topic: string): string => `395, '${topic}', 0, n, 1`
const one = (values: readonly string[], of: string): string =>
  `[${values.map((value) => `'${value}'`).join(', ')}][toUInt32(${of} % ${values.length}) + 1]`

function visitRows({ website, organization }: ManyVisits, part: string): string {
  return `INSERT INTO visits (website, visit_id, organization, issued_at, url_id, origin, page_url, referrer, source_referrer,
      utm_source, utm_medium, utm_campaign, identities, client, ${PLACE})
    SELECT '${website}', id, '${organization}', at, 'url_0123456789abcdef', 'https://made.example',
      concat('https://made.example/docs/page-', toString(cityHash64(n) % 60)), '',
      concat('https://host-', toString(cityHash64(n, 'r') % 3000), '.example/'),
      ${one(['', 'google', 'newsletter', 'github', 'forum'], "cityHash64(n, 's')")},
      ${one(['', 'cpc', 'email', 'referral'], "cityHash64(n, 'm')")},
      ${one(['', 'launch', 'spring', 'autumn'], "cityHash64(n, 'c')")},
      concat('{"ga4":{"G-ABC1234567":{"client_id":"', toString(n), '.1795254036"}}}'), '{"language":"de-DE"}',
      ${place('visits')} FROM (${part})`
}

function activationRows({ website }: ManyVisits, part: string): string {
  return `INSERT INTO activations (website, visit_id, effect, issued_at, effective_at, caused_by_visit_id, ${PLACE})
    SELECT '${website}', id, 'activated', at, at + toIntervalSecond(1), id, ${place('activations')}
    FROM (${part}) WHERE n % ${SHARE.idle} != 0`
}

function handoffRows({ website }: ManyVisits, part: string): string {
  return `INSERT INTO handoffs (website, visit_id, issued_at, asked_at, gpc, is_handoff_only, ${PLACE})
    SELECT '${website}', id, at, at + toIntervalMinute(1), false, false, ${place('handoffs')}
    FROM (${part}) WHERE n % ${SHARE.copied} = 1`
}

function installRows({ website, organization }: ManyVisits, part: string): string {
  return `INSERT INTO installs (website, event_id, organization, installation_id, event_type, received_at, install_path, platform,
      arch, resolution, selection_policy, candidate_count, visit_id, visit_issued_at, verdicts, deliveries, answer, ${PLACE})
    SELECT '${website}', lower(hex(MD5(toString(n)))), '${organization}', lower(hex(MD5(concat('i', toString(n))))),
      'install_completed', at + toIntervalMinute(10), 'cli', ${one(['linux', 'darwin'], 'n')}, 'x86_64', 'matched',
      'latest_visit', 1, id, at, '[]', '[]', '{}', ${place('installs')} FROM (${part}) WHERE n % ${SHARE.installs} = 1`
}

function lineRows({ website, organization }: ManyVisits, nowMs: number): string {
  return `INSERT INTO request_logs (website, received_at, id, organization, kind, duration_ms, method, path, status, code,
      origin, user_agent, address_hash, body, body_form, body_bytes, is_redacted, ${PLACE})
    SELECT '${website}', fromUnixTimestamp64Milli(toInt64(${nowMs} - intDiv(n * ${10 * MINUTE_MS}, ${LINES})), 'UTC') AS at,
      concat(leftPad(lower(hex(toUnixTimestamp64Milli(at))), 12, '0'), leftPad(lower(hex(n)), 16, '0')), '${organization}',
      ${one(['visit', 'activation', 'handoff', 'install'], 'n')}, 1.25, 'POST',
      ${one(['/v1/visits', '/v1/visits/activate', '/v1/handoffs', '/v1/events'], 'n')}, if(n % 17 = 0, 400, 200),
      if(n % 17 = 0, 'invalid_field', ''), 'https://made.example', 'bench/1', 'a1b2', repeat('x', 900), 'text', 900, false,
      ${place('visits')} FROM (SELECT number AS n FROM numbers(${LINES}))`
}
