/** Requests the handoff token of the current visit, or of a visit made only for it. */

import type { FillOptions } from './fill.ts'
import { fillCommand } from './fill.ts'
import { fillOptionsOf } from './fill-options.ts'
import type { Page, ServiceAnswer, Scope } from '../core/types.ts'
import { hasGpc } from '../core/page.ts'
import type { Handoff } from '../whence.d.ts'

const TOKEN = /^wht_[\w-]{43}$/
/** Longest wait of `command`. */
const TOKEN_WAIT_MS = 2_000
/** After a refusal the service gets no request for this long. */
const PAUSE_MS = 5_000

/** One website's token, requested or loaded. */
interface Asked {
  readonly answer: Promise<Handoff | null>
  handoff: Handoff | null
  /** Receipt of the visit that the token is for. */
  receipt?: string | undefined
}

/** Keeps at most one token per visit. */
export function createHandoffs() {
  /** Until the extras attend to a page, and while its visitor does not agree, no token is requested. */
  let page: Page | undefined
  const tokens = new Map<Scope, Asked>()
  /** The token, if it is still valid and for the present visit: a route or a withdrawn consent has ended the visit before. */
  const loaded = (scope: Scope): string | undefined => {
    const { handoff, receipt } = tokens.get(scope) ?? {}
    return handoff && handoff.expiresAt >= Date.now() && receipt === scope.currentReceipt ? handoff.token : undefined
  }
  /** Requests a token if none is loaded or requested. Null if the service gives none. Never rejects. */
  const handoff = (scope: Scope): Promise<Handoff | null> => {
    if (!page?.isAllowed) return Promise.resolve(null)
    const known = tokens.get(scope)
    if (known && (!known.handoff || loaded(scope))) return known.answer
    const answer = requestHandoff(page, scope)
      .catch((): IssuedHandoff => [null])
      .then(([handoff, receipt]) => {
        asked.handoff = handoff
        asked.receipt = receipt
        if (!handoff) setTimeout(() => tokens.delete(scope), PAUSE_MS)
        return handoff
      })
    const asked: Asked = { answer, handoff: null }
    tokens.set(scope, asked)
    return answer
  }
  /** The command with a token that is already loaded; undefined if there is none, or no place for it. */
  const fill = (scope: Scope, text: string, options?: FillOptions): string | undefined => {
    const token = page?.isAllowed && loaded(scope)
    return page && token ? fillCommand(text, token, options ?? fillOptionsOf(page)) : undefined
  }
  /** The same, but waits a short time for a token that is being requested. */
  const command = async (scope: Scope, text: string): Promise<string | undefined> => {
    await Promise.race([handoff(scope), new Promise((resolve) => setTimeout(resolve, TOKEN_WAIT_MS))])
    return fill(scope, text)
  }
  const prepared = new Set<Scope>()
  /** Before the visitor acts, only if a visit is recorded anyway: otherwise a handoff-only visit would be added. */
  const prepare = async (scope: Scope): Promise<void> => {
    prepared.add(scope)
    await scope.running
    if (scope.currentReceipt) await handoff(scope)
  }
  /** Another route is another visit, with a token of its own. */
  const prepareAgain = () => prepared.forEach((scope) => void prepare(scope))
  const told = new Set<string>()
  /** Tells the service at once if the visit is recorded: the visitor may leave with the command. */
  const copied = async (scope: Scope): Promise<void> => {
    if (!scope.currentReceipt) await handoff(scope)
    const { project, currentReceipt: receipt } = scope
    if (!receipt || told.has(receipt)) return
    told.add(receipt)
    await scope.send('v1/handoffs', { project, receipt, gpc: hasGpc(), copied: true })
  }
  const obey = (attended: Page) => (page = attended)
  return { handoff, fill, command, prepare, prepareAgain, copied, obey }
}

/** The token, null if there is none, and the receipt of its visit. */
type IssuedHandoff = readonly [handoff: Handoff | null, receipt?: string | undefined]

async function requestHandoff(page: Page, scope: Scope): Promise<IssuedHandoff> {
  scope.isUrgent = true
  await scope.running
  const { currentReceipt: receipt } = scope
  const handoff = receipt ? await linked(scope, receipt) : null
  return handoff ? [handoff, receipt] : alone(page, scope)
}

async function linked(scope: Scope, receipt: string): Promise<Handoff | null> {
  const { project } = scope
  const answer = await scope.send('v1/handoffs', { project, receipt, gpc: hasGpc() })
  // Refused for good: another tab's visit has replaced this one, or it is too old. A new visit replaces it.
  if (String(answer['error']).startsWith('receipt_')) scope.currentReceipt = undefined
  return readHandoff(answer)
}

async function alone(page: Page, scope: Scope): Promise<IssuedHandoff> {
  if (scope.currentReceipt) return [null]
  const draft = await scope.draft()
  await page.ask(page.recorder, (recorder) => recorder.complete(page, scope, draft))
  const answer = await scope.send('v1/handoffs', draft.body)
  const { receipt } = answer
  if (typeof receipt === 'string') scope.currentReceipt = receipt
  return [readHandoff(answer), scope.currentReceipt]
}

function readHandoff({ token, expires_at: expiresAt }: ServiceAnswer): Handoff | null {
  return typeof token === 'string' && TOKEN.test(token) && typeof expiresAt === 'number' ? { token, expiresAt } : null
}
