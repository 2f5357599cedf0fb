/** Links and anchors of Markdown pages, as GitHub and our own site both understand them. */

/** A heading's text as an anchor, in GitHub's way. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

/** Without fenced blocks and code spans, in which nothing is a link or a heading. */
function prose(text: string): string {
  return text.replace(/^( *)(```+)[\s\S]*?^\1\2 *$/gm, '').replace(/<!--[\s\S]*?-->/g, '')
}

/** Every anchor of a page; a heading that occurs again gets a number, as on GitHub. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of prose(text).matchAll(/^#{1,6} +(.+?)(?: +#+)?$/gm)) {
    const anchor = anchorOf(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, ''))
    let own = anchor
    for (let again = 1; anchors.has(own); again++) own = `${anchor}-${again}`
    anchors.add(own)
  }
  return anchors
}

export interface MarkdownLink {
  /** As it is written: `../vm.md#backup`. */
  readonly target: string
  /** The part before `#`; empty for the page itself. */
  readonly path: string
  readonly anchor: string | null
}

const LINK = /\]\(<?([^()\s>]+(?:\([^()\s]*\)[^()\s]*)?)>?(?: "[^"]*")?\)/g

/** Links and pictures of a page that lie in the repository; addresses of the web are left out. */
export function localLinks(text: string): readonly MarkdownLink[] {
  return [
    ...prose(text)
      .replace(/`[^`\n]*`/g, '')
      .matchAll(LINK),
  ].flatMap(([, target = '']) => {
    if (/^[a-z]+:/i.test(target)) return []
    const [path = '', anchor = null] = target.split('#') as [string, string?]
    return [{ target, path, anchor }]
  })
}
