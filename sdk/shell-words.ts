/** Reads a shell command line as far as is needed to place something in it, and says so where it does not understand it. */

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

/** No command line that a page shows comes near this; what does is left alone. */
const WORDS_MAX = 10_000

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
    if (!step || steps > WORDS_MAX) return undefined
    if (step.kind === 'word') words.push({ text: text.slice(at, step.end), start: at, end: step.end })
    if (step.kind === 'end') endCommand(step.isPipe)
    at = step.end
  }
  endCommand(false)
  return commands
}

type Step =
  | { readonly kind: 'word' | 'nothing'; readonly end: number }
  | { readonly kind: 'end'; readonly end: number; readonly isPipe: boolean }

/** What begins at `at`. Patterns are sticky, so each looks at this place only. */
function readStep(text: string, at: number): Step | undefined {
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

/** Where the word that begins at `start` ends; undefined where something in it is not closed. */
function endOfWord(text: string, start: number): number | undefined {
  let at: number | undefined = start
  while (at !== undefined && at < text.length) {
    // A process substitution, <(...) or >(...), is a word of its own.
    const isSubstitution: boolean = /[<>]/.test(text.charAt(at)) && text[at + 1] === '(' && at === start
    if (!isSubstitution && /[\s;&|<>()]/.test(text.charAt(at))) return at
    at = isSubstitution ? endOfGroup(text, at + 2, ')') : endOfPiece(text, at)
  }
  return at
}

/** The end of the quoted string, substitution, escape or plain character at `at`. */
function endOfPiece(text: string, at: number): number | undefined {
  const char = text.charAt(at)
  if (char === '\\') return at + 2
  if (char === "'") return closing(text, at + 1, "'")
  if (char === '"' || char === '`') return endOfGroup(text, at + 1, char)
  if (char === '$' && text[at + 1] === '(') return endOfGroup(text, at + 2, ')')
  if (char === '$' && text[at + 1] === '{') return endOfGroup(text, at + 2, '}')
  return at + 1
}

function closing(text: string, at: number, char: string): number | undefined {
  const end = text.indexOf(char, at)
  return end < 0 ? undefined : end + 1
}

/** The end of what began before `start` and is closed by `close`; what stands inside may nest. */
function endOfGroup(text: string, start: number, close: string): number | undefined {
  let at: number | undefined = start
  while (at !== undefined && at < text.length) {
    const char = text.charAt(at)
    if (char === close) return at + 1
    // Inside double quotes a single quote is a plain character.
    if (close === '"' && char === "'") at += 1
    else if (close === ')' && char === '(') at = endOfGroup(text, at + 1, ')')
    else at = endOfPiece(text, at)
  }
  return undefined
}
