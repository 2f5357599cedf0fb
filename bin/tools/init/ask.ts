/** Asks at the terminal, or takes what flags say. */

import { createInterface } from 'node:readline/promises'

import { complain } from '../../terminal/output.ts'
import type { InitQuestion } from './questions.ts'

/** Asks for what no flag says. */
export interface Asker {
  /** @throws Error if the flag's value is refused, or there is no answer */
  readonly ask: <T>(question: InitQuestion<T>) => Promise<T>
  readonly close: () => void
}

interface AskerOptions {
  readonly flags: ReadonlyMap<string, string>
  /** Asks nothing: what is not said is taken, or missed. */
  readonly isSure: boolean
}

/** Questions go to standard error, so that standard output has the result alone. */
export function createAsker({ flags, isSure }: AskerOptions): Asker {
  const terminal = isSure ? null : createInterface({ input: process.stdin, output: process.stderr })
  // Answers that come faster than the questions (from a pipe) wait here.
  const lines = terminal?.[Symbol.asyncIterator]()
  const answerTo = async ({ flag, fallback }: InitQuestion<unknown>): Promise<string> => {
    const line = await lines?.next()
    const answer = line?.done === false ? line.value.trim() : ''
    if (answer !== '') return answer
    if (line?.done !== false && fallback === null) throw new Error(`say ${flag}, or answer at a terminal`)
    return fallback ?? ''
  }
  return {
    async ask(question) {
      const given = flags.get(question.flag)
      if (given !== undefined) {
        const value = question.read(given.trim())
        if (!value.ok) throw new Error(`${question.flag} ${value.why}`)
        return value.value
      }
      for (;;) {
        if (terminal !== null) complain(promptOf(question))
        const value = question.read(await answerTo(question))
        if (value.ok) return value.value
        if (terminal === null) throw new Error(`${question.flag} ${value.why}`)
        complain(`  It ${value.why}.\n`)
      }
    },
    close: () => terminal?.close(),
  }
}

function promptOf({ text, lines, fallback }: InitQuestion<unknown>): string {
  return ['', text, ...lines, fallback === null ? '> ' : `[${fallback}] > `].join('\n')
}
