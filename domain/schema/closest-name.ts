/** Which of several names was probably meant. */

/** Longer names are none of ours, and cost nothing. */
export const MOST_NAME_CHARS = 40

/** The candidate that was probably meant, or null, as for a name longer than any. Ignores spelling mistakes, case and separators. */
export function closestName(name: string, candidates: readonly string[]): string | null {
  if (name.length > MOST_NAME_CHARS) return null
  const plain = plainName(name)
  const allowed = Math.max(1, Math.floor(plain.length / 4))
  const ranked = candidates
    // A difference in length is a lower bound of the distance.
    .filter((candidate) => Math.abs(plainName(candidate).length - plain.length) <= allowed)
    .map((candidate) => ({ candidate, distance: editDistance(plain, plainName(candidate)) }))
    .sort((a, b) => a.distance - b.distance)
  const best = ranked[0]
  if (best !== undefined && best.distance <= allowed) return best.candidate
  const extension =
    plain.length < 4 ? undefined : candidates.find((candidate) => plainName(candidate).startsWith(plain))
  return extension ?? null
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/**
 * Edit distance in which swapping two neighbours counts once; names are truncated so that a hostile one costs nothing.
 */
function editDistance(first: string, second: string): number {
  const a = first.slice(0, MOST_NAME_CHARS)
  const b = second.slice(0, MOST_NAME_CHARS)
  let before: readonly number[] = []
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j += 1) {
      const isSwap = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j]
      const substituted = cell(row, j) + (a[i] === b[j] ? 0 : 1)
      const swapped = isSwap ? cell(before, j - 1) + 1 : Infinity
      next.push(Math.min(substituted, swapped, cell(row, j + 1) + 1, cell(next, j) + 1))
    }
    before = row
    row = next
  }
  return cell(row, b.length)
}

function cell(row: readonly number[], index: number): number {
  return row[index] ?? 0
}
