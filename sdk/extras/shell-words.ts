/** Parses a shell command line just enough to insert something, and reports if it cannot. */

/** One word as written, quotes included. Positions count UTF-16 units of the text. */
export interface Word {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** One simple command without its redirections. */
export interface SimpleCommand {
  readonly words: readonly Word[]
  /** The command whose output it reads, in a pipeline. */
  readonly feeder: SimpleCommand | undefined
}

/** No command line on a page comes near these limits; longer ones are left alone. */
const STEPS_MAX = 10_000
const NESTING_MAX = 50

/** The simple commands in their order. Undefined for here documents and for quotes or parentheses that are not closed. */
export function readCommands(text: string): readonly SimpleCommand[] | undefined {
  const commands: SimpleCommand[] = []
  let words: Word[] = []
  let feeder: SimpleCommand | undefined
  let at = 0
  const endCommand = (isPipe: boolean) => {
    const command = { words, feeder }
    if (words.length) commands.push(command)
    feeder = isPipe && words.length ? command : undefined
    words = []
  }
  for (let steps = 0; at < text.length; steps++) {
    const step = readStep(text, at)
    if (!step || steps > STEPS_MAX) return undefined
    if (step.kind === 'word') words.push({ text: text.slice(at, step.end), start: at, end: step.end })
    if (step.kind === 'end') endCommand(step.isPipe)
    at = step.end
  }
  endCommand(false)
  return commands
}

type WordStep =
  | { readonly kind: 'word' | 'nothing'; readonly end: number }
  | { readonly kind: 'end'; readonly end: number; readonly isPipe: boolean }

/** The step at `at`. Patterns are sticky, so each tries only this place. */
function readStep(text: string, at: number): WordStep | undefined {
  const skipped = matchAt(/(?:[ \t\r]|\\\r?\n|#[^\n]*)/y, text, at)
  if (skipped) return { kind: 'nothing', end: at + skipped.length }
  const operator = matchAt(/\|\||\|&?|&&|;+|&(?!>)|[\n()]/y, text, at)
  if (operator) return { kind: 'end', end: at + operator.length, isPipe: /^\|&?$/.test(operator) }
  if (matchAt(/\d*<<(?!<)/y, text, at)) return undefined
  const redirection = matchAt(/(?:\d*|&)(?:<<<|>>|>&|<&|>\||<>|>|<)(?!\()[ \t]*/y, text, at)
  const start = at + (redirection?.length ?? 0)
  const end = endOfWord(text, start)
  if (end === undefined || end === start) return undefined
  return { kind: redirection === undefined ? 'word' : 'nothing', end }
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

/** The end of the word that begins at `start`; undefined if something in it is not closed. */
function endOfWord(text: string, start: number): number | undefined {
  // A process substitution, <(...) or >(...), is a separate word.
  const isSubstitution = matchAt(/[<>]\(/y, text, start) !== undefined
  // What is still to be closed, the innermost last.
  const open: string[] = isSubstitution ? [')'] : []
  let at = isSubstitution ? start + 2 : start
  while (at < text.length) {
    const char = text.charAt(at)
    const innermost = open[open.length - 1]
    if (innermost === undefined && /[\s;&|<>()]/.test(char)) return at
    if (char === innermost) {
      open.pop()
      at += 1
    } else {
      at = skipPiece(text, at, open)
    }
    if (at < 0 || open.length > NESTING_MAX) return undefined
  }
  // A backslash at the very end would escape what is inserted after it.
  return open.length === 0 && at === text.length ? at : undefined
}

/**
 * Skips an escape, a single-quoted string, the start of a group, or one plain character. Negative if a quote is not
 * closed.
 */
function skipPiece(text: string, at: number, open: string[]): number {
  const char = text.charAt(at)
  const isInDoubleQuotes = open[open.length - 1] === '"'
  if (char === '\\') return at + 2
  // Inside double quotes a single quote and a bare parenthesis are plain characters.
  if (char === "'" && !isInDoubleQuotes) return text.indexOf("'", at + 1) + 1 || -1
  const opening = matchAt(isInDoubleQuotes ? /\$[({]|`/y : /\$[({]|["`(]/y, text, at)
  if (opening) open.push(CLOSERS[opening] ?? '')
  return at + (opening?.length ?? 1)
}

const CLOSERS: Readonly<Record<string, string>> = { '$(': ')', '(': ')', '${': '}', '"': '"', '`': '`' }
