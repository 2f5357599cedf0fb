/**
 * Finds many texts in another one in linear time, however similar they are: the automaton of Aho and Corasick (1975). A
 * regular expression of alternatives would try each of them at each position.
 */

/** A match: from `start` up to, but not including, `end`. */
interface Found {
  readonly start: number
  readonly end: number
}

/** Matches in order; overlapping ones are merged into one. */
export type Finder = (text: string) => readonly Found[]

/** States are numbers: 0 is the root, and in lists of states 0 means none. Each list has an entry per state: */
interface Automaton {
  readonly firstChild: Int32Array
  /** The next child of the same parent. */
  readonly sibling: Int32Array
  /** The character code that leads here. */
  readonly code: Uint16Array
  /** The state to continue at if no child fits: the longest suffix read so far that begins another text. */
  readonly fallback: Int32Array
  /** Length of the longest text that ends here. */
  readonly length: Int32Array
}

/** `wanted` contains no empty texts. */
export function finderOf(wanted: readonly string[]): Finder {
  const automaton = build(wanted)
  return (text) => {
    const found: Found[] = []
    let state = 0
    for (let index = 0; index < text.length; index++) {
      state = step(automaton, state, text.charCodeAt(index))
      const length = automaton.length[state] ?? 0
      if (length > 0) addFound(found, index + 1 - length, index + 1)
    }
    return found
  }
}

/** Ends come in ascending order, so overlapping matches are at the end of the list. */
function addFound(found: Found[], start: number, end: number): void {
  let from = start
  for (let last = found.at(-1); last !== undefined && last.end > start; last = found.at(-1)) {
    from = Math.min(from, last.start)
    found.pop()
  }
  found.push({ start: from, end })
}

function build(wanted: readonly string[]): Automaton {
  const most = wanted.reduce((sum, text) => sum + text.length, 1)
  const firstChild = new Int32Array(most)
  const sibling = new Int32Array(most)
  const fallback = new Int32Array(most)
  const length = new Int32Array(most)
  const automaton: Automaton = { firstChild, sibling, fallback, length, code: new Uint16Array(most) }
  let states = 1
  for (const text of wanted) {
    let state = 0
    for (let index = 0; index < text.length; index++) {
      const known = stateChild(automaton, state, text.charCodeAt(index))
      if (known === 0) {
        sibling[states] = firstChild[state] ?? 0
        firstChild[state] = states
        automaton.code[states] = text.charCodeAt(index)
      }
      state = known === 0 ? states++ : known
    }
    length[state] = text.length
  }
  linkFallbacks(automaton, states)
  return automaton
}

/** Parents before their children, so that shorter suffixes are linked already. */
function linkFallbacks(automaton: Automaton, states: number): void {
  const { firstChild, sibling, code, fallback, length } = automaton
  const queue = new Int32Array(states)
  let queued = 1
  for (let place = 0; place < queued; place++) {
    const state = queue[place] ?? 0
    for (let child = firstChild[state] ?? 0; child !== 0; child = sibling[child] ?? 0) {
      queue[queued++] = child
      if (state === 0) continue
      const shorter = step(automaton, fallback[state] ?? 0, code[child] ?? 0)
      fallback[child] = shorter
      length[child] = Math.max(length[child] ?? 0, length[shorter] ?? 0)
    }
  }
}

function step(automaton: Automaton, from: number, code: number): number {
  let state = from
  for (;;) {
    const child = stateChild(automaton, state, code)
    if (child !== 0 || state === 0) return child
    state = automaton.fallback[state] ?? 0
  }
}

function stateChild({ firstChild, sibling, code }: Automaton, state: number, wanted: number): number {
  let child = firstChild[state] ?? 0
  while (child !== 0 && code[child] !== wanted) child = sibling[child] ?? 0
  return child
}
