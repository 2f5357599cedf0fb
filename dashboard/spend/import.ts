/** Imports a file of ad spend: reads and checks it as it arrives, and then puts all of it on the event log. */

import { refuse, refuseField, type Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { ROLE_ACTIONS } from '../../domain/people/roles.ts'
import { SpendReader } from '../../domain/spend/spend-file.ts'
import { spendForm } from '../../domain/spend/spend-form.ts'
import { SpendEntries } from '../../domain/spend/spend-import.ts'
import type { SpendImportRecord } from '../../domain/spend/spend-records.ts'
import { spendDays } from '../../domain/spend/spend-row.ts'
import { presentOf } from '../../domain/typed-keys.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import type { HitCounter } from '../../ports/hot-state/hot-state.ts'
import type { OnceVerbs } from '../../ports/hot-state/session-verbs.ts'
import { timeOrderedId, type Randomness } from '../../runtime/random.ts'
import type { Upload } from '../api/route.ts'
import type { NoteActivity } from '../events/activity.ts'
import type { StillAllowed } from '../events/event-streams.ts'
import { answerCreated, type CallTo } from '../http/call.ts'
import { refuseByRate, spendHit } from '../http/limits.ts'
import type { ReadScope } from '../reads/scope.ts'
import { untilStored } from '../reads/until-stored.ts'
import { shownImport, spendActivity } from './imports.ts'

export interface ImportParts {
  readonly scope: ReadScope
  readonly hotState: HitCounter & OnceVerbs
  readonly eventLog: LogWriter
  readonly randomness: Randomness
  readonly noteActivity: NoteActivity
  readonly stillAllowed: StillAllowed
}

/** Rejects like `EventLog.append`: the file may then be imported or not, and never in part. */
export function importSpend(parts: ImportParts) {
  const { hotState, eventLog, randomness, noteActivity, stillAllowed } = parts
  return parts.scope(async ({ organization, websites, run }, call: CallTo<'importSpend'>) => {
    const website = websites.find(({ id }) => id === call.params.website)
    if (website === undefined) return refuse('not_found')
    const limited = await refuseByRate([spendHit(organization.id)], hotState)
    if (limited !== null) return limited
    const { source, currency, file = '' } = call.query
    const read = spendForm(call.query.columns ?? '', presentOf({ source, currency }))
    if (!read.ok) return refuseField(`/${read.wrong}`, read.message)
    const reader = new SpendReader(read.form, spendDays(call.nowMs, website.retentionDays))
    const own = {
      id: timeOrderedId(randomness, call.nowMs),
      organization: organization.id,
      website: website.id,
      importedAtMs: call.nowMs,
      importedBy: call.session.person,
      fileName: file,
      retentionDays: website.retentionDays,
    }
    const outcome = await onlyOne(hotState, { key: `spend/${organization.id}`, owner: call.requestId }, async () => {
      const entries = new SpendEntries(own)
      const refused = await readUpload(call.body, reader, entries)
      if (refused !== null) return refused
      // The file may have taken its time, and nothing of it counts yet.
      if (!(await stillAllowed(call, ROLE_ACTIONS.importSpend.least))) return refuse('forbidden')
      const { record, entries: all } = entries.finish()
      for (const entry of all) await eventLog.append('spend', [entry])
      return record
    })
    if (outcome.kind === 'refused') return outcome
    await noteActivity({
      ...spendActivity(outcome, 'spend_imported'),
      actor: own.importedBy,
      logRetentionDays: organization.logRetentionDays,
    })
    await untilStored(async () => (await run('spendImportById', { id: own.id })).length > 0, {
      pausesMs: PAUSES_MS,
      signal: call.signal,
    })
    return answerCreated(shownImport(outcome))
  })
}

/** Null if all of it is right. */
async function readUpload(upload: Upload, reader: SpendReader, entries: SpendEntries): Promise<Refusal | null> {
  const refused = await upload.read((bytes) => {
    for (const row of reader.read(bytes)) entries.add(row)
    return !reader.isGivenUp
  })
  if (refused !== null) return refused
  for (const row of reader.end()) entries.add(row)
  return reader.problems.length === 0 ? null : refuse('invalid_csv', { problems: reader.problems })
}

/** Does the work unless somebody else does such work; if this process dies, others may begin after a while. */
async function onlyOne(
  hotState: OnceVerbs,
  { key, owner }: { readonly key: string; readonly owner: string },
  work: () => Promise<SpendImportRecord | Refusal>,
): Promise<SpendImportRecord | Refusal> {
  if (!(await hotState.putOnce(key, owner, LIMITS.spendLeaseMs))) return refuse('import_running')
  try {
    return await work()
  } finally {
    // It ends by itself if the store is away.
    const isOwn = await hotState.readOnce(key).then(
      (found) => found === owner,
      () => false,
    )
    if (isOwn) await hotState.takeOnce(key).catch(() => null)
  }
}

/** Before each look: a file has many entries. */
const PAUSES_MS = [100, 100, 100, 200, 300, 500] as const
