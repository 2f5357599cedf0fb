/** React hooks for `whence-js`. They render the same on a server and in strict mode. */

import type { FocusEventHandler, MouseEventHandler, PointerEventHandler } from 'react'
import { useCallback, useEffect, useState } from 'react'
import type { Whence } from '../whence.d.ts'
import type { StartOptions } from './index.ts'
import { INERT, start, started, whenStarted } from './index.ts'

/**
 * Starts the SDK once the component is on the page, and again only for another website or service. Use it in one place,
 * around or above the commands. Until then, and on a server, the interface it returns leaves every command as it is.
 */
export function useWhence(options: StartOptions): Whence {
  const [whence, setWhence] = useState(INERT)
  const { project, service } = options
  useEffect(() => setWhence(start(options)), [project, service])
  return whence
}

export interface InstallCommand {
  /** The plain command, to show. */
  readonly command: string
  /** True from a copy until another command is shown. */
  readonly isCopied: boolean
  /** Copies the command, with a token if one is loaded. Resolves to false if the browser does not allow copying. */
  readonly copy: () => Promise<boolean>
  /** Props for the copy button: requests the token at the latest when pointer or focus comes near, and copies on a click. */
  readonly buttonProps: {
    readonly onClick: MouseEventHandler
    readonly onPointerEnter: PointerEventHandler
    readonly onFocus: FocusEventHandler
  }
}

/** An install command with a copy button that works with and without the service. Its token is requested once the component is there. */
export function useInstallCommand(command: string): InstallCommand {
  const [copied, setCopied] = useState<string | null>(null)
  // In advance: the first tap must copy the token. The SDK may start after this component is there.
  useEffect(() => whenStarted((whence) => whence.prepare()), [])
  const prepare = useCallback(() => void started().handoff(), [])
  const copy = useCallback(async () => {
    const text = started().fill(command)
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      return false
    }
    started().copied()
    setCopied(command)
    return true
  }, [command])
  return {
    command,
    isCopied: copied === command,
    copy,
    buttonProps: { onClick: () => void copy(), onPointerEnter: prepare, onFocus: prepare },
  }
}
