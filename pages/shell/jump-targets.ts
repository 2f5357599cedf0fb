/** Where one can jump to: pages and websites by a part of their name, and what an ID names. */

import type { FoundById } from '../data/find.ts'
import { PAGES } from './navigation.ts'

export interface Jump {
  readonly key: string
  readonly title: string
  /** "Page", "Website", "Install". */
  readonly kind: string
  readonly to: string
  readonly params?: Readonly<Record<string, string>>
  readonly search?: Readonly<Record<string, string | number>>
}

interface JumpSources {
  readonly websites: readonly { readonly id: string; readonly displayName: string }[]
  /** What the text names as an ID. */
  readonly found: readonly FoundById[]
}

const MOST_SHOWN = 12

/** What an ID names first, then pages, then websites. Without a text all pages. */
export function jumpsTo(text: string, { websites, found }: JumpSources): readonly Jump[] {
  const wanted = text.toLowerCase()
  const isNamed = (...names: readonly string[]): boolean => names.some((name) => name.toLowerCase().includes(wanted))
  const pages = PAGES.filter(({ title }) => isNamed(title)).map(({ to, title }): Jump => ({
    key: `page-${title.replaceAll(' ', '-')}`,
    title,
    kind: 'Page',
    to,
  }))
  const sites = websites
    .filter(({ id, displayName }) => wanted !== '' && isNamed(id, displayName))
    .map(({ id, displayName }): Jump => ({
      key: `website-${id}`,
      title: displayName,
      kind: 'Website',
      to: '/app/$organization/overview',
      search: { website: id },
    }))
  return [...found.map(jumpOf), ...pages, ...sites].slice(0, Math.max(MOST_SHOWN, wanted === '' ? PAGES.length : 0))
}

function jumpOf({ kind, website, id, at }: FoundById, place: number): Jump {
  const key = `found-${place}`
  switch (kind) {
    case 'install':
    case 'delivery':
      return {
        key,
        title: kind === 'install' ? `The install on ${website}` : `The install of this delivery, on ${website}`,
        kind: kind === 'install' ? 'Install' : 'Delivery',
        to: '/app/$organization/installs/$website/$event',
        params: { website, event: id },
      }
    case 'visit':
      return {
        key,
        title: `Installs of this visit to ${website}`,
        kind: 'Visit',
        to: '/app/$organization/installs',
        search: { visit: id },
      }
    case 'request':
      return {
        key,
        title: `The line of Logs of ${website}`,
        kind: 'Request',
        to: '/app/$organization/logs',
        search: { website, since: at ?? 0, until: (at ?? 0) + 1 },
      }
  }
}

/** ⌘K, or Ctrl K; with Shift or Alt it is somebody else's. */
export function isJumpKey(event: {
  readonly key: string
  readonly metaKey: boolean
  readonly ctrlKey: boolean
  readonly altKey: boolean
  readonly shiftKey: boolean
}): boolean {
  const { key, metaKey, ctrlKey, altKey, shiftKey } = event
  return key.toLowerCase() === 'k' && metaKey !== ctrlKey && !altKey && !shiftKey
}
