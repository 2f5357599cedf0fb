/** Asks the service for the handoff token of the current visit, or of one that exists only for it. */

import type { Answer } from './net.ts'
import type { Scope } from './scope.ts'
import { fillCommand } from './fill.ts'
import { hasGpc } from './page.ts'
import type { Handoff } from './whence.d.ts'

/** Longest wait of `command`. */
const TOKEN_WAIT_MS = 2_000
const TOKEN = /^wht_[\w-]{43}$/

/** Keeps at most one token per visit. */
export function createHandoffs() {
  const tokens = new Map<Scope, Promise<Handoff | null>>()
  const arrived = new Map<Scope, Handoff>()
  /** Asks where no token is here or on its way. Null where the service gives none; the next call then asks again. */
  const handoff = (scope: Scope): Promise<Handoff | null> => {
    let asked = tokens.get(scope)
    if (!asked) {
      asked = requestHandoff(scope).catch(() => null)
      tokens.set(scope, asked)
      void asked.then((answer) => (answer ? arrived.set(scope, answer) : tokens.delete(scope)))
    }
    return asked
  }
  /** The command with the token that is already here; undefined where there is none, or no place for it. */
  const fill = (scope: Scope, text: string): string | undefined => {
    const token = arrived.get(scope)?.token
    return token && fillCommand(text, token)
  }
  /** The same, waiting for a token that is on its way, but not for long. */
  const command = async (scope: Scope, text: string) => {
    await Promise.race([handoff(scope), new Promise((resolve) => setTimeout(resolve, TOKEN_WAIT_MS))])
    return fill(scope, text)
  }
  return { handoff, fill, command }
}

async function requestHandoff(scope: Scope): Promise<Handoff | null> {
  await scope.settle()
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
