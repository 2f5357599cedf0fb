/** Puts what a link carries on it while the visitor uses it, and takes it off again. */

import { documentValue } from '../core/document-value.ts'
import { native } from '../core/native.ts'
import { safely } from '../core/page.ts'
import { CARRIED_NAME } from './carried-form.ts'

interface LinkParts {
  /** The address with what it carries; undefined for one that carries nothing. */
  readonly carriedTo: (address: string) => string | undefined
  /** Called when a link elsewhere is likely to be used. */
  readonly prepare: () => void
}

/** Longest time that a link shows another address than the page gave it. */
const CARRYING_MS = 1_000
/** All that lead to a new page, or to a menu that copies the address. */
const USES = ['pointerdown', 'auxclick', 'keydown', 'contextmenu', 'click']

/** Starts to listen; called once per page. Before the page's own listeners, since some of them read the address. */
export function attendLinks({ carriedTo, prepare }: LinkParts): void {
  const carrying = new Map<Element, () => void>()
  const put = (element: Element, attribute: 'href' | 'action', carried: string | undefined) => {
    if (carrying.has(element) || carried === undefined) return
    const own = native(element)
    const before = own.getAttribute(attribute) ?? ''
    own.setAttribute(attribute, carried)
    const takeOff = () => {
      clearTimeout(timer)
      carrying.delete(element)
      // The page may have changed it meanwhile.
      if (own.getAttribute(attribute) === carried) own.setAttribute(attribute, before)
    }
    const timer = setTimeout(takeOff, CARRYING_MS)
    carrying.set(element, takeOff)
  }
  /** The browser follows a link or form before it runs another task. */
  const takeOffSoon = (element: Element) => setTimeout(() => carrying.get(element)?.())

  const onUse = (event: Event) =>
    safely(() => {
      const link = usedLink(event)
      if (!link) return
      put(link, 'href', carriedTo(native(link).href))
      if (/click$/.test(event.type)) takeOffSoon(link)
    })
  for (const type of USES) addEventListener(type, onUse, true)
  const onIntent = (event: Event) =>
    safely(() => {
      const link = usedLink(event)
      if (link && isElsewhere(native(link).href)) prepare()
    })
  for (const type of ['pointerover', 'focusin']) addEventListener(type, onIntent, true)
  addEventListener(
    'submit',
    (event) =>
      safely(() => {
        const form = submittedForm(event)
        if (!form) return
        const carried = carriedTo(native(form).action)
        // The query is that of the form's fields, or of whoever takes what is posted.
        if (carried?.includes(`#${CARRIED_NAME}=`)) put(form, 'action', carried)
        takeOffSoon(form)
      }),
    true,
  )
}

/** Whether a link or form of the page leads to another origin. */
export function leadsElsewhere(): boolean {
  const root = documentValue('documentElement')
  const links = [...root.querySelectorAll<HTMLAnchorElement>('a[href]')]
  const forms = [...root.querySelectorAll<HTMLFormElement>('form[action]')]
  return links.some(({ href }) => isElsewhere(href)) || forms.some((form) => isElsewhere(native(form).action))
}

const isElsewhere = (address: string) => /^http/.test(address) && !`${address}/`.startsWith(`${location.origin}/`)

/** The link that the event is about, also within a component's own tree. Not one that downloads. */
function usedLink(event: Event): HTMLAnchorElement | HTMLAreaElement | undefined {
  if (event instanceof KeyboardEvent && event.key !== 'Enter') return undefined
  const isLink = (target: EventTarget): target is HTMLAnchorElement | HTMLAreaElement =>
    target instanceof HTMLAnchorElement || target instanceof HTMLAreaElement
  const link = event.composedPath().find(isLink)
  return link && link.hasAttribute('href') && !link.hasAttribute('download') ? link : undefined
}

/** A form that opens an address, by its own action. A dialog's form opens none. */
function submittedForm({ target, submitter }: SubmitEvent): HTMLFormElement | undefined {
  if (!(target instanceof HTMLFormElement) || native(target).method === 'dialog') return undefined
  return native(target).hasAttribute('action') && !submitter?.hasAttribute('formaction') ? target : undefined
}
