/** Asks the service for the handoff token of the current visit, or of one that exists only for it. */

import type { FillOptions } from './fill.ts'
import { fillCommand } from './fill.ts'
import type { Answer, Scope } from '../core/types.ts'
import { hasGpc } from '../core/page.ts'
import type { Handoff } from '../whence.d.ts'

const TOKEN = /^wht_[\w-]{43}$/
/** Longest wait of `command`. */
const TOKEN_WAIT_MS = 2_000
/** After a refusal the service is left alone for so long. */
const PAUSE_MS = 5_000

/** One website's token, on its way or here. */
interface Asked {
  readonly answer: Promise<Handoff | null>
  handoff: Handoff | null
}

/** Keeps at most one token per visit. `optionsOfPage` counts where a call names none. */
export function createHandoffs(optionsOfPage: () => FillOptions) {
  let isAllowed = () => false
  const tokens = new Map<Scope, Asked>()
  /** Asks where no token is here or on its way. Null where the service gives none. Never rejects. */
  const handoff = (scope: Scope): Promise<Handoff | null> => {
    if (!isAllowed()) return Promise.resolve(null)
    const known = tokens.get(scope)
    if (known && !(known.handoff && known.handoff.expiresAt < Date.now())) return known.answer
    const asked: Asked = { answer: requestHandoff(scope).catch(() => null), handoff: null }
    tokens.set(scope, asked)
    void asked.answer.then((answer) => {
      asked.handoff = answer
      if (!answer) setTimeout(() => tokens.delete(scope), PAUSE_MS)
    })
    return asked.answer
  }
  /** The command with the token that is already here; undefined where there is none, or no place for it. */
  const fill = (scope: Scope, text: string, options = optionsOfPage()): string | undefined => {
    const token = isAllowed() && tokens.get(scope)?.handoff?.token
    return token ? fillCommand(text, token, options) : undefined
  }
  /** The same, waiting for a token that is on its way, but not for long. */
  const command = async (scope: Scope, text: string): Promise<string | undefined> => {
    await Promise.race([handoff(scope), new Promise((resolve) => setTimeout(resolve, TOKEN_WAIT_MS))])
    return fill(scope, text)
  }
  /** Until this is said, and where it answers false, no token is asked for. */
  const obey = (consent: () => boolean) => (isAllowed = consent)
  return { handoff, fill, command, obey }
}

async function requestHandoff(scope: Scope): Promise<Handoff | null> {
  scope.isUrgent = true
  await scope.running
  return (await linked(scope)) ?? (await alone(scope))
}

async function linked(scope: Scope): Promise<Handoff | null> {
  const { project, currentReceipt: receipt } = scope
  if (!receipt) return null
  const answer = await scope.send('v1/handoffs', { project, receipt, gpc: hasGpc() })
  // Refused for good: another tab's visit has replaced this one, or it is too old. A new visit takes its place.
  if (String(answer['error']).startsWith('receipt_')) scope.currentReceipt = undefined
  return readHandoff(answer)
}

async function alone(scope: Scope): Promise<Handoff | null> {
  if (scope.currentReceipt) return null
  const answer = await scope.send('v1/handoffs', await scope.compose())
  const { receipt } = answer
  if (typeof receipt === 'string') scope.currentReceipt = receipt
  return readHandoff(answer)
}

function readHandoff({ token, expires_at: expiresAt }: Answer): Handoff | null {
  return typeof token === 'string' && TOKEN.test(token) && typeof expiresAt === 'number' ? { token, expiresAt } : null
}
