/** Cuts mocha's output into blocks, so that what two processes print does not mix line by line. */

/** Mocha's closing statistics begin like this; what follows, the failures, stays together. */
const CLOSING = /^ +\d+ passing/

/** A block for each suite at the top level, which ends with an empty line, and one for all from the statistics on. */
export async function* blocksOf(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let block: string[] = []
  let isClosing = false
  for await (const line of lines) {
    isClosing ||= CLOSING.test(line)
    block.push(line)
    if (line !== '' || isClosing) continue
    yield block.join('\n')
    block = []
  }
  if (block.length > 0) yield block.join('\n')
}
