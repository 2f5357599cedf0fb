/** Decides what is left out if there is not room for all: no owner loses a place because of another owner's demand. */

export interface SpaceClaim {
  readonly key: string
  /** The party that shares the capacity with others, for example a namespace. */
  readonly owner: string
  readonly bytes: number
}

/**
 * Keys of the claims that do not fit into `capacity` bytes. Owners who need no more than an equal share get everything;
 * what they leave is shared equally among the others. Within one owner the first claims keep their place.
 */
export function withoutRoom(claims: readonly SpaceClaim[], capacity: number): ReadonlySet<string> {
  const total = claims.reduce((sum, { bytes }) => sum + bytes, 0)
  if (total <= capacity) return new Set()
  const byOwner = [...Map.groupBy(claims, ({ owner }) => owner).values()]
    .map((own) => ({ own, wanted: own.reduce((sum, { bytes }) => sum + bytes, 0) }))
    .sort((a, b) => a.wanted - b.wanted)
  const out = new Set<string>()
  let left = capacity
  for (const [index, { own, wanted }] of byOwner.entries()) {
    const share = left / (byOwner.length - index)
    left -= Math.min(share, wanted)
    let room = share
    for (const { key, bytes } of own) {
      if (bytes > room) out.add(key)
      else room -= bytes
    }
  }
  return out
}
