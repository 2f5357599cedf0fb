/** Fills a page's marked install commands when the visitor copies them, and requests the token before that. */

import type { FillOptions } from './fill.ts'
import { fillCommand, withoutPlaceholder } from './fill.ts'
import { fillOptionsOf } from './fill-options.ts'
import { globalOf } from '../core/global.ts'
import { native, nativeDocument } from '../core/native.ts'
import { onPageChange } from '../core/page-change.ts'
import { safely } from '../core/page.ts'
import type { Page, Scope } from '../core/types.ts'
import { siteOf } from '../core/source.ts'
import type { CopyDetail } from '../whence.d.ts'

const MARKED = '[data-whence-command]'
const ANY_TOKEN = 'wht_'

/** Selectors of the page's commands and copy buttons. `:is` ignores errors in the page's own selector. */
const commandElements = ({ tagAttributes: { commands = '' } }: Page) => `:is(${MARKED},${commands})`
const buttonsOf = ({ tagAttributes: { copyButtons = '' } }: Page) => `:is([data-whence-copy],${copyButtons})`

/** What the listeners need of the handoffs. */
interface HandoffTokens {
  readonly handoff: (scope: Scope) => Promise<unknown>
  readonly prepare: (scope: Scope) => Promise<void>
  readonly prepareAgain: () => void
  readonly copied: (scope: Scope) => Promise<void>
  readonly fill: (scope: Scope, text: string, options?: FillOptions) => string | undefined
}

/** What a copy asks for. */
interface Copying {
  /** The command with its token, if it has one. */
  readonly filled: (element: HTMLElement) => string
  /** Counts the copy, of a command of nobody in particular too. */
  readonly tell: (element?: HTMLElement) => void
}

/** Starts to listen; called once per page. */
export function attend(page: Page, tokens: HandoffTokens): void {
  const copying: Copying = {
    filled: (element) => fillElement(page, tokens, element),
    tell: (element) => {
      if (!element) void tokens.copied(page.scopeOf())
      else if (isInstallCommand(page, element)) void tokens.copied(elementScope(page, element))
    },
  }
  addEventListener(
    'click',
    safeListener((event) => copyForButton(page, event, copying)),
    true,
  )
  // Last in line, so that what the page itself puts on the clipboard is seen and kept.
  addEventListener(
    'copy',
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
    safeListener((event) => refillCopy(page, event as ClipboardEvent, copying)),
  )
  const onIntent = safeListener(({ target }) => {
    const element = commandNear(page, target)
    if (element && page.isAllowed) void tokens.handoff(elementScope(page, element))
  })
  addEventListener('pointerover', onIntent, true)
  addEventListener('focusin', onIntent, true)

  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
  const navigation = globalOf('navigation') as EventTarget | undefined
  navigation?.addEventListener('currententrychange', () => safely(tokens.prepareAgain))

  if (!('IntersectionObserver' in window)) return
  const inView = new IntersectionObserver((entries) =>
    safely(() => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue
        inView.unobserve(target)
        // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
        void tokens.prepare(elementScope(page, target as HTMLElement))
      }
    }),
  )
  const watched = new WeakSet<Element>()
  const watch = () => {
    for (const element of nativeDocument.querySelectorAll(commandElements(page))) {
      if (!watched.has(element)) inView.observe(element)
      watched.add(element)
    }
  }
  watch()
  // Commands that come later, of a route or of a component that was slow.
  onPageChange(() => safely(watch))
}

/**
 * The scope of the website that the element names, if the page's own code has joined that website: what other people
 * write into a page must not choose one.
 */
function elementScope(page: Page, element: HTMLElement): Scope {
  const { whenceProject: name = '' } = native(element).dataset
  return page.scopes.get(name) ?? page.scopeOf()
}

/** The command as the page shows it. */
const shownText = (element: HTMLElement) =>
  (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement
    ? element.value
    : native(element).innerText
  ).trim()

function fillElement(page: Page, tokens: HandoffTokens, element: HTMLElement): string {
  const shown = shownText(element)
  const own = native(element)
  const options = { ...fillOptionsOf(page), isOwnScript: own.matches(MARKED) ? undefined : ownScripts(page) }
  // A template may come from somebody else's text in the page, so it counts only where the script tag says so.
  const template = own.matches(`:is(${page.tagAttributes.templates ?? ''})`) ? own.dataset['whenceTemplate'] : undefined
  const text = shown && template?.includes(shown) ? template : shown
  return tokens.fill(elementScope(page, element), text, options) ?? withoutPlaceholder(shown)
}

/** A selector of the script tag may name every fence of a site: of these it is one that a token could go into. */
function isInstallCommand(page: Page, element: HTMLElement): boolean {
  const options = { ...fillOptionsOf(page), isOwnScript: ownScripts(page) }
  return native(element).matches(MARKED) || fillCommand(shownText(element), ANY_TOKEN, options) !== undefined
}

/**
 * Recognises the vendor's own scripts: those of the page's website, of the service, and of the hosts that the page
 * lists.
 */
function ownScripts({ serviceUrl, tagAttributes: { scriptHosts = '' } }: Page): (url: string) => boolean {
  const named = [new URL(serviceUrl).hostname, ...scriptHosts.split(' ')]
  return (url) => siteOf(url) === siteOf(location.href) || named.includes(new URL(url).hostname)
}

/**
 * The command that contains the event's target, or that belongs to its button: the one in the smallest block around the
 * button. Others of the page may match the button's selector, too.
 */
function commandNear(page: Page, target: EventTarget | null): HTMLElement | null {
  if (!(target instanceof Element)) return null
  const near = native(target)
  const marked = near.closest<HTMLElement>(commandElements(page))
  const button = near.closest<HTMLElement>(buttonsOf(page))
  if (marked || !button) return marked
  const selector = native(button).dataset['whenceCopy'] || commandElements(page)
  const block = native(button).closest(`:has(${selector})`)
  return block && native(block).querySelector(selector)
}

/**
 * The page's own click handler runs first and is left alone; this write follows and replaces what it copied. Without a
 * token that is the plain command again.
 */
function copyForButton(page: Page, { target }: Event, { filled, tell }: Copying): void {
  const button = target instanceof Element && native(target).closest(buttonsOf(page))
  const element = button && commandNear(page, button)
  // A visitor must have seen what a button copies.
  if (!element || native(element).checkVisibility?.({ opacityProperty: true }) === false) return
  const text = filled(element)
  tell(element)
  setTimeout(async () => {
    if (!(await writeClipboard(text))) return
    const detail: CopyDetail = { filled: text.includes('wht_') }
    native(button).dispatchEvent(new CustomEvent('whence:copy', { bubbles: true, detail }))
  })
}

async function writeClipboard(text: string): Promise<boolean | undefined> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Frames without the permission, and insecure pages, have only the old API.
    return safely(() => {
      const area = nativeDocument.createElement('textarea')
      area.value = text
      nativeDocument.body.append(area)
      area.select()
      const isCopied = nativeDocument.execCommand('copy')
      area.remove()
      return isCopied
    })
  }
}

/**
 * Replaces the command by the filled one if the selection contains a whole marked command, or if a text field or
 * another script's copy event contains nothing else.
 */
function refillCopy(page: Page, event: ClipboardEvent, copying: Copying): void {
  const { clipboardData, defaultPrevented } = event
  const copied = defaultPrevented ? clipboardData?.getData('text/plain') : selectedText(event.target)
  if (!clipboardData || !copied) return
  // The page's own code has filled it.
  if (copied.includes('wht_')) return copying.tell()
  const text = refilled(page, copied, copying)
  if (text === copied) return
  clipboardData.setData('text/plain', text)
  event.preventDefault()
}

function refilled(page: Page, copied: string, { filled, tell }: Copying): string {
  let text = copied
  for (const element of nativeDocument.querySelectorAll<HTMLElement>(commandElements(page))) {
    const shown = shownText(element)
    // Elsewhere on the page the same words are prose, unless nothing else is copied.
    const isMeant = copied.trim() === shown || getSelection()?.containsNode(element, true)
    if (!shown || !isMeant || !text.includes(shown)) continue
    // A function, because a command may contain what `replace` treats as a pattern.
    text = text.replace(shown, () => filled(element))
    tell(element)
  }
  return text
}

function selectedText(target: EventTarget | null): string {
  if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) {
    return target.value.slice(target.selectionStart ?? 0, target.selectionEnd ?? 0)
  }
  return getSelection()?.toString() ?? ''
}

/** A listener that cannot throw into the page, whose own behaviour stays. */
const safeListener = (listener: (event: Event) => void) => (event: Event) => safely(() => listener(event))
