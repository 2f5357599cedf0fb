/** Who is signed in, light or dark, and the way out. */

import { Menu, useMantineColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { ask } from '../data/ask.ts'
import { meQuery } from '../data/queries.ts'

const SCHEMES = [
  { value: 'auto', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const

export function AccountMenu(): ReactNode {
  const { data } = useQuery(meQuery)
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  if (data === undefined) return null
  return (
    <Menu position="bottom-end" width={240} withinPortal>
      <Menu.Target>
        <button type="button" className="account" aria-label={`Account of ${data.email}`}>
          {data.email.slice(0, 1).toUpperCase()}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label translate="no">{data.email}</Menu.Label>
        <Menu.Divider />
        <Menu.Label>Colours</Menu.Label>
        {SCHEMES.map(({ value, label }) => (
          <Menu.Item
            key={value}
            role="menuitemradio"
            aria-checked={colorScheme === value}
            rightSection={colorScheme === value ? '✓' : null}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Ends sessions and goes to the sign-in page: what is on the screen belongs to the person who leaves. */
export async function signOut(everywhere = false): Promise<void> {
  await ask('/api/sign-out', { method: 'POST', body: { everywhere } })
  location.assign('/sign-in')
}
