/**
 * Keeps the pages going if others change their nodes: browsers that translate replace texts by elements, and extensions insert, wrap and
 * remove what they like. React knows nothing of it; it throws when it removes a node, or inserts before one, that is no longer there, and it
 * changes texts that nobody sees.
 */

/** Where a node of React's was when somebody else took it away. */
interface ShownPlace {
  readonly parent: Node
  /** What somebody else put there instead. */
  readonly standIn: ChildNode | null
  readonly next: Node | null
}

interface NodeActs {
  readonly insertBefore: (this: Node, node: Node, before: Node | null) => Node
  readonly removeChild: (this: Node, child: Node) => Node
}

/** Call it before the first node is rendered. */
export function tolerateForeignNodes(): void {
  const places = new WeakMap<Node, ShownPlace>()
  const own: NodeActs = Node.prototype
  const { insertBefore, removeChild } = own
  const observer = new MutationObserver(settle)

  function settle(records: readonly MutationRecord[]): void {
    const taken = new Set<Node>()
    for (const record of records) {
      if (record.type === 'characterData') putBack(record.target)
      for (const node of record.addedNodes) if (node.isConnected) forget(node)
      for (const node of record.removedNodes) remember(node, record, { records, taken })
    }
  }

  /** What React itself removes is remembered, too: it never asks for that again. */
  function remember(node: Node, record: MutationRecord, batch: ChangeBatch): void {
    const { target: parent, nextSibling: next } = record
    if (!isReacts(node) || !isReacts(parent) || parent.contains(node)) return
    places.set(node, { parent, next, standIn: standInOf(node, record, batch) })
    if (node instanceof Text) observer.observe(node, { characterData: true })
  }

  /** It is shown itself again. */
  function forget(node: Node): void {
    places.get(node)?.standIn?.remove()
    places.delete(node)
  }

  /** A text that changes after it was taken away: people must see the new one. */
  function putBack(text: Node): void {
    const place = places.get(text)
    if (place === undefined || text.parentNode !== null) return
    insertBefore.call(place.parent, text, spotOf(text, place.parent))
    forget(text)
  }

  /** The child of `parent` that is, contains or replaces the node, or else follows its place; null: the end. */
  function spotOf(node: Node | null, parent: Node): Node | null {
    if (node === null) return null
    if (parent.contains(node)) return childAround(node, parent)
    const place = places.get(node)
    if (place?.parent !== parent) return null
    return place.standIn?.parentNode === parent ? place.standIn : spotOf(place.next, parent)
  }

  Node.prototype.removeChild = function <T extends Node>(this: Node, child: T): T {
    if (child.parentNode === this) {
      removeChild.call(this, child)
      return child
    }
    settle(observer.takeRecords())
    if (child.parentNode === null) forget(child)
    else child.parentNode.removeChild(child)
    return child
  }

  Node.prototype.insertBefore = function <T extends Node>(this: Node, node: T, before: Node | null): T {
    const isOurs = before === null || before.parentNode === this
    if (!isOurs) settle(observer.takeRecords())
    insertBefore.call(this, node, isOurs ? before : spotOf(before, this))
    return node
  }

  observer.observe(document, { childList: true, subtree: true })
}

interface ChangeBatch {
  readonly records: readonly MutationRecord[]
  /** Nodes that stand in for another one already. */
  readonly taken: Set<Node>
}

/** It came in place of the node, right before or after it, or into the gap. */
function standInOf(node: Node, gap: MutationRecord, { records, taken }: ChangeBatch): ChildNode | null {
  const isBeside = ({ previousSibling, nextSibling }: MutationRecord): boolean =>
    nextSibling === node || previousSibling === node
  const isInGap = ({ previousSibling, nextSibling }: MutationRecord): boolean =>
    previousSibling === gap.previousSibling && nextSibling === gap.nextSibling
  const ofParent = records.filter(({ target }) => target === gap.target)
  const inOrder = [gap, ...ofParent.filter(isBeside), ...ofParent.filter(isInGap)]
  const came = inOrder.flatMap(({ addedNodes }) => [...addedNodes])
  const found = came.find((each) => !isReacts(each) && !taken.has(each) && each.parentNode === gap.target)
  if (found === undefined) return null
  taken.add(found)
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- it has a parent
  return found as ChildNode
}

function childAround(node: Node, parent: Node): Node {
  let child = node
  while (child.parentNode !== null && child.parentNode !== parent) child = child.parentNode
  return child
}

/** React leaves a property on each node that it takes care of. */
function isReacts(node: Node): boolean {
  return Object.keys(node).some((name) => name.startsWith('__reactFiber$'))
}
