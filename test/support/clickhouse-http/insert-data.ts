/** Finds the end of a statement's text and the beginning of an insert's rows, and the format of an answer. */

export interface SplitInsert {
  /** The statement without its FORMAT or VALUES. */
  readonly head: string
  readonly format: string
  readonly rows: Buffer
}

/** As much of a statement as a ClickHouse server parses (its `max_query_size`). */
const MAX_QUERY_BYTES = 256 * 1024
const TOKEN =
  /\s+|--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S])*"|`(?:[^`\\]|\\[\s\S])*`|[A-Za-z_]\w*|[\s\S]/gy
const WORD = /^[A-Za-z_]/
const NOTHING = /^(?:\s|--|\/\*)/
const REST_OF_LINE = /[^\S\n]*\n?/y
/** After these the rows come from a query, or from somewhere else that the engine reads itself. */
const HAS_NO_ROWS: ReadonlySet<string> = new Set(['SELECT', 'WITH', 'FROM', 'WATCH'])

/** Null for everything but an insert with its rows in the request. Rows may be any bytes. */
export function splitInsert(statement: Buffer): SplitInsert | null {
  const text = beginning(statement)
  let before: Token | null = null
  for (const token of topLevel(text)) {
    if (before === null && token.word !== 'INSERT') return null
    if (token.word === 'VALUES') return split(statement, token.start, { format: 'Values', rowsAt: token.end })
    if (before?.word === 'FORMAT' && WORD.test(token.text)) {
      REST_OF_LINE.lastIndex = token.end
      const rowsAt = token.end + (REST_OF_LINE.exec(text)?.[0].length ?? 0)
      return split(statement, before.start, { format: token.text, rowsAt })
    }
    if (HAS_NO_ROWS.has(token.word)) return null
    before = token
  }
  return null
}

/** The last FORMAT of a statement that is in no bracket and no quotes. */
export function formatOf(statement: string): string | null {
  let format: string | null = null
  let before = ''
  for (const { text, word } of topLevel(beginning(Buffer.from(statement)))) {
    if (before === 'FORMAT' && WORD.test(text)) format = text
    before = word
  }
  return format
}

/** One character a byte, so that places in the text are places in the bytes. */
function beginning(statement: Buffer): string {
  return statement.subarray(0, MAX_QUERY_BYTES).toString('latin1')
}

function split(
  statement: Buffer,
  headEnd: number,
  { format, rowsAt }: { format: string; rowsAt: number },
): SplitInsert {
  return { head: statement.subarray(0, headEnd).toString(), format, rows: statement.subarray(rowsAt) }
}

interface Token {
  readonly text: string
  /** The text in capitals. */
  readonly word: string
  readonly start: number
  readonly end: number
}

/** Words, quoted texts and single characters outside brackets, without spaces and comments. */
function* topLevel(text: string): Generator<Token> {
  let depth = 0
  for (const match of text.matchAll(TOKEN)) {
    const [token] = match
    if (NOTHING.test(token)) continue
    if (token === ')') depth--
    if (depth === 0) {
      yield { text: token, word: token.toUpperCase(), start: match.index, end: match.index + token.length }
    }
    if (token === '(') depth++
  }
}
