/** The install command that the pages of these tests show, and what it becomes. */

export const COMMAND = 'curl -fsSL https://acme.dev/install.sh | sh'
export const FILLED = /^curl -fsSL https:\/\/acme\.dev\/install\.sh \| env WHENCE_HANDOFF=wht_[\w-]{43} sh$/
export const INSTALL = `<pre id="install" data-whence-command>${COMMAND}</pre><button data-whence-copy="#install">Copy</button>`
