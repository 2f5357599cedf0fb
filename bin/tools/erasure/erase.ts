/** `whencectl erase`: erases the data of one person from the facts permanently, after showing what would be erased. */

import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'

import type { RememberedErasure } from '../../../delivery/tools/erase.ts'
import type { ErasedIds, ErasurePlan, ErasureSubject } from '../../../delivery/tools/plan-erasure.ts'
import type { ErasedRows } from '../../../ports/facts/erasure/names.ts'
import { LIMITS } from '../../../domain/limits.ts'
import { visitIdIn } from '../../../domain/receipt.ts'
import { DAY_MS } from '../../../domain/durations.ts'
import type { CommandArguments } from '../../../runtime/settings/settings.ts'
import type { StoreSettings } from '../../../runtime/settings/settings-of.ts'
import { complain, print } from '../../terminal/output.ts'
import { openBackend, type ToolRun } from '../backend.ts'
import { ERASURES_FILE } from './erasures-file.ts'

const ID = /^[A-Za-z0-9_.:-]{1,128}$/
const VISIT_ID = /^[0-9a-f]{32}$/
const EXIT_USAGE = 2
const CONFIRMATION = 'erase'

const AFTERWARDS = `Not reached from here: the event log keeps what was sent for ${LIMITS.eventLogKeepMs / DAY_MS} days (failed deliveries for
${LIMITS.deadLetterKeepMs / DAY_MS} days), deliveries on their way end within their deadline, backups of before keep it until you delete them.
`

export async function eraseTool(run: ToolRun): Promise<number> {
  const organization = run.flags.get('--organization')
  if (organization !== undefined && !run.flags.has('--website')) return eraseWhole(run, organization)
  const subject = subjectOf(run)
  if (subject === null) return EXIT_USAGE
  const backend = await openBackend(run.settings)
  try {
    showPlan(await backend.planErasure(subject))
    if (run.flags.has('--dry-run')) return 0
    if (!run.flags.has('--yes') && !(await isConfirmed())) {
      complain('Nothing was erased.\n')
      return 1
    }
    const { plan, remembered } = await backend.erase(subject)
    keep(run.settings, remembered)
    print(`Erased: ${sumOf(plan.ids)}. It stays erased: nothing of it is written again.\n${AFTERWARDS}`)
    return 0
  } finally {
    await backend.close()
  }
}

const WHOLE_AFTERWARDS = `Receipts, tokens and answers of before prove themselves for up to ${LIMITS.answerMemoryDays} days more: give the name to nobody else until then.
`

/** Everything about an organisation. */
async function eraseWhole(run: ToolRun, organization: string): Promise<number> {
  const named = ['--installation', '--visit', '--receipt'].find((flag) => run.flags.has(flag))
  if (named !== undefined) {
    complain(`whencectl erase: ${named} needs --website; without it everything about the organisation is erased\n`)
    return EXIT_USAGE
  }
  const backend = await openBackend(run.settings)
  try {
    const { rows } = await backend.planOrganizationErasure(organization)
    print(`${organization}, everything about it\n`)
    showRows(rows)
    if (run.flags.has('--dry-run')) return 0
    if (!run.flags.has('--yes') && !(await isConfirmed())) {
      complain('Nothing was erased.\n')
      return 1
    }
    const { remembered } = await backend.eraseOrganization(organization)
    keep(run.settings, remembered)
    print(`Erased: everything about ${organization}. It stays erased.\n${AFTERWARDS}${WHOLE_AFTERWARDS}`)
    return 0
  } finally {
    await backend.close()
  }
}

/** Null, with a message on standard error, if nobody is named. */
function subjectOf({ flags }: CommandArguments): ErasureSubject | null {
  const website = flags.get('--website') ?? ''
  const installationIds = splitIds(flags.get('--installation'))
  const receipts = splitIds(flags.get('--receipt'))
  const visitIds = [...splitIds(flags.get('--visit')), ...receipts.map((text) => visitIdIn(text) ?? '')]
  const refuse = (words: string): null => {
    complain(`whencectl erase: ${words}\n`)
    return null
  }
  if (website === '') return refuse('name the website: --website ID')
  if (installationIds.length + visitIds.length === 0) return refuse('name an --installation, a --visit or a --receipt')
  if (!installationIds.every((id) => ID.test(id))) return refuse('--installation takes the ID that the hook reported')
  if (!visitIds.every((id) => VISIT_ID.test(id)))
    return refuse('--visit takes 32 hexadecimal digits, --receipt a receipt or token as in a marker')
  return { website, organization: flags.get('--organization') ?? null, installationIds, visitIds }
}

function splitIds(text: string | undefined): readonly string[] {
  return (text ?? '').split(',').filter((each) => each !== '')
}

function showPlan(plan: ErasurePlan): void {
  print(`${plan.website} of ${plan.organization}: ${sumOf(plan.ids)}\n`)
  showRows(plan.extent.rows)
  const { otherInstallations, sharedVisitIds } = plan.others
  const { sentTo } = plan.extent
  if (otherInstallations > 0) print(`  Of them are events of ${otherInstallations} other installations.\n`)
  if (sharedVisitIds.length > 0)
    print(`  Stays, as others were matched to it as well: ${sharedVisitIds.join(', ')} (--visit erases it)\n`)
  if (sentTo.length > 0) print(`  Was sent to ${sentTo.join(', ')}: ask there for its deletion.\n`)
}

function showRows(counts: ErasedRows): void {
  const rows = Object.entries(counts).filter(([, count]) => count > 0)
  for (const [table, count] of rows) print(`  ${table.padEnd(24)} ${count}\n`)
  if (rows.length === 0) print('  No facts name it. Erased all the same, nothing of it is written later.\n')
}

function sumOf({ installationIds, visitIds, eventIds }: ErasedIds): string {
  return `${installationIds.length} installations, ${visitIds.length} visits, ${eventIds.length} install events`
}

async function isConfirmed(): Promise<boolean> {
  if (!process.stdin.isTTY) {
    complain('whencectl erase: say --yes to erase it without a question\n')
    return false
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`This cannot be undone. Type "${CONFIRMATION}" to continue: `)
  terminal.close()
  return answer.trim() === CONFIRMATION
}

/** Beside the stores, as digests: a restore of an older backup needs it. */
function keep({ data, facts }: StoreSettings, remembered: readonly RememberedErasure[]): void {
  if (facts.scheme !== 'chdb' || !existsSync(data)) return
  const lines = remembered.map((each) => `${JSON.stringify(each)}\n`)
  appendFileSync(join(data, ERASURES_FILE), lines.join(''), { mode: 0o600, flush: true })
}
