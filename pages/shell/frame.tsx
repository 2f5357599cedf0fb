/** The frame around every page: the name, the organisation, the navigation, and a skip link for keyboards. */

import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, useState, type ReactNode } from 'react'

import { AccountMenu } from './account-menu.tsx'
import { KeyboardHelp, useKeys } from './keyboard.tsx'
import { NAVIGATION, type PageGroup } from './navigation.ts'
import { OrganizationChoice, useOrganization } from './organization.tsx'

export function Frame(): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  const organization = useOrganization()
  const main = useRef<HTMLElement>(null)
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  useEffect(() => {
    setIsOpen(false)
    // A screen reader then announces the new page.
    main.current?.querySelector<HTMLElement>('h1')?.focus()
  }, [path])
  const help = useKeys(organization?.id ?? null)
  return (
    <div className="frame" data-open={isOpen || undefined}>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="bar">
        {organization !== null && (
          <button
            type="button"
            className="burger"
            aria-expanded={isOpen}
            aria-controls="navigation"
            aria-label="Navigation"
            onClick={() => setIsOpen(!isOpen)}
          />
        )}
        <Link to="/" className="brand">
          Whence
        </Link>
        <OrganizationChoice />
        <span className="spring" />
        <AccountMenu />
      </header>
      <nav id="navigation" aria-label="Pages">
        {organization !== null &&
          NAVIGATION.map((group) => <Group key={group.title} group={group} organization={organization.id} />)}
      </nav>
      <main id="main" ref={main} tabIndex={-1}>
        <Outlet />
      </main>
      <KeyboardHelp isOpen={help.isOpen} onClose={help.close} />
    </div>
  )
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
