/** Where figures of the overview lead: to lists and other pages of their organisation, or nowhere, for whoever was sent a link. */

import { createContext, useContext } from 'react'

/** ID of the organisation; null: values are no links, and no other page is offered. */
export const LeadingOn = createContext<string | null>(null)

export function useLeadingOn(): string | null {
  return useContext(LeadingOn)
}
