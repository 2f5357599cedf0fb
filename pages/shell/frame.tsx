/** The frame around every page: the name, the organisation, the navigation, and a skip link for keyboards. */

import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react'

import { BRAND } from '../parts/states.tsx'
import { AccountMenu } from './account-menu.tsx'
import { JumpDialog } from './jump.tsx'
import { KeyboardHelp, useKeys } from './keyboard.tsx'
import { MARK } from './mark.ts'
import { NAVIGATION, type PageGroup } from './navigation.ts'
import { OrganizationChoice, useOrganization } from './organization.tsx'

/** What a link shows stands by itself: whoever follows one has no organisation, and need not be signed in. */
export function Surroundings(): ReactNode {
  const isShared = useRouterState({ select: ({ location }) => location.pathname.startsWith('/share/') })
  return isShared ? <Outlet /> : <Frame />
}

function Frame(): ReactNode {
  const menu = usePhoneMenu()
  const organization = useOrganization()
  const main = useRef<HTMLElement>(null)
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  const { close } = menu
  useEffect(() => {
    close()
    // A screen reader then announces the new page. A dialog that somebody has opened meanwhile keeps the focus.
    if (document.querySelector('[aria-modal="true"]') === null) main.current?.querySelector<HTMLElement>('h1')?.focus()
  }, [path, close])
  const help = useKeys(organization?.id ?? null)
  return (
    <div className="frame" data-open={menu.isOpen || undefined}>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="bar">
        {organization !== null && (
          <button
            type="button"
            ref={menu.button}
            className="burger"
            aria-expanded={menu.isOpen}
            aria-controls="navigation"
            aria-label="Navigation"
            onClick={menu.toggle}
          />
        )}
        <Link to="/" className="brand" translate="no">
          <img className="logo" src={MARK} alt="" />
          {BRAND}
        </Link>
        <OrganizationChoice />
        <span className="spring" />
        {organization !== null && <JumpDialog organization={organization.id} />}
        <AccountMenu />
      </header>
      <nav id="navigation" aria-label="Pages" onClick={close}>
        {organization !== null &&
          NAVIGATION.map((group) => <Group key={group.title} group={group} organization={organization.id} />)}
      </nav>
      {/* The menu covers the page: nothing below it takes the focus unseen. */}
      <main id="main" ref={main} tabIndex={-1} onFocus={close}>
        <Outlet />
      </main>
      <KeyboardHelp isOpen={help.isOpen} onClose={help.close} />
    </div>
  )
}

/** On a narrow screen a button opens the navigation; Escape closes it and leaves the focus on the button. */
function usePhoneMenu() {
  const [isOpen, setIsOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const close = useCallback(() => setIsOpen(false), [])
  useEffect(() => {
    if (!isOpen) return undefined
    const pressed = ({ key }: KeyboardEvent): void => {
      if (key !== 'Escape') return
      close()
      button.current?.focus()
    }
    document.addEventListener('keydown', pressed)
    return () => document.removeEventListener('keydown', pressed)
  }, [isOpen, close])
  return { isOpen, close, button, toggle: () => setIsOpen(!isOpen) }
}

function Group({ group, organization }: { readonly group: PageGroup; readonly organization: string }): ReactNode {
  return (
    <section>
      <h2>{group.title}</h2>
      <ul>
        {group.pages.map(({ to, title }) => (
          <li key={to}>
            <Link to={to} params={{ organization }} activeProps={{ 'aria-current': 'page' }}>
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
