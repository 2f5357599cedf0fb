/** The SQL texts behind the activity of an organisation. */

import { keysOf } from '../../../domain/typed-keys.ts'
import { ACTIVITY, type ActivityRow } from '../query-rows.ts'
import { at, MAX_KEYS, newestFirst, once, pageLimit, pageOf, report, withinPeriod } from '../query-parts.ts'

/** More than anybody asks for support as long as entries are kept. */
const MAX_ABOUT = 10_000

/** `since_ms` is inclusive, `until_ms` exclusive. A list is continued after its last entry by `before_ms` and `before_id`. */
type ActivityPageParams = {
  readonly organization: string
  readonly since_ms: number
  readonly until_ms: number
  readonly before_ms?: number
  readonly before_id?: string
  readonly type?: string
  readonly subject?: string
  readonly actor?: string
  readonly limit: number
}

const CONDITIONS: Readonly<Partial<Record<keyof ActivityPageParams, string>>> = {
  before_id: `(noticed_at, id) < (${at('before_ms')}, {before_id:String})`,
  type: 'type = {type:String}',
  subject: 'subject = {subject:String}',
  actor: 'actor = {actor:String}',
}

function activityConditions(params: ActivityPageParams): string {
  const own = keysOf(CONDITIONS).filter((name) => params[name] !== undefined)
  const scope = ['organization = {organization:String}', withinPeriod('noticed_at')]
  return [...scope, ...own.map((name) => CONDITIONS[name])].join(' AND ')
}

export const ACTIVITY_QUERIES = {
  /** Entries, newest first. */
  activityPage: pageOf<ActivityPageParams, ActivityRow>(
    (params) => `SELECT ${ACTIVITY.sql} FROM ${once('activity')} PREWHERE ${activityConditions(params)}
    ${newestFirst('noticed_at', 'id')} ${pageLimit()}`,
  ),

  /** Whether mails with these digests were ended; none for those about which nobody ever chose. */
  mailChoices: report<
    { readonly organization: string; readonly digests: readonly string[] },
    { readonly digest: string; readonly is_ended: boolean }
  >(`SELECT digest, is_ended FROM ${once('mail_choices')}
    PREWHERE organization = {organization:String} AND digest IN {digests:Array(String)} LIMIT ${MAX_KEYS}`),

  /** Entries about one subject in every organisation, also in those that it has left, newest first. */
  activityAbout: report<{ readonly subject: string; readonly type: string; readonly since_ms: number }, ActivityRow>(
    `SELECT ${ACTIVITY.sql} FROM ${once('activity')} PREWHERE subject = {subject:String} AND type = {type:String} AND noticed_at >= ${at('since_ms')}
    ${newestFirst('noticed_at', 'id')} LIMIT ${MAX_ABOUT}`,
  ),
} as const
