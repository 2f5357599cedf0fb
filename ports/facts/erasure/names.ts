/**
 * Finds the rows that name something erased. By digest only, so that a restore, which knows nothing else, can delete the same
 * rows. The digest includes organisation and website, so that an equal ID of another website or owner is not affected.
 */

import { keysOf } from '../../../domain/typed-keys.ts'
import type { OwnedWebsite } from '../../../domain/model.ts'
import { ownerKey } from '../../../domain/records.ts'
import { FACT_TABLES, TABLE_COLUMNS, type FactTable } from '../columns.ts'

/** Something that was erased: an installation, a visit or an event. */
export interface ErasedName extends OwnedWebsite {
  /** SHA-256 of organisation, line feed, website, line feed and ID, as 64 hexadecimal digits. */
  readonly digest: string
  /** `referenceHash` of the ID: lines of Logs are found by it. */
  readonly reference: number
}

/** Without its organisation, what says that all of it was erased. */
export const ERASED_WHOLE = { website: '', digest: '', reference: 0 } as const

export function isErasedWhole({ website, digest }: ErasedName): boolean {
  return website === '' && digest === ''
}

/** Number of rows by table. */
export type ErasedRows = Readonly<Partial<Record<FactTable, number>>>

/** Most names of one call: a statement holds each of them. */
export const MAX_NAMES = 2_000

const DIGEST = /^[0-9a-f]{64}$/
/** Texts that could be an ID within a longer text. */
const WORDS = '[A-Za-z0-9_.:-]{8,128}'

/** For each table the columns that hold IDs, and texts that may mention one. */
const NAMED_IN: Readonly<Partial<Record<FactTable, { readonly ids?: readonly string[]; readonly text?: string }>>> = {
  visits: { ids: ['visit_id'] },
  activations: { ids: ['visit_id', 'caused_by_visit_id'] },
  handoffs: { ids: ['visit_id'] },
  installs: { ids: ['event_id', 'installation_id', 'visit_id'] },
  install_decisions: { ids: ['event_id', 'installation_id', 'visit_id'] },
  counted_installs: { ids: ['event_id', 'installation_id', 'visit_id'] },
  deliveries: { ids: ['event_id'] },
  attempts: { ids: ['event_id'] },
  webhook_attempts: { text: 'body' },
  activity: { text: "concat(subject, ' ', message)" },
  // The role then computes the result again.
  decision_replay_results: { text: 'result' },
}

/** Tables with rows that can name something erased, in the order in which they are erased. */
export const NAMING_TABLES: readonly FactTable[] = [...keysOf(NAMED_IN), 'request_logs', 'poison_records']

/** Tables that say whose their rows are, but the list of what was erased. */
export const OWNED_TABLES: readonly FactTable[] = FACT_TABLES.filter(
  (table) => table !== 'erasures' && 'organization' in TABLE_COLUMNS[table].columns,
)

/** The condition for rows of a table that name one of these. @throws RangeError if a digest is malformed */
export function conditionNaming(table: FactTable, names: readonly ErasedName[]): string {
  const byOwner = Map.groupBy(names, ownerKey)
  const parts = [...byOwner.values()].map((own) => `(${conditionFor(table, own)})`)
  return parts.length === 0 ? '0' : parts.join(' OR ')
}

/** `names` are of one website and owner; there is at least one. */
function conditionFor(table: FactTable, names: readonly ErasedName[]): string {
  const { organization = '', website = '' } = names[0] ?? {}
  const digests = `(${names.map(({ digest }) => textLiteral(hexDigest(digest))).join(', ')})`
  const isOne = (id: string): string =>
    `lower(hex(SHA256(concat(${textLiteral(`${organization}\n${website}\n`)}, ${id})))) IN ${digests}`
  const mentions = (text: string): string =>
    `arrayExists(word -> ${isOne('word')}, extractAll(${text}, ${textLiteral(WORDS)}))`
  // An entry that could not be read has no website.
  if (table === 'poison_records') return mentions('value')
  const own = `organization = ${textLiteral(organization)} AND website = ${textLiteral(website)}`
  if (table === 'request_logs') {
    const references = names.map(({ reference }) => String(reference)).join(', ')
    // A line that names nothing in the usual way may still mention something in its body.
    return `${own} AND if(notEmpty(refs), hasAny(refs, [${references}]), ${mentions('body')})`
  }
  const { ids = [], text } = NAMED_IN[table] ?? {}
  const found = [...ids.map(isOne), ...(text === undefined ? [] : [mentions(text)])]
  return `${own} AND (${found.join(' OR ')})`
}

function hexDigest(digest: string): string {
  if (!DIGEST.test(digest)) throw new RangeError('not the digest of something erased')
  return digest
}

/** A text as a literal of the engine. */
export function textLiteral(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`
}
